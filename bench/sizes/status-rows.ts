import { createDebugHandler } from '../../src/debug.ts';
import { BasicPodManager, StatusManager, type WirePod, type WirePodStatus } from '../../src/index.ts';
import { computePodActions } from '../../src/kubelet/actions/compute-pod-actions.ts';
import { containerHash } from '../../src/kubelet/containers/runtime-names.ts';
import type { AgentPodStatus } from '../../src/kubelet/pleg/agent-status.ts';
import { endedStatus, statusOfAnswer } from '../../src/node/provider/provided-status.ts';
import { generatePodStatus, ProbeManager, podStatusFromContainers } from '../../src/node.ts';
import { hostilePart } from '../../test/support/hostile/hostile-pods.ts';
import { instantClient, nothingToDelete } from '../support/clients.ts';
import type { Sized, SizedInput } from './measure.ts';
import { jsonBytes, listOf, received } from './texts.ts';

const now = '2026-01-01T00:00:00Z';
const metadata = { name: 'p', namespace: 'd', uid: 'u1', resourceVersion: '1' };

/** Sets the two statuses in turn, and sends the patch. */
function setAndSent(pod: WirePod, statuses: readonly WirePodStatus[]): Sized {
  const makeManager = (): StatusManager => {
    const podManager = new BasicPodManager();
    podManager.setPods([pod]);
    const podClient = instantClient();
    const manager = new StatusManager({ podClient, podManager, podDeletionSafety: nothingToDelete, logger: null });
    manager.start();
    return manager;
  };
  const manager = makeManager();
  let round = 0;
  return {
    bytes: jsonBytes(pod),
    async run() {
      manager.setPodStatus(pod, received(statuses[round++ % 2] ?? {}));
      await manager.flush();
    },
    held: () => {
      const other = makeManager();
      other.setPodStatus(pod, received(statuses[0] ?? {}));
      return other;
    },
  };
}

const ready = (status: string) => ({ type: 'Ready', status, lastTransitionTime: now });

function foreignConditions(count: number): Sized {
  const conditions = listOf(count, (i) => ({ type: `example.com/c${i}`, status: 'True' }));
  const pod: WirePod = { metadata, spec: { containers: [{ name: 'app', image: 'app:1' }] }, status: { conditions } };
  return setAndSent(
    pod,
    ['True', 'False'].map((status) => ({ phase: 'Running', conditions: [ready(status)] })),
  );
}

function setConditions(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: [{ name: 'app', image: 'app:1' }] }, status: { phase: 'Pending' } };
  const conditions = (status: string) => listOf(count, (i) => ({ type: `example.com/c${(i * 7919) % count}`, status }));
  const statuses = ['True', 'False'].map((status) => ({ phase: 'Running' as const, conditions: conditions(status) }));
  return { ...setAndSent(pod, statuses), bytes: jsonBytes(statuses[0]) };
}

const containersOf = (count: number) => listOf(count, (i) => ({ name: `c${i}`, image: 'app:1' }));
const statusesOf = (count: number, exitCode?: number) =>
  listOf(count, (i) => ({
    ...{ name: `c${count - 1 - i}`, image: 'app:1', imageID: '', ready: exitCode === undefined, restartCount: 0, lastState: {} },
    state: exitCode === undefined ? { running: { startedAt: now } } : { terminated: { exitCode } },
  }));

function containerStatuses(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: containersOf(count) }, status: { phase: 'Pending' } };
  const statusOf = (exitCode?: number): WirePodStatus => ({ phase: 'Running', containerStatuses: statusesOf(count, exitCode) });
  return setAndSent(pod, [statusOf(), statusOf(1)]);
}

function ended(count: number): Sized {
  const deleted = { ...metadata, deletionTimestamp: now };
  const pod: WirePod = { metadata: deleted, spec: { containers: containersOf(count) }, status: { phase: 'Running' } };
  const sized = setAndSent(pod, [{ phase: 'Running', containerStatuses: statusesOf(count, 0) }]);
  const podDeletionSafety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => true };
  return {
    bytes: sized.bytes,
    async run() {
      const podManager = new BasicPodManager();
      podManager.setPods([pod]);
      const podClient = { ...instantClient(), deletePod: async () => ({}) as never };
      const manager = new StatusManager({ podClient, podManager, podDeletionSafety, logger: null });
      manager.start();
      manager.setPodStatus(pod, { phase: 'Running', containerStatuses: statusesOf(count, 0) });
      await manager.flush();
      await manager.stop();
    },
  };
}

function ofThePod(kind: string): SizedInput['make'] {
  return (size) => {
    const { metadata: more, spec, container } = hostilePart(kind, size);
    const pod = {
      metadata: { ...metadata, ...more },
      spec: { containers: [{ name: 'app', image: 'app:1', ...container }], ...spec },
      status: { phase: 'Pending' },
    } as WirePod;
    return setAndSent(
      received(pod),
      ['True', 'False'].map((status) => ({ phase: 'Running', conditions: [ready(status)] })),
    );
  };
}

function runtimeRecords(count: number): AgentPodStatus {
  const names = listOf(count, (i) => `c${count - 1 - i}`);
  const sandbox = { id: 's0', metadata: { name: '', uid: '', namespace: '', attempt: 0 }, state: 'ready', createdAt: 0 } as const;
  return {
    ...{ podUID: 'u1', ips: ['10.0.0.1'], sandboxes: [{ ready: true, network: { ip: '10.0.0.1' } }] },
    sandboxDetails: [{ ...sandbox, labels: {}, annotations: {}, runtimeHandler: '', ips: [] }],
    containers: names.map((name) => ({ id: `x://${name}`, name, state: 'running', active: true, createdAt: 1 })),
    containerDetails: names.map((name) => ({
      ...{ id: name, sandboxID: 's0', metadata: { name, attempt: 0 }, image: 'app:1', imageRef: '', state: 'running' },
      ...{
        createdAt: 1,
        startedAt: 1,
        finishedAt: 0,
        exitCode: 0,
        reason: '',
        message: '',
        imageID: '',
        logPath: '',
        mounts: [],
      },
      ...{ labels: {}, annotations: {} },
    })),
  } as AgentPodStatus;
}

function generated(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: containersOf(count) } };
  const runtimeStatus = runtimeRecords(count);
  const never = () => Promise.reject(new Error('nothing is probed'));
  const probes = new ProbeManager({
    prober: { exec: never, http: never, tcp: never, grpc: never },
    statusManager: { getPodStatus: () => undefined, setContainerReadiness: () => {}, setContainerStartup: () => {} },
    logger: null,
  });
  return { bytes: jsonBytes(pod), run: () => generatePodStatus({ pod, runtimeStatus, probes }) };
}

function actions(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: containersOf(count) } };
  const input = { pod, status: runtimeRecords(count), probeResult: () => undefined, containerHash };
  const run = (): void => {
    computePodActions({ ...input, restartsAll: false });
    computePodActions({ ...input, restartsAll: true });
  };
  return { bytes: jsonBytes(pod), run };
}

function provided(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: containersOf(count) } };
  const previous = statusOfAnswer({ pod, previous: undefined, hostIPs: [], now: 0 }, { phase: 'Running' });
  const facts = { pod, previous, hostIPs: [], now: 0 };
  const given = listOf(count, (i) => ({ name: `c${count - 1 - i}`, state: 'running' as const }));
  const run = (): void => {
    statusOfAnswer(facts, { phase: 'Running' });
    endedStatus(facts, podStatusFromContainers(pod, given));
  };
  return { bytes: jsonBytes(pod), run };
}

function shown(count: number): Sized {
  const pod: WirePod = { metadata, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  const podManager = new BasicPodManager();
  podManager.setPods([pod]);
  const manager = new StatusManager({ podClient: instantClient(), podManager, podDeletionSafety: nothingToDelete, logger: null });
  createDebugHandler({ manager, logger: null });
  const conditions = (status: string) => listOf(count, (i) => ({ type: `example.com/c${i}`, status }));
  let round = 0;
  const run = (): boolean =>
    manager.setPodStatus(pod, { phase: 'Running', conditions: conditions(round++ % 2 ? 'True' : 'False') });
  return { bytes: jsonBytes(conditions('True')), run };
}

export const statusRows: readonly SizedInput[] = [
  { input: 'conditions of others on the server, one set', most: 30_000, make: foreignConditions },
  { input: 'conditions set by the agent', most: 30_000, make: setConditions },
  { input: 'conditions, with a debug handler', most: 30_000, make: shown },
  { input: 'containers: statuses set and sent', most: 6000, make: containerStatuses },
  { input: 'containers: the end of a deleted pod', most: 6000, make: ended },
  { input: 'containers: generatePodStatus, with probes', most: 6000, make: generated },
  { input: 'containers: what the agent has to do', most: 6000, make: actions },
  { input: 'containers: status of a provider', most: 6000, make: provided },
  { input: 'a status set and sent, pod of labels', most: 1_500_000, make: ofThePod('labels') },
  { input: 'a status set and sent, pod of variables', most: 1_500_000, make: ofThePod('environment') },
];
