import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/json/types.ts';
import { noPodCgroups } from '../../../src/kubelet/machine/machine.ts';
import type { FakeImage } from '../../../src/testing/runtime/fake-images.ts';
import { buildPod } from '../../../src/testing.ts';
import { devicePodRows } from './agent-device-rows.ts';
import { podStorageRows } from './agent-storage-rows.ts';
import { type AgentRow, app, type StuckAgent, silentPlugins, withVolume } from './stuck-agent.ts';

const notSynced = { message: 'a pod was not synced and will be synced again' };
const registry = (error: string) => ({ registry: (): FakeImage => ({ error }) });

const imageRows: readonly AgentRow[] = [
  {
    id: 'image-not-there',
    title: 'an image that its registry does not have',
    about: 'pod',
    kind: 'image-not-found',
    words: 'docker.io/library/no-such-image:1: not found',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Correct the name or the tag of the image: its registry has none of that name.',
    arrange: (world) => world.run(app({ image: 'no-such-image:1' })),
    mend: (world) => world.node.changeImage('web', 'app:2'),
  },
  {
    id: 'image-credentials',
    title: 'an image that its registry gives nobody without credentials',
    about: 'pod',
    kind: 'image-credentials',
    words: 'pull access denied, repository does not exist or may require authorization',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Give the pod a pull secret for the registry (imagePullSecrets), or correct the one that it has.',
    runtime: registry('pull access denied, repository does not exist or may require authorization: insufficient_scope'),
    arrange: (world) => world.run(),
  },
  {
    id: 'image-pull',
    title: 'a registry that does not answer',
    about: 'pod',
    kind: 'image-pull',
    words: 'dial tcp 192.0.2.9:443: i/o timeout',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'See whether the node reaches the registry and trusts its certificate, and whether its disk has room.',
    runtime: registry('failed to do request: dial tcp 192.0.2.9:443: i/o timeout'),
    arrange: (world) => world.run(app({}), { ms: 45_000 }),
  },
  {
    id: 'image-name',
    title: 'an image whose name is none',
    about: 'pod',
    kind: 'invalid-image-name',
    words: "couldn't parse image name",
    log: notSynced,
    event: { reason: 'InspectFailed' },
    help: 'Correct the name of the image: [REGISTRY/]NAME[:TAG][@DIGEST], the name in lower case.',
    arrange: (world) => world.run(app({ image: 'Not An Image' })),
  },
  {
    id: 'image-never',
    title: 'an image that is not there and may not be pulled',
    about: 'pod',
    kind: 'err-image-never-pull',
    words: 'is not present with pull policy of Never',
    log: notSynced,
    event: { reason: 'ErrImageNeverPull' },
    help: 'Bring the image to the node, or set imagePullPolicy to IfNotPresent.',
    arrange: (world) => world.run(app({ imagePullPolicy: 'Never' })),
    mend: (world) => void world.node.runtime.pullImage('app:1'),
  },
];

const fromConfigMap = (name: string, key: string) =>
  app({ env: [{ name: 'MODE', valueFrom: { configMapKeyRef: { name, key } } }] });

const configRows: readonly AgentRow[] = [
  {
    id: 'config-map-missing',
    title: 'a config map that is not there',
    about: 'pod',
    kind: 'config-map-missing',
    words: 'configmap "settings" not found',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Create the config map default/settings, or mark it optional.',
    arrange: (world) => world.run(fromConfigMap('settings', 'mode')),
    mend: (world) => world.put('configmaps', 'settings', { mode: 'fast' }),
  },
  {
    id: 'secret-missing',
    title: 'a secret that is not there',
    about: 'pod',
    kind: 'secret-missing',
    words: 'secret "login" not found',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Create the secret default/login, or mark it optional.',
    arrange: (world) => world.run(app({ envFrom: [{ secretRef: { name: 'login' } }] })),
    mend: (world) => world.put('secrets', 'login', { user: 'bWU=' }),
  },
  {
    id: 'key-missing',
    title: 'a key that a config map does not have',
    about: 'pod',
    kind: 'key-missing',
    words: "couldn't find key mode in ConfigMap default/settings",
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Add the key mode to the config map default/settings, or mark it optional.',
    arrange: (world) => {
      world.put('configmaps', 'settings', { other: 'x' });
      return world.run(fromConfigMap('settings', 'mode'));
    },
    mend: (world) => world.put('configmaps', 'settings', { mode: 'fast' }),
  },
  {
    id: 'volume-config-map',
    title: 'a volume of a config map that is not there',
    about: 'pod',
    kind: 'config-map-missing',
    words: 'MountVolume.SetUp failed for volume "data" : configmap "settings" not found',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Create the config map default/settings, or mark it optional.',
    arrange: (world) => world.run(withVolume({ configMap: { name: 'settings' } })),
    mend: (world) => world.put('configmaps', 'settings', { mode: 'fast' }),
  },
  {
    id: 'volume-key',
    title: 'a volume of a key that a secret does not have',
    about: 'pod',
    kind: 'key-missing',
    words: 'references non-existent secret key: password',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Add the key password to the config map or secret of the volume, or mark it optional.',
    arrange: (world) => {
      world.put('secrets', 'login', { user: 'bWU=' });
      return world.run(withVolume({ secret: { secretName: 'login', items: [{ key: 'password', path: 'p' }] } }));
    },
  },
];

const volumeRows: readonly AgentRow[] = [
  {
    id: 'host-path',
    title: 'a path of the node that is not of the type that the volume asks for',
    about: 'pod',
    kind: 'host-path',
    words: 'hostPath type check failed: /no/such/folder is not a directory',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Correct the path or the type of the hostPath volume, or make on the node what it names.',
    arrange: (world) => world.run(withVolume({ hostPath: { path: '/no/such/folder', type: 'Directory' } })),
  },
  {
    id: 'volume-type',
    title: 'a volume of a type that the agent does not have',
    about: 'pod',
    kind: 'volume-type',
    words: 'volume type iscsi is not supported by this agent',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Use a volume of another type: this agent has none of the one that the message names.',
    arrange: (world) => world.run(withVolume({ iscsi: { targetPortal: '192.0.2.9', iqn: 'iqn.2026-01.example:disk', lun: 0 } })),
  },
  {
    id: 'volume-claim',
    title: 'a claim of storage that is not there, or not bound yet',
    about: 'pod',
    kind: 'volume-claim',
    words: 'error processing PVC default/disk: failed to fetch PVC from API server: persistentvolumeclaims "disk" not found',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'See whether the claim is bound (kubectl describe pvc), to which PersistentVolume, and what that one says (kubectl get pv -o yaml).',
    arrange: (world) => world.run(withVolume({ persistentVolumeClaim: { claimName: 'disk' } })),
  },
  {
    id: 'volume-driver',
    title: 'a volume of a storage driver that is not registered on the node',
    about: 'pod',
    kind: 'csi-driver',
    words: 'driver name disk.example.com not found in the list of registered CSI drivers',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'See whether the storage driver that the message names runs on this node and is registered (kubectl get csinode -o yaml), and its log.',
    arrange: (world) => world.run(withVolume({ csi: { driver: 'disk.example.com' } }), { plugins: silentPlugins }),
  },
  {
    id: 'resource-claim',
    title: 'a pod with a resource claim that is not there',
    about: 'pod',
    kind: 'resource-claims',
    words: 'fetch ResourceClaim gpu: ',
    log: notSynced,
    event: { reason: 'FailedPrepareDynamicResources' },
    help: 'See whether the claim is allocated and reserved for the pod (kubectl get resourceclaim -o yaml), whether its driver runs on this node, and the log of the driver.',
    arrange: (world) =>
      world.run(app({}, { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }), { plugins: silentPlugins }),
  },
  {
    id: 'volume-mount',
    title: 'a volume that the kernel does not mount',
    about: 'pod',
    kind: 'volume',
    words: 'mount: permission denied',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Mend what the message names; the log of the kernel (dmesg) says why a mount fails.',
    arrange: (world) => {
      world.mounter.failure = new Error('mount: permission denied');
      return world.run(withVolume({ emptyDir: { medium: 'Memory' } }), { ms: 20_000 });
    },
    mend: (world) => {
      world.mounter.failure = undefined;
    },
  },
  {
    id: 'service-account-token',
    title: 'a service account of which the node gets no token',
    about: 'pod',
    kind: 'service-account-token',
    words: 'serviceaccounts "builder" is forbidden',
    log: notSynced,
    event: { reason: 'FailedMount' },
    help: 'Create the service account default/builder if it is missing; else let the node make tokens of it (deploy/rbac.yaml).',
    arrange: (world) => {
      world.refuse(/serviceaccounts/, 403, 'Forbidden', 'serviceaccounts "builder" is forbidden: the node has no pod of it');
      const sources = [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }];
      return world.run(withVolume({ projected: { sources } }, { serviceAccountName: 'builder' }));
    },
  },
];

const failCreate = (world: StuckAgent, message: string) =>
  world.node.runtime.fail({ call: 'CreateContainer', times: 1000, fault: { kind: 'error', error: 'failed', message } });

const runtimeRows: readonly AgentRow[] = [
  {
    id: 'sandbox-cni',
    title: 'a sandbox for which the network plugin fails',
    about: 'pod',
    kind: 'sandbox-network',
    words: 'plugin type="bridge" failed (add): no IP addresses available in range set',
    log: notSynced,
    event: { reason: 'FailedCreatePodSandBox' },
    help: 'See what the network plugin says, and whether its configuration in /etc/cni/net.d and its programs in /opt/cni/bin are there.',
    arrange: (world) => {
      const message = 'cni: plugin type="bridge" failed (add): no IP addresses available in range set';
      world.node.runtime.fail({ call: 'RunPodSandbox', times: 1000, fault: { kind: 'error', error: 'failed', message } });
      return world.run({}, { ms: 25_000 });
    },
    mend: (world) => world.node.runtime.heal(),
  },
  {
    id: 'container-create',
    title: 'a container that the runtime does not make',
    about: 'pod',
    kind: 'create-container-error',
    words: 'failed to generate spec: path "/dev/no" is mounted on "/dev" but it is not a shared mount',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Correct what the runtime names in the spec of the pod, such as a command, a mount or a device.',
    arrange: (world) => {
      failCreate(world, 'failed to generate spec: path "/dev/no" is mounted on "/dev" but it is not a shared mount');
      return world.run();
    },
    mend: (world) => world.node.runtime.heal(),
  },
  {
    id: 'disk-full',
    title: 'a container for which the disk of the node has no room',
    about: 'pod',
    kind: 'disk-full',
    words: 'mkdir /run/containerd/io: no space left on device',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Make room on the disk of the node (df -h, df -i): it is tried again by itself.',
    arrange: (world) => {
      failCreate(world, 'mkdir /run/containerd/io: no space left on device');
      return world.run();
    },
    mend: (world) => world.node.runtime.heal(),
  },
  {
    id: 'container-start',
    title: 'a container whose command is not in its image',
    about: 'pod',
    kind: 'run-container-error',
    words: 'exec: "serve": executable file not found in $PATH',
    log: notSynced,
    event: { reason: 'Failed' },
    help: 'Correct the command of the container, or its image: the message names what could not be run.',
    runtime: { lives: () => ({ startError: 'runc create failed: exec: "serve": executable file not found in $PATH' }) },
    arrange: (world) => world.run(app({ command: ['serve'] }), { ms: 4000 }),
  },
  {
    id: 'post-start-hook',
    title: 'a postStart hook that fails',
    about: 'pod',
    kind: 'post-start-hook-error',
    words: "command 'warm up' exited with 3",
    log: notSynced,
    event: { reason: 'FailedPostStartHook' },
    eventWords: false,
    help: 'Correct the hook: a container whose hook fails is ended and started again.',
    runtime: { exec: () => ({ exitCode: 3, stderr: 'no cache' }) },
    arrange: (world) => world.run(app({ lifecycle: { postStart: { exec: { command: ['warm', 'up'] } } } }), { ms: 4000 }),
  },
  {
    id: 'pre-stop-hook',
    title: 'a preStop hook that fails',
    about: 'pod',
    kind: 'pre-stop-hook',
    words: 'the command exited with 4',
    log: { message: 'the hook preStop of a container failed' },
    event: { reason: 'FailedPreStopHook' },
    eventWords: false,
    retried: false,
    help: 'Correct the hook: the container was ended without it.',
    runtime: { exec: () => ({ exitCode: 4 }), lives: () => ({ ignoresSigterm: true }) },
    arrange: async (world) => {
      await world.run(app({ lifecycle: { preStop: { exec: { command: ['drain'] } } } }, { terminationGracePeriodSeconds: 30 }));
      world.node.delete('web', 30);
      await world.pass(5000);
    },
    mend: (world) => world.pass(40_000),
  },
];

const probe = (type: 'liveness' | 'readiness' | 'startup') =>
  app({ [`${type}Probe`]: { exec: { command: ['check'] }, periodSeconds: 2, failureThreshold: 3 } });
const failingProbe = { exec: () => ({ exitCode: 1, stdout: 'the queue is full' }) };

const probeRow = (type: 'liveness' | 'readiness' | 'startup', help: string): AgentRow => ({
  id: `${type}-probe`,
  title: `a ${type} probe that fails`,
  about: 'pod',
  kind: `${type}-probe`,
  words: 'the queue is full',
  log: { message: 'a probe of a container has failed as often as its threshold says' },
  event: { reason: 'Unhealthy' },
  help,
  runtime: failingProbe,
  arrange: (world) => world.run(probe(type), { ms: 9000 }),
});

const lifeRows: readonly AgentRow[] = [
  probeRow(
    'liveness',
    'See why the container does not answer, or give it more time (timeoutSeconds, failureThreshold): it is started again.',
  ),
  probeRow('readiness', 'See why the container is not ready: its pod gets no traffic until the probe succeeds.'),
  probeRow(
    'startup',
    'See why the container does not start, or give it more time (failureThreshold): it is ended and started again.',
  ),
  {
    id: 'crash-loop',
    title: 'a container that ends again and again',
    about: 'pod',
    kind: 'crash-loop-back-off',
    words: 'exit code 2 (Error): no configuration',
    log: notSynced,
    logWords: false,
    event: { reason: 'BackOff' },
    eventWords: false,
    help: 'Read what the container wrote last: kubectl logs --previous, container app.',
    runtime: { lives: () => ({ runsMs: 1000, exitCode: 2, message: 'no configuration' }) },
    arrange: (world) => world.run({}, { ms: 25_000 }),
  },
  {
    id: 'oom-killed',
    title: 'a container that has no memory left',
    about: 'pod',
    kind: 'oom-killed',
    words: 'exit code 137 (OOMKilled)',
    log: notSynced,
    logWords: false,
    event: { reason: 'BackOff' },
    eventWords: false,
    help: "Raise the container's memory limit, or make it use less.",
    runtime: { lives: () => ({ runsMs: 1000, exitCode: 137, reason: 'OOMKilled' }) },
    arrange: (world) => world.run({}, { ms: 25_000 }),
  },
  {
    id: 'grace-over',
    title: 'a pod that does not end within its grace period',
    about: 'pod',
    kind: 'grace-over',
    words: 'has not said that it stopped app',
    log: { message: 'a pod has not ended within its grace period' },
    logWords: false,
    event: { reason: 'ExceededGracePeriod' },
    retried: false,
    help: 'See what the runtime does with the containers (crictl ps, its log); a process that waits for a disk cannot be killed.',
    arrange: async (world) => {
      await world.run();
      world.node.runtime.fail({ call: 'StopContainer', times: 1, fault: { kind: 'hang' } });
      world.node.delete('web', 5);
      await world.pass(30_000);
    },
  },
  {
    id: 'pod-end',
    title: 'a pod whose containers the runtime does not stop',
    about: 'pod',
    kind: 'pod-end',
    words: 'failed to kill container: context deadline exceeded',
    log: notSynced,
    event: { reason: 'FailedKillPod' },
    help: 'See why the runtime cannot stop the container (crictl ps, its log).',
    arrange: async (world) => {
      await world.run();
      const message = 'failed to kill container: context deadline exceeded';
      for (const call of ['StopContainer', 'StopPodSandbox'] as const)
        world.node.runtime.fail({ call, times: 1000, fault: { kind: 'error', error: 'failed', message } });
      world.node.delete('web', 30);
      await world.pass(20_000);
    },
    mend: (world) => world.node.runtime.heal(),
  },
];

/** Refused pods: nobody tries them again. */
const refusedRow = (
  id: string,
  title: string,
  reason: string,
  row: Pick<AgentRow, 'kind' | 'words' | 'help' | 'arrange'>,
): AgentRow => ({
  id,
  title,
  about: 'pod',
  log: { message: 'a pod may not run on this node' },
  event: { reason },
  retried: false,
  ...row,
});

const needs = (requests: object) => app({ resources: { requests } });
const noRoom = 'Make room on the node, or lower what the pod requests.';

const refusedRows: readonly AgentRow[] = [
  refusedRow('out-of-cpu', 'a pod for which the node has no processors left', 'OutOfcpu', {
    kind: 'no-room',
    words: "Node didn't have enough resource: cpu",
    help: noRoom,
    arrange: (world) => world.run(needs({ cpu: '9000' })),
  }),
  refusedRow('out-of-memory', 'a pod for which the node has no memory left', 'OutOfmemory', {
    kind: 'no-room',
    words: "Node didn't have enough resource: memory",
    help: noRoom,
    arrange: (world) => world.run(needs({ memory: '9000Gi' })),
  }),
  refusedRow('out-of-pods', 'a pod more than the node takes', 'OutOfpods', {
    kind: 'no-room',
    words: "Node didn't have enough resource: pods",
    help: noRoom,
    arrange: async (world) => {
      await world.start({ maxPods: 1 });
      world.create({}, 'first');
      await world.pass(5000);
      world.create();
      await world.pass(5000);
    },
  }),
  refusedRow('node-affinity', 'a pod that wants another node', 'NodeAffinity', {
    kind: 'refused',
    words: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    help: "Correct the pod's node selector or affinity, or the node's labels.",
    arrange: (world) => world.run({ nodeSelector: { disk: 'fast' } }),
  }),
];

const evictedRow = (id: string, title: string, words: string, arrange: AgentRow['arrange']): AgentRow => ({
  id,
  title,
  about: 'pod',
  kind: 'evicted',
  words,
  log: { message: 'a pod is evicted' },
  event: { reason: 'Evicted' },
  retried: false,
  help: 'Raise what the pod requests of what ran short, or give the node more of it.',
  arrange,
});

const evictedRows: readonly AgentRow[] = [
  evictedRow(
    'evicted-memory',
    'a pod that is evicted because the node has no memory left',
    'The node was low on resource: memory',
    (world) => world.run(needs({ memory: '1Mi' }), { evictionHard: { 'memory.available': '99%' }, ms: 25_000 }),
  ),
  evictedRow(
    'evicted-storage',
    'a pod that is evicted because it keeps more on the disk than it may',
    'Pod ephemeral local storage usage exceeds the total limit of containers 1',
    (world) => world.run(app({ resources: { limits: { 'ephemeral-storage': '1' } } }), { ms: 25_000 }),
  ),
  {
    ...evictedRow(
      'refused-disk',
      'a pod that comes while the disk of the node is full',
      'The node had condition: [DiskPressure]',
      async (world) => {
        await world.start({ evictionHard: { 'nodefs.available': '1Ei' } });
        await world.pass(20_000);
        world.create();
        await world.pass(8000);
      },
    ),
    kind: 'refused',
    help: 'Wait until the node no longer runs short of what the message names, or free it.',
    log: { message: 'a pod may not run on this node' },
  },
];

const staticPod = (uid: string) => `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: default, uid: ${uid} }
spec: { terminationGracePeriodSeconds: 5, containers: [{ name: app, image: 'app:1' }] }
`;

const otherRows: readonly AgentRow[] = [
  {
    id: 'runtime-down-pod',
    title: 'a pod that comes while the runtime is down',
    about: 'pod',
    kind: 'runtime-down',
    words: 'connection refused',
    log: notSynced,
    help: 'Start the container runtime, or see why it does not answer (systemctl status containerd, its log).',
    arrange: async (world) => {
      await world.start();
      world.node.runtime.restart({ downMs: 60_000 });
      world.create();
      await world.pass(20_000);
    },
    mend: () => {},
  },
  {
    id: 'slow-call',
    title: 'a call of the runtime that hangs while a pod is started',
    about: 'pod',
    kind: 'slow-call',
    words: 'syncPod() of the pod has not ended',
    retried: false,
    help: 'See what the container runtime does (crictl ps -a, its log): an image may be large, or a call of it hangs.',
    arrange: (world) => {
      world.node.runtime.fail({ call: 'RunPodSandbox', fault: { kind: 'hang' } });
      return world.run({}, { ms: 150_000 });
    },
  },
  {
    id: 'pod-cgroup',
    title: 'a pod whose cgroup cannot be made',
    about: 'pod',
    kind: 'pod-cgroup',
    words: 'mkdir /sys/fs/cgroup/kubepods/pod1: read-only file system',
    log: notSynced,
    event: { reason: 'FailedCreatePodContainer' },
    help: 'See whether the agent may write to /sys/fs/cgroup, and whether cgroupDriver is that of the runtime.',
    arrange: (world) => {
      const ensurePod = () => Promise.reject(new Error('mkdir /sys/fs/cgroup/kubepods/pod1: read-only file system'));
      return world.run({}, { cgroups: { ...noPodCgroups, ensurePod } });
    },
  },
  {
    id: 'clean-up',
    title: 'a volume of a pod that has ended and that cannot be unmounted',
    about: 'pod',
    kind: 'clean-up',
    words: 'umount: target is busy',
    log: notSynced,
    help: 'See what still uses the path that the message names (mount, lsof).',
    arrange: async (world) => {
      await world.run(withVolume({ emptyDir: { medium: 'Memory' } }));
      world.mounter.unmountFailure = new Error('umount: target is busy');
      world.node.delete('web', 5);
      await world.pass(20_000);
    },
    mend: (world) => {
      world.mounter.unmountFailure = undefined;
    },
  },
  {
    id: 'left-out',
    title: 'two pods of one name in one source',
    about: 'pod',
    kind: 'left-out',
    words: 'the source "own" has two pods with one name, and this one is left out',
    log: { message: 'two pods of a list have one name or one uid; this one is left out' },
    logWords: false,
    event: { reason: 'FailedValidation' },
    eventWords: false,
    retried: false,
    pod: { podUID: 'second', podName: 'web' },
    help: 'Give each pod of the source a name and a uid of its own.',
    arrange: async (world) => {
      const pods = ['first', 'second'].map((uid) => buildPod({ metadata: { name: 'web', uid } }));
      const own = { start: (send: (all: readonly Pod[]) => void) => send(pods), stop: async () => {} };
      await world.start({ sources: { own } });
      await world.pass(5000);
    },
  },
  {
    id: 'waits-for-namesake',
    title: 'a static pod whose predecessor of the same name does not end',
    about: 'pod',
    kind: 'waits-for-namesake',
    words: 'the static pod waits until an earlier one of its name has ended',
    retried: false,
    pod: { podUID: 'two', podName: 'web-node-1' },
    help: 'See why the earlier pod does not end: explain() of its uid says it, and the log.',
    arrange: async (world) => {
      const staticPodPath = await world.folder();
      await writeFile(join(staticPodPath, 'web.yaml'), staticPod('one'));
      await world.start({ staticPodPath, fileCheckFrequencyMs: 2000 });
      await world.pass(5000);
      world.node.runtime.fail({ call: 'StopContainer', times: 1, fault: { kind: 'hang' } });
      await writeFile(join(staticPodPath, 'web.yaml'), staticPod('two'));
      await world.pass(12_000);
    },
  },
];

/** Ways in which a pod of a node agent is stuck. */
export const agentPodRows: readonly AgentRow[] = [
  ...imageRows,
  ...configRows,
  ...volumeRows,
  ...podStorageRows,
  ...runtimeRows,
  ...lifeRows,
  ...refusedRows,
  ...evictedRows,
  ...devicePodRows,
  ...otherRows,
];
