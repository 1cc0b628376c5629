// After pkg/kubelet/network/dns/dns_test.go, kubelet_pods_test.go and kuberuntime/helpers_test.go, v1.36.3. The hashes are those that
// the kubelet's own code gives.

import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import { type DNSSettings, parseResolvConf, podDNS } from '../../../../src/kubelet/containers/dns-config.ts';
import { kernelHostname, managedHosts, nodeHosts, podHostname } from '../../../../src/kubelet/containers/pod-hosts.ts';
import {
  containerAnnotations,
  containerHash,
  containerLogPath,
  podLogDirectory,
  portMappings,
  sandboxLabels,
} from '../../../../src/kubelet/containers/runtime-names.ts';
import { shopPod } from './shop-pod.ts';

type Spec = Partial<NonNullable<Pod['spec']>>;

describe('containerHash', () => {
  it.each([
    ['web', 'nginx:1', '855627a5'],
    ['a<b>&\u2028ü', '', 'af00cf50'],
  ])('%s from %s is %s', (name, image, expected) => {
    expect(containerHash({ name, image })).toBe(expected);
  });

  it('changes with name and image, and with nothing else', () => {
    const hash = (container: Container) => containerHash(container);
    expect(hash({ name: 'web', image: 'nginx:2' })).not.toBe('855627a5');
    expect(hash({ name: 'web', image: 'nginx:1', command: ['x'], resources: { limits: { cpu: '1' } } })).toBe('855627a5');
    expect(hash({ name: 'web' })).toBe(hash({ name: 'web', image: '' }));
  });
});

describe('podDNS', () => {
  const host = { servers: ['10.9.9.9'], searches: ['corp.example', 'cluster.local'], options: ['timeout:2', 'edns0'] };
  const settings: DNSSettings = { clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.local', host, nodeIPs: ['192.168.0.1'] };
  const clusterSearches = ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'];
  const cluster = { servers: ['10.96.0.10'], searches: clusterSearches, options: ['ndots:5'] };

  it.each<[Spec, object]>([
    [{}, cluster],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, host],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    [{ dnsPolicy: 'Default' }, host],
    [
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'] } },
      { servers: ['1.1.1.1'], searches: [], options: [] },
    ],
    [
      {
        dnsConfig: {
          nameservers: ['10.96.0.10', '1.1.1.1'],
          searches: ['x'],
          options: [{ name: 'ndots', value: '2' }, { name: 'debug' }],
        },
      },
      { servers: ['10.96.0.10', '1.1.1.1'], searches: [...clusterSearches, 'x'], options: ['ndots:2', 'debug'] },
    ],
  ])('of %j', (spec, expected) => {
    expect(podDNS(shopPod(spec), settings)).toEqual({ config: expected, warnings: [] });
  });

  it('falls back on the node without name servers of the cluster, and says so', () => {
    const { config, warnings } = podDNS(shopPod(), { ...settings, clusterDNS: [] });
    expect(config).toEqual(host);
    expect(warnings).toEqual([
      { reason: 'MissingClusterDNS', message: expect.stringContaining('pod: "web_shop(u-1)". kubelet does not have') },
    ]);
  });

  it('resolves nothing but by the node itself where the node has no file', () => {
    const none = { ...settings, host: undefined, clusterDNS: [] };
    expect(podDNS(shopPod({ dnsPolicy: 'Default' }), { ...none, nodeIPs: [] }).config).toEqual({
      servers: ['127.0.0.1'],
      searches: ['.'],
      options: [],
    });
    expect(podDNS(shopPod({ dnsPolicy: 'Default' }), { ...none, nodeIPs: ['fd00::1', '10.0.0.1'] }).config.servers).toEqual([
      '::1',
      '127.0.0.1',
    ]);
  });

  it.each<[string, string[], string[]]>([
    ['33 domains', Array.from({ length: 33 }, (_, index) => `d${index}`), Array.from({ length: 32 }, (_, index) => `d${index}`)],
    ['a domain of 254 characters', ['a', 'b'.repeat(254), 'c'], ['a', 'c']],
    [
      'a line of more than 2048 characters',
      Array.from({ length: 10 }, (_, index) => `${index}`.repeat(250)),
      Array.from({ length: 8 }, (_, index) => `${index}`.repeat(250)),
    ],
  ])('leaves out what resolvers do not take: %s', (_what, searches, kept) => {
    const { config, warnings } = podDNS(shopPod({ dnsPolicy: 'None', dnsConfig: { searches } }), settings);
    expect(config.searches).toEqual(kept);
    expect(warnings).toEqual([
      { reason: 'DNSConfigForming', message: expect.stringContaining('Search Line limits were exceeded') },
    ]);
  });
});

describe('parseResolvConf', () => {
  it('adds up name servers, and takes the last of search lines and of options with one name', () => {
    const text =
      '# note\nnameserver 1.1.1.1\n  nameserver\t2.2.2.2 # x\nsearch a b.\nsearch c. . d\noptions ndots:1 x\noptions ndots:3\n;other\n';
    expect(parseResolvConf(text)).toEqual({ servers: ['1.1.1.1', '2.2.2.2'], searches: ['c', 'd'], options: ['ndots:3', 'x'] });
    expect(parseResolvConf('')).toEqual({ servers: [], searches: [], options: [] });
    expect(() => parseResolvConf('nameserver\n')).toThrow('nameserver list is empty');
  });
});

describe('podHostname', () => {
  it.each<[Spec, { hostname: string; domain: string }]>([
    [{}, { hostname: 'web', domain: '' }],
    [{ hostname: 'box' }, { hostname: 'box', domain: '' }],
    [{ subdomain: 'boxes' }, { hostname: 'web', domain: 'boxes.shop.svc.cluster.local' }],
    [
      { hostnameOverride: 'a.b', subdomain: 'boxes', hostname: 'box' },
      { hostname: 'a.b', domain: '' },
    ],
  ])('of %j is %j', (spec, expected) => {
    expect(podHostname(shopPod(spec), 'cluster.local')).toEqual(expected);
  });

  it('is cut to what the kernel takes', () => {
    expect(podHostname(shopPod({}, { name: `${'a'.repeat(62)}-b` }), '').hostname).toBe('a'.repeat(62));
    expect(podHostname(shopPod({}, { name: 'a'.repeat(64) }), '').hostname).toBe('a'.repeat(63));
  });

  it.each<[Spec, string]>([
    [{ hostname: 'A' }, 'pod Hostname "A" is not a valid DNS label'],
    [{ subdomain: 'a.b' }, 'pod Subdomain "a.b" is not a valid DNS label'],
    [{ hostnameOverride: 'a_b' }, 'pod HostnameOverride "a_b" is not a valid DNS subdomain'],
  ])('refuses %j', (spec, message) => {
    expect(() => podHostname(shopPod(spec), '')).toThrow(message);
  });

  it('has its domain in the kernel only where the pod wants that', () => {
    const name = { hostname: 'box', domain: 'd.x' };
    expect(kernelHostname(shopPod({ setHostnameAsFQDN: true }), name)).toBe('box.d.x');
    expect(kernelHostname(shopPod(), name)).toBe('box');
    expect(kernelHostname(shopPod({ setHostnameAsFQDN: true }), { hostname: 'box', domain: '' })).toBe('box');
    const long = { hostname: 'a'.repeat(60), domain: 'abc' };
    expect(kernelHostname(shopPod({ setHostnameAsFQDN: true }), long)).toHaveLength(64);
    expect(() => kernelHostname(shopPod({ setHostnameAsFQDN: true }), { ...long, domain: 'abcd' })).toThrow(
      '65 characters requested',
    );
  });
});

describe('hosts files', () => {
  const start =
    '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n';
  const aliases: Spec = { hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }, { ip: '5.6.7.8' }] };

  it('name the pod under each of its addresses, and its aliases', () => {
    const name = { hostname: 'box', domain: '' };
    expect(managedHosts(shopPod(), ['10.0.0.7', 'fd00::7'], name)).toBe(`${start}10.0.0.7\tbox\nfd00::7\tbox\n`);
    expect(managedHosts(shopPod(aliases), ['10.0.0.7'], { ...name, domain: 'd.x' })).toBe(
      `${start}10.0.0.7\tbox.d.x\tbox\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n5.6.7.8\t\n`,
    );
  });

  it('keep what the node says', () => {
    expect(nodeHosts(shopPod(), '1.1.1.1 one\n')).toBe('# Kubernetes-managed hosts file (host network).\n1.1.1.1 one\n');
  });
});

describe('portMappings', () => {
  it('has each port of each regular container once', () => {
    const ports: Container['ports'] = [
      { containerPort: 80, hostPort: 8080, protocol: 'TCP' },
      { containerPort: 80, hostPort: 8080, protocol: 'TCP' },
      { containerPort: 80, hostPort: 8080, protocol: 'TCP', hostIP: '::1' },
      { name: 'a', containerPort: 1, protocol: 'UDP' },
      { name: 'a', containerPort: 2, protocol: 'SCTP' },
    ];
    const spec = {
      containers: [
        { name: 'x', ports },
        { name: 'y', ports: [{ containerPort: 3 }] },
      ],
      initContainers: [{ name: 'i', ports }],
    };
    expect(portMappings(shopPod(spec))).toEqual([
      { protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIP: '' },
      { protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIP: '::1' },
      { protocol: 'UDP', containerPort: 1, hostPort: 0, hostIP: '' },
      { protocol: 'TCP', containerPort: 3, hostPort: 0, hostIP: '' },
    ]);
  });
});

describe('names for the runtime', () => {
  it('cannot be taken by labels of the pod', () => {
    const pod = shopPod({}, { labels: { a: 'b', 'io.kubernetes.pod.uid': 'stolen' } });
    expect(sandboxLabels(pod)).toMatchObject({ a: 'b', 'io.kubernetes.pod.uid': 'u-1' });
  });

  it('keep how the container ends', () => {
    const pod = shopPod({ terminationGracePeriodSeconds: 0 }, { deletionGracePeriodSeconds: 7 });
    const ports = [{ containerPort: 80, protocol: 'TCP' }];
    expect(containerAnnotations(pod, { name: 'web', image: 'nginx:1', ports }, 2)).toEqual({
      'io.kubernetes.container.hash': '855627a5',
      'io.kubernetes.container.restartCount': '2',
      'io.kubernetes.container.terminationMessagePath': '',
      'io.kubernetes.container.terminationMessagePolicy': '',
      'io.kubernetes.container.ports': '[{"containerPort":80,"protocol":"TCP"}]',
      'io.kubernetes.pod.deletionGracePeriod': '7',
      'io.kubernetes.pod.terminationGracePeriod': '0',
    });
  });

  it('say where logs are', () => {
    expect(podLogDirectory('/var/log/pods', shopPod())).toBe('/var/log/pods/shop_web_u-1');
    expect(containerLogPath('app', 3)).toBe('app/3.log');
  });
});
