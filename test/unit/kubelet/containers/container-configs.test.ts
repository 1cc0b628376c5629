import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { Container } from '../../../../src/api/pod/pod-containers.ts';
import { StatusManagerError } from '../../../../src/base/errors.ts';
import { checkedNodeLimits } from '../../../../src/kubelet/cgroups/cgroup-resources.ts';
import { type ContainerConfigSource, ContainerConfigs } from '../../../../src/kubelet/containers/container-configs.ts';
import type { ContainerConfigsOptions } from '../../../../src/kubelet/containers/container-configs-options.ts';
import { defaultProcPaths } from '../../../../src/kubelet/containers/security-context.ts';
import type { MountedVolume } from '../../../../src/kubelet/volumes/pod-folder.ts';
import type { Service } from '../../../../src/node/environment/service-environment.ts';
import { FakeCgroups } from '../../../../src/testing/fakes/fake-cgroups.ts';
import { shopPod } from './shop-pod.ts';

let folder: string;
const { signal } = new AbortController();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'configs-'));
  await writeFile(join(folder, 'resolv.conf'), 'nameserver 10.9.9.9\nsearch corp.example\noptions timeout:2\n');
  await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost\n');
});
afterEach(() => rm(folder, { recursive: true }));

const notFound = () => Promise.reject(new StatusManagerError('ERR_NOT_FOUND', 'not found'));
const kubernetes: Service = {
  metadata: { name: 'kubernetes', namespace: 'default' },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
};

function configsWith(options: Partial<ContainerConfigsOptions> = {}): ContainerConfigs {
  return new ContainerConfigs({
    rootDirectory: join(folder, 'root'),
    podLogsDirectory: join(folder, 'logs'),
    resolvConf: join(folder, 'resolv.conf'),
    hostsFile: join(folder, 'hosts'),
    objects: { getSecret: notFound, getConfigMap: notFound },
    cgroups: new FakeCgroups(),
    limits: checkedNodeLimits({}, 4 * 1024 ** 3),
    services: () => [kubernetes],
    awaitServices: async () => {},
    nodeAllocatable: () => ({}),
    ...{ idsOf: async () => undefined, claimedDevicesOf: undefined },
    nodeIPs: () => ['192.168.0.1'],
    hostIPs: () => ['192.168.0.1'],
    seccompDefault: false,
    seccompProfileRoot: join(folder, 'seccomp'),
    procPaths: defaultProcPaths(),
    recursiveReadOnly: () => false,
    prepareSubPath: () => Promise.reject(new Error('no sub paths')),
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    selinux: true,
    random: () => 0.5,
    eventRecorder: { event: () => {} },
    ...options,
  });
}

function requestWith(pod: Pod, container: Container, more: Partial<ContainerConfigSource> = {}): ContainerConfigSource {
  return {
    ...{ pod, container, attempt: 0, imageRef: 'sha256:1', runtimeHandler: '', volumes: new Map(), podIPs: ['10.0.0.7'] },
    image: { username: '' },
    ...more,
  };
}

describe('sandboxConfig', () => {
  it('makes all that the runtime gets of a pod', async () => {
    const pod = shopPod(
      {
        containers: [{ name: 'app', image: 'i', ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] }],
        hostname: 'box',
        subdomain: 'boxes',
        setHostnameAsFQDN: true,
        securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '80' }], fsGroup: 7 },
        overhead: { cpu: '250m', memory: '64Mi' },
      },
      { labels: { app: 'web' }, annotations: { note: 'x' } },
    );
    const config = await configsWith().sandboxConfig({ pod, attempt: 2, runtimeHandler: '' }, signal);
    expect(config).toEqual({
      metadata: { name: 'web', namespace: 'shop', uid: 'u-1', attempt: 2 },
      hostname: 'box.boxes.shop.svc.cluster.local',
      logDirectory: join(folder, 'logs/shop_web_u-1'),
      dnsConfig: {
        servers: ['10.96.0.10'],
        searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'],
        options: ['ndots:5'],
      },
      portMappings: [{ protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIP: '' }],
      labels: {
        app: 'web',
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'shop',
        'io.kubernetes.pod.uid': 'u-1',
      },
      annotations: { note: 'x' },
      linux: {
        cgroupParent: '/kubepods/besteffort/podu-1',
        securityContext: {
          namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
          supplementalGroups: [7],
          privileged: false,
          seccomp: { type: 'RuntimeDefault' },
        },
        sysctls: { 'net.ipv4.ip_unprivileged_port_start': '80' },
        overhead: { cpuShares: 256, memoryLimitInBytes: 64 * 1024 ** 2, cpuQuota: 25_000, cpuPeriod: 100_000 },
        resources: { cpuShares: 2, cpuQuota: 0, cpuPeriod: 100_000 },
      },
    });
    expect((await stat(join(folder, 'logs/shop_web_u-1'))).isDirectory()).toBe(true);
  });

  it('leaves the host name to the node in its network, and its namespaces too', async () => {
    const pod = shopPod({ hostNetwork: true, hostPID: true, hostIPC: true });
    const { hostname, linux, dnsConfig } = await configsWith().sandboxConfig({ pod, attempt: 0, runtimeHandler: '' }, signal);
    expect(hostname).toBe('');
    expect(linux.securityContext.namespaces).toEqual({ network: 'node', pid: 'node', ipc: 'node' });
    expect(dnsConfig).toEqual({ servers: ['10.9.9.9'], searches: ['corp.example'], options: ['timeout:2'] });
  });

  it('tells of names that it had to leave out', async () => {
    const events: unknown[] = [];
    const nameservers = ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'];
    const pod = shopPod({ dnsPolicy: 'None', dnsConfig: { nameservers } });
    const configs = configsWith({ eventRecorder: { event: (_pod, ...said) => events.push(said) } });
    const { dnsConfig } = await configs.sandboxConfig({ pod, attempt: 0, runtimeHandler: '' }, signal);
    expect(dnsConfig?.servers).toEqual(nameservers.slice(0, 3));
    expect(events).toEqual([['Warning', 'DNSConfigForming', expect.stringContaining('1.1.1.1 2.2.2.2 3.3.3.3')]]);
  });

  it('refuses names that Linux does not take', async () => {
    const pod = shopPod({ subdomain: 'b'.repeat(63), setHostnameAsFQDN: true });
    await expect(configsWith().sandboxConfig({ pod, attempt: 0, runtimeHandler: '' }, signal)).rejects.toThrow(
      '64 characters is the max',
    );
  });

  it.each<[Partial<NonNullable<Pod['spec']>>, Pod['metadata'], string]>([
    [{ hostUsers: false, hostNetwork: true }, {}, 'hostUsers: false cannot have hostNetwork: true'],
    [{ hostUsers: false, hostPID: true }, {}, 'hostUsers: false cannot have hostPID: true'],
    [{ hostUsers: false, hostIPC: true }, {}, 'hostUsers: false cannot have hostIPC: true'],
    [{ resourceClaims: [{ name: 'gpu' }] }, {}, 'speaks with no plugins'],
    [{}, { namespace: '../x' }, 'namespace is no name of a folder'],
    [{}, { uid: '' }, 'uid is no name of a folder'],
  ])('refuses what it cannot do: %j %j', async (spec, metadata, message) => {
    await expect(
      configsWith().sandboxConfig({ pod: shopPod(spec, metadata), attempt: 0, runtimeHandler: '' }, signal),
    ).rejects.toThrow(message);
    const request = requestWith(shopPod(spec, metadata), { name: 'app' });
    await expect(configsWith().containerConfig(request, signal)).rejects.toThrow(message);
  });

  it('gives a pod and all that its containers see the ids of its own user namespace', async () => {
    const users = { hostID: 131_072, containerID: 0, length: 65_536 };
    const asked: string[] = [];
    const configs = configsWith({
      idsOf: async (pod, handler) => {
        asked.push(`${pod.metadata?.uid} ${handler}`);
        return users;
      },
    });
    const pod = shopPod({ hostUsers: false });
    const { linux } = await configs.sandboxConfig({ pod, attempt: 0, runtimeHandler: 'kata' }, signal);
    expect(linux.securityContext.namespaces).toEqual({ users, network: 'pod', pid: 'container', ipc: 'pod' });
    const request = requestWith(pod, { name: 'app' }, { runtimeHandler: 'kata', targetContainerID: 'c0' });
    const config = await configs.containerConfig(request, signal);
    expect(config.securityContext.namespaces).toMatchObject({ users, pid: 'target', targetID: 'c0' });
    expect(config.mounts.length).toBeGreaterThan(0);
    expect(config.mounts.map((mount) => mount.users)).toEqual(config.mounts.map(() => users));
    expect(asked).toEqual([`${pod.metadata?.uid} kata`, `${pod.metadata?.uid} kata`]);
  });

  it('gives up at once when it is not wanted any more', async () => {
    const reason = new Error('not wanted');
    await expect(
      configsWith().sandboxConfig({ pod: shopPod(), attempt: 0, runtimeHandler: '' }, AbortSignal.abort(reason)),
    ).rejects.toBe(reason);
  });
});

describe('containerConfig', () => {
  it('shows the addresses that the node has, and orders those of the pod by the one that it was given', async () => {
    const field = (fieldPath: string) => ({ name: fieldPath, valueFrom: { fieldRef: { fieldPath } } });
    const container = { name: 'app', env: [field('status.hostIP'), field('status.podIPs')] };
    const configs = configsWith({ nodeIPs: () => ['::'], hostIPs: () => ['192.168.0.1'] });
    const podIPs = ['10.0.0.7', 'fd00::7'];
    const { envs } = await configs.containerConfig(requestWith(shopPod(), container, { podIPs }), signal);
    expect(envs).toEqual(
      expect.arrayContaining([
        { key: 'status.hostIP', value: '192.168.0.1' },
        { key: 'status.podIPs', value: 'fd00::7,10.0.0.7' },
      ]),
    );
  });

  it('makes all that the runtime gets of a container', async () => {
    const container: Container = {
      name: 'app',
      image: 'nginx:1',
      command: ['run', '$(MODE)', '$$(MODE)', '$(NONE)'],
      args: ['--host=$(KUBERNETES_SERVICE_HOST)'],
      env: [{ name: 'MODE', value: 'fast' }],
      workingDir: '/srv',
      stdin: true,
      resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '200m', memory: '2Gi' } },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      lifecycle: { preStop: { sleep: { seconds: 1 } }, stopSignal: 'SIGUSR1' },
      volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
    };
    const volume: MountedVolume = { name: 'data', type: 'emptyDir', hostPath: '/v/data', readonly: false, selinuxRelabel: true };
    const pod = shopPod({ containers: [container], terminationGracePeriodSeconds: 30, enableServiceLinks: false });
    const request = requestWith(pod, container, { attempt: 3, volumes: new Map([['data', volume]]) });
    const config = await configsWith().containerConfig(request, signal);
    expect(config).toMatchObject({
      metadata: { name: 'app', attempt: 3 },
      image: { image: 'sha256:1', userSpecifiedImage: 'nginx:1' },
      command: ['run', 'fast', '$(MODE)', '$(NONE)'],
      args: ['--host=10.96.0.1'],
      workingDir: '/srv',
      stdin: true,
      stdinOnce: false,
      tty: false,
      stopSignal: 'SIGUSR1',
      logPath: 'app/3.log',
      devices: [],
      labels: { 'io.kubernetes.container.name': 'app', 'io.kubernetes.pod.uid': 'u-1' },
      annotations: {
        'io.kubernetes.container.hash': expect.stringMatching(/^[0-9a-f]{1,8}$/),
        'io.kubernetes.container.restartCount': '3',
        'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
        'io.kubernetes.container.terminationMessagePolicy': 'File',
        'io.kubernetes.container.preStopHandler': '{"sleep":{"seconds":1}}',
        'io.kubernetes.pod.terminationGracePeriod': '30',
      },
      // 1000 - 1000 * 1 GiB / 4 GiB
      resources: { cpuShares: 102, cpuQuota: 20_000, cpuPeriod: 100_000, memoryLimitInBytes: 2 * 1024 ** 3, oomScoreAdj: 750 },
    });
    expect(config.envs.slice(0, 2)).toEqual([
      { key: 'MODE', value: 'fast' },
      { key: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1' },
    ]);
    const podRoot = join(folder, 'root/pods/u-1');
    expect(config.mounts).toEqual([
      { containerPath: '/data', hostPath: '/v/data', readonly: true, selinuxRelabel: true, propagation: 'private' },
      {
        containerPath: '/etc/hosts',
        hostPath: join(podRoot, 'etc-hosts'),
        readonly: false,
        selinuxRelabel: true,
        propagation: 'private',
      },
      {
        containerPath: '/dev/termination-log',
        hostPath: join(podRoot, 'containers/app/80000000'),
        ...{ readonly: false, selinuxRelabel: true, propagation: 'private' },
      },
    ]);
    expect(await readFile(join(podRoot, 'etc-hosts'), 'utf8')).toContain('\n10.0.0.7\tweb\n');
    expect((await stat(join(podRoot, 'containers/app/80000000'))).mode & 0o777).toBe(0o666);
    expect((await stat(join(folder, 'logs/shop_web_u-1/app'))).isDirectory()).toBe(true);
  });

  it('shows a pod in the node network what the node knows', async () => {
    const pod = shopPod({ hostNetwork: true, hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] });
    await configsWith().containerConfig(requestWith(pod, { name: 'app' }), signal);
    expect(await readFile(join(folder, 'root/pods/u-1/etc-hosts'), 'utf8')).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n',
    );
  });

  it.each<[Container, string]>([
    [
      { name: 'app', volumeDevices: [{ name: 'block', devicePath: '/dev/x' }] },
      'cannot find volume "block" to pass into container "app"',
    ],
    [{ name: '../app' }, "the container's name is no name of a folder"],
    [{ name: 'app', securityContext: { runAsNonRoot: true } }, 'container has runAsNonRoot and image will run as root'],
  ])('refuses %j', async (container, message) => {
    await expect(configsWith().containerConfig(requestWith(shopPod(), container), signal)).rejects.toThrow(message);
  });

  it('leaves /etc/hosts to a container that has its own, and labels to a kernel with SELinux', async () => {
    const volume: MountedVolume = { name: 'v', type: 'hostPath', hostPath: '/v', readonly: false, selinuxRelabel: true };
    const container = { name: 'app', volumeMounts: [{ name: 'v', mountPath: '/etc/hosts' }] };
    const request = requestWith(shopPod(), container, { volumes: new Map([['v', volume]]) });
    const { mounts } = await configsWith({ selinux: false }).containerConfig(request, signal);
    expect(mounts).toEqual([expect.objectContaining({ containerPath: '/etc/hosts', hostPath: '/v', selinuxRelabel: false })]);
    expect((await configsWith().containerConfig(requestWith(shopPod(), { name: 'app' }, { podIPs: [] }), signal)).mounts).toEqual(
      [],
    );
  });

  it('gives addresses in the order of the node, one of each family', async () => {
    const env = [{ name: 'IPS', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }];
    const request = requestWith(shopPod(), { name: 'app', env }, { podIPs: ['fd00::7', '10.0.0.7', '10.0.0.8'] });
    const { envs } = await configsWith().containerConfig(request, signal);
    expect(envs[0]).toEqual({ key: 'IPS', value: '10.0.0.7,fd00::7' });
  });

  it('waits for the services, but not for a static pod', async () => {
    const configs = configsWith({ services: () => undefined });
    await expect(configs.containerConfig(requestWith(shopPod(), { name: 'app' }), signal)).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: 'services have not yet been read at least once, cannot construct envvars',
    });
    const pod = shopPod({}, { annotations: { 'kubernetes.io/config.source': 'file' } });
    expect((await configs.containerConfig(requestWith(pod, { name: 'app' }), signal)).envs).toEqual([]);
  });

  it('puts a debug container into the process namespace of its target', async () => {
    const request = requestWith(shopPod(), { name: 'debug' }, { targetContainerID: 'c-1' });
    const config = await configsWith().containerConfig(request, signal);
    expect(config.securityContext.namespaces).toEqual({ network: 'pod', pid: 'target', ipc: 'pod', targetID: 'c-1' });
    const shared = requestWith(shopPod({ shareProcessNamespace: true }), { name: 'debug' }, { targetContainerID: 'c-1' });
    expect((await configsWith().containerConfig(shared, signal)).securityContext.namespaces.pid).toBe('pod');
  });

  it('writes a path with its variables, and refuses one of which a variable is missing', async () => {
    const asked: unknown[] = [];
    const prepareSubPath: ContainerConfigsOptions['prepareSubPath'] = async (_pod, part) => {
      asked.push([part.subPath, part.index, part.readonly]);
      return '/prepared';
    };
    const volume: MountedVolume = { name: 'v', type: 'emptyDir', hostPath: '/v', readonly: false, selinuxRelabel: false };
    const mount = (subPathExpr: string): Container => ({
      name: 'app',
      env: [{ name: 'WHO', value: 'me' }],
      volumeMounts: [{ name: 'v', mountPath: '/d', subPathExpr }],
    });
    const run = (container: Container) =>
      configsWith({ prepareSubPath }).containerConfig(
        requestWith(shopPod(), container, { volumes: new Map([['v', volume]]) }),
        signal,
      );
    expect((await run(mount('$(WHO)/x'))).mounts[0]).toMatchObject({ hostPath: '/prepared', containerPath: '/d' });
    expect(asked).toEqual([['me/x', 0, false]]);
    await expect(run(mount('$(B)/$(A)'))).rejects.toThrow('missing value for A, B');
    await expect(run(mount('../$(WHO)'))).rejects.toThrow("unable to provision SubPath `../me`: must not contain '..'");
  });
});

describe('containers with long texts', () => {
  const env = [
    { name: 'A', value: 'x'.repeat(100_000) },
    { name: 'B', value: 'x'.repeat(100_000) },
    { name: 'C', value: 'x'.repeat(100_000) },
  ];

  it('are made two at a time, and keep none waiting that has short ones', async () => {
    const configs = configsWith();
    const made: string[] = [];
    const held = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const ended = held.map(async ({ promise }, index) => {
      await configs.containerConfig({ ...requestWith(shopPod(), { name: `large${index}`, env }), held: promise }, signal);
      made.push(`large${index}`);
    });
    await Promise.all(ended.slice(0, 2));
    await configs.containerConfig(requestWith(shopPod(), { name: 'small' }), signal);
    expect(made.sort()).toEqual(['large0', 'large1']);
    held[1]?.resolve();
    await ended[2];
    expect(made).toEqual(['large0', 'large1', 'large2']);
    held[0]?.resolve();
    await ended[3];
    for (const { resolve } of held) resolve();
  });

  it('give up their place in the queue when they are not wanted any more, and their turn when they cannot be made', async () => {
    const configs = configsWith();
    const held = Promise.withResolvers<void>();
    for (const name of ['a', 'b']) {
      await configs.containerConfig({ ...requestWith(shopPod(), { name, env }), held: held.promise }, signal);
    }
    const reason = new Error('not wanted');
    const giveUp = new AbortController();
    const waiting = configs.containerConfig(requestWith(shopPod(), { name: 'c', env }), giveUp.signal);
    giveUp.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    held.resolve();
    const args = ['$(A)$(B)'];
    for (const name of ['d', 'e', 'f']) {
      await expect(configs.containerConfig(requestWith(shopPod(), { name, env, args }), signal)).rejects.toThrow('argument 1');
    }
  });

  it('of the hosts file are refused beyond 128 KiB, and a message is cut', async () => {
    const hostAliases = [{ ip: '1.2.3.4', hostnames: ['x'.repeat(131_072)] }];
    const request = requestWith(shopPod({ hostAliases }), { name: 'app' });
    await expect(configsWith().containerConfig(request, signal)).rejects.toThrow('hostAliases take more than 131072 bytes');
    const volumeMounts = [{ name: 'x'.repeat(100_000), mountPath: '/x' }];
    const error = await configsWith()
      .containerConfig(requestWith(shopPod(), { name: 'app', volumeMounts }), signal)
      .catch((reason: unknown) => reason);
    expect((error as Error).message).toHaveLength(4097);
  });
});
