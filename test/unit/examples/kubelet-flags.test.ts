import { expect, it } from 'vitest';
import { parseFlags, refusedFlags, versionText } from '../../../examples/kubelet/flags.ts';

/** What the flags say of fields of the file. */
function settingsOf(...args: string[]): unknown {
  const flags = parseFlags(args);
  return typeof flags === 'string' ? flags : flags.settings;
}

it('flags name the node, its addresses and its labels', () => {
  const flags = parseFlags(['--hostname-override', 'Node-1', '--node-ip', '10.0.0.1,fd00::1', '--node-labels', 'a=b,c=d']);
  expect(flags).toMatchObject({ nodeName: 'node-1', nodeIPs: ['10.0.0.1', 'fd00::1'], nodeLabels: { a: 'b', c: 'd' } });
  expect(parseFlags(['--node-labels=a=b,c=d', '--node-labels', 'c=e, f,g='])).toMatchObject({
    nodeLabels: { a: 'b', c: 'e', f: '', g: '' },
  });
  expect(parseFlags(['-h'])).toBe('help');
  expect([parseFlags(['--version']), versionText]).toEqual(['version', 'Kubernetes v1.36.3']);
  expect(parseFlags(['--config=/a', '--config-dir', '/b'])).toMatchObject({ config: '/a', configDir: '/b' });
});

it.each([
  [['--max-pods', '20'], { maxPods: 20 }],
  [['--max_pods=20', '--v=4'], { maxPods: 20, 'logging.verbosity': 4 }],
  [['-v', '2'], { 'logging.verbosity': 2 }],
  [
    ['--register-node', '--fail-swap-on=false', '--anonymous-auth=T'],
    { registerNode: true, failSwapOn: false, 'authentication.anonymous.enabled': true },
  ],
  [['--cluster-dns', '10.0.0.1,10.0.0.2', '--cluster-dns=10.0.0.3'], { clusterDNS: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] }],
  [
    ['--eviction-hard', 'memory.available<100Mi,nodefs.available<5%'],
    { evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '5%' } },
  ],
  [['--feature-gates=A=true,B=false', '--feature-gates', 'C=1'], { featureGates: { A: true, B: false, C: true } }],
  [['--system-reserved=cpu=100m,memory=1Gi'], { systemReserved: { cpu: '100m', memory: '1Gi' } }],
  [
    ['--register-with-taints=a=b:NoSchedule,node-role.kubernetes.io/control-plane:NoSchedule,c=:NoExecute'],
    {
      registerWithTaints: [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
        { key: 'c', effect: 'NoExecute' },
      ],
    },
  ],
  [
    ['--register-with-taints=a:NoSchedule', '--register-with-taints=b:NoExecute'],
    { registerWithTaints: [{ key: 'b', effect: 'NoExecute' }] },
  ],
  [['--manifest-url-header', 'a:hello,b:again,a:x'], { staticPodURLHeader: { a: ['hello', 'x'], b: ['again'] } }],
  [
    ['--reserved-memory', '0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=2Gi'],
    {
      reservedMemory: [
        { numaNode: 0, limits: { memory: '1Gi', 'hugepages-1Gi': '2Gi' } },
        { numaNode: 1, limits: { memory: '2Gi' } },
      ],
    },
  ],
  [['--vmodule=a=2'], { 'logging.vmodule': [{ filePattern: 'a', verbosity: 2 }] }],
  [['--pod-manifest-path', '/manifests', '--sync-frequency=30s'], { staticPodPath: '/manifests', syncFrequency: '30s' }],
])('%j says what a file would say', (args, settings) => {
  expect(settingsOf(...args)).toEqual(settings);
});

it.each([
  [['--no-such-flag'], '--no-such-flag is no flag of the kubelet v1.36'],
  [['--constructor=1'], '--constructor is no flag of the kubelet v1.36'],
  [['start'], '"start" is no flag, and the program takes nothing else'],
  [['-x'], '"-x" is no flag'],
  [['--max-pods'], '--max-pods needs a value'],
  [['--max-pods', 'many'], '--max-pods must be an integer, got "many"'],
  [['--register-node=perhaps'], '--register-node must be true or false, got "perhaps"'],
  [['--feature-gates=A=on'], '--feature-gates: A must be true or false, got "on"'],
  [['--register-with-taints=a'], '--register-with-taints must be such as a:b, got "a"'],
  [['--node-labels==a'], '--node-labels must be such as a=b, got "=a"'],
  [['--cloud-provider=aws'], '--cloud-provider must be empty or external, got "aws"'],
])('%j is refused by the name of the flag', (args, message) => {
  expect(() => parseFlags(args)).toThrow(message);
});

it.each(Object.entries(refusedFlags))('--%s is refused, since %s', (name, why) => {
  expect(() => parseFlags([`--${name}=a`])).toThrow(`--${name} must be left out, since ${why}`);
});

it('a flag without effect is named with the reason', () => {
  expect(parseFlags(['--pod-infra-container-image=pause:3.10', '--runtime-cgroups', '/a'])).toMatchObject({
    unused: [
      '--pod-infra-container-image: the runtime chooses the image of its sandboxes',
      '--runtime-cgroups: the agent measures no cgroup of the runtime',
    ],
    settings: {},
  });
});

it('a header that is wrong is not shown, since it may be a secret', () => {
  const read = () => parseFlags(['--manifest-url-header', 'Bearer sesame']);
  expect(read).toThrow(expect.objectContaining({ message: '--manifest-url-header must be such as a:b' }));
});
