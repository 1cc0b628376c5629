import { quantityInNano } from '../../../../src/api/quantity/quantity-arithmetic.ts';
import { podOf, type ServedPod } from '../../../support/answers.ts';
import type { MachineNode } from './machine-node.ts';

const image = 'registry.k8s.io/e2e-test-images/busybox:1.36.1-1';

function pod(name: string, containers: Readonly<Record<string, object>>): object {
  const container = ([containerName, resources]: [string, object]): object => ({
    name: containerName,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', '3600'],
    resources,
  });
  return {
    metadata: { name },
    spec: {
      nodeName: 'node-machine',
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: Object.entries(containers).map(container),
    },
  };
}

/** A pod of each class. */
const pods: Readonly<Record<string, object>> = {
  guaranteed: pod('guaranteed', { only: { limits: { cpu: '500m', memory: '64Mi' } } }),
  burstable: pod('burstable', {
    limited: { requests: { cpu: '100m', memory: '32Mi' }, limits: { memory: '128Mi' } },
    free: { requests: { cpu: '50m' } },
  }),
  besteffort: pod('besteffort', { only: {} }),
};

/** What two of them get while they run. */
const resized: Readonly<Record<string, object>> = {
  guaranteed: {
    containers: [
      { name: 'only', resources: { requests: { cpu: '250m', memory: '96Mi' }, limits: { cpu: '250m', memory: '96Mi' } } },
    ],
  },
  burstable: {
    containers: [
      { name: 'limited', resources: { requests: { cpu: '200m', memory: '48Mi' }, limits: { memory: '160Mi' } } },
      { name: 'free', resources: { requests: { cpu: '80m' } } },
    ],
  },
};

/**
 * Every setting of the cgroups below those of all pods, one a line, at the three moments: while the pods run, after a resize, and
 * when all are gone. Ids are written as names, and what depends on the machine by its rule.
 */
export interface PodGroups {
  readonly running: readonly string[];
  readonly resized: readonly string[];
  readonly gone: readonly string[];
}

export async function readPodGroups(node: MachineNode): Promise<PodGroups> {
  const { admin } = node;
  const read = async (name: string): Promise<ServedPod> => podOf(await admin.getPod('default', name));
  for (const one of Object.values(pods)) podOf(await admin.createPod('default', one));
  const names = Object.keys(pods);
  for (const name of names) await node.until(`${name} runs`, async () => (await read(name)).status.phase === 'Running');
  const served = await Promise.all(names.map(read));
  const running = await readGroups(node, served);
  for (const [name, spec] of Object.entries(resized)) {
    podOf(await admin.patch(`/api/v1/namespaces/default/pods/${name}/resize`, { spec }));
    await node.until(`${name} is resized`, async () => isResized(await read(name), spec));
  }
  const share = (group: string): Promise<string> =>
    node.machine.read(['sh', '-c', `cat /sys/fs/cgroup/kubepods*/*burstable*${group}/cpu.weight`]);
  // the share of a class follows that of its pods once a minute
  await node.until('the class has the share of its pod', async () => (await share('')) === (await share('/*pod*')));
  const after = await readGroups(node, served);
  for (const name of names) await admin.deletePod('default', name);
  for (const name of names) await node.until(`${name} is gone`, async () => (await admin.getPod('default', name)).status === 404);
  const folders = (): Promise<string> =>
    node.machine.read(['sh', '-c', 'find /sys/fs/cgroup/kubepods* -type d | grep -E "pod[0-9a-f]{8}" || true']);
  await node.until('no group of a pod is left', async () => (await folders()) === '');
  await node.until('the class has no share', async () => (await share('')) === '1');
  return { running, resized: after, gone: await readGroups(node, served) };
}

interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** The runtime says what each container has now. */
function isResized({ status }: ServedPod, spec: object): boolean {
  const { containers } = spec as { containers: readonly { name: string; resources: Resources }[] };
  const current = new Map((status.containerStatuses ?? []).map((entry) => [entry.name, entry as { resources?: Resources }]));
  const inProgress = (status.conditions ?? []).some(({ type }) => type === 'PodResizeInProgress' || type === 'PodResizePending');
  return (
    !inProgress &&
    containers.every(({ name, resources }) => {
      const has = current.get(name)?.resources;
      return (['requests', 'limits'] as const).every((kind) =>
        Object.entries(resources[kind] ?? {}).every(
          ([resource, value]) => quantityInNano(has?.[kind]?.[resource] ?? '0') === quantityInNano(value),
        ),
      );
    })
  );
}

/** Each file that sets something, with its text; no file that tells of processes or pressure. */
const listSettings = `cd /sys/fs/cgroup && find kubepods* -type f -perm -600 ! -name cgroup.procs ! -name cgroup.threads ! -name '*.pressure' \\
  -exec grep -H '' {} + ; find kubepods* -name cgroup.controllers -exec grep -H '' {} +`;

async function readGroups(node: MachineNode, served: readonly ServedPod[]): Promise<string[]> {
  const text = await node.machine.read(['sh', '-c', listSettings]);
  const facts = await node.machine.read([
    'sh',
    '-c',
    'cat /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max; grep MemTotal /proc/meminfo; systemctl show -P DefaultTasksMax',
  ]);
  const [pidMax = 0, threadsMax = 0, memoryKiB = 0, tasksMax = 0] = facts
    .split('\n')
    .map((line) => Number(/\d+/.exec(line)?.[0]));
  const byRule: Readonly<Record<string, string>> = {
    [`pids.max:${Math.min(pidMax, threadsMax)}`]: 'pids.max:<the most processes of the machine>',
    [`pids.max:${tasksMax}`]: 'pids.max:<the default of systemd>',
    [`memory.max:${memoryKiB * 1024}`]: 'memory.max:<the memory of the machine>',
  };
  const named = served.reduce((all, one) => withNames(all, one), text);
  return named
    .split('\n')
    .map((line) => line.replace(/\b[0-9a-f]{64}\b/, 'sandbox'))
    .map((line) => {
      const [, folder = '', file = '', value = ''] = /^(.*)\/([^/]+?):(.*)$/.exec(line) ?? [];
      return `${folder}/${byRule[`${file}:${value}`] ?? `${file}:${value}`}`.replace(/:(?=[^:]*$)/, ': ');
    })
    .sort();
}

function withNames(text: string, { metadata: { uid, name }, status }: ServedPod): string {
  const ids = (status.containerStatuses ?? []).map((entry) => [entry.containerID?.split('//')[1] ?? '', entry.name] as const);
  const renamed = ids.reduce((all, [id, container]) => (id === '' ? all : all.replaceAll(id, container)), text);
  return renamed.replaceAll(uid, `-${name}`).replaceAll(uid.replaceAll('-', '_'), `-${name}`);
}
