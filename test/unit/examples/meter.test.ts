import { describe, expect, it } from 'vitest';
import { Meter } from '../../../examples/virtual-node/meter.ts';
import { BasicPodManager, StatusManager } from '../../../src/index.ts';
import {
  buildContainerStatus,
  buildRunningState,
  buildTerminatedState,
  FakePodClient,
  PodStore,
  settle,
} from '../../../src/testing.ts';

function setUp() {
  const store = new PodStore();
  const pod = store.create({
    metadata: { name: 'web', namespace: 'default' },
    spec: { nodeName: 'node', containers: [{ name: 'app', image: 'app:1' }] },
  });
  const podManager = new BasicPodManager();
  podManager.addPod(pod);
  const client = new FakePodClient({ store });
  const manager = new StatusManager({
    logger: null,
    podClient: client,
    podManager,
    podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
  });
  const meter = new Meter();
  meter.watch(manager);
  return { client, manager, meter, pod };
}

describe('Meter', () => {
  it('counts versions and not calls', () => {
    const { manager, meter, pod } = setUp();
    manager.setPodStatus(pod, { phase: 'Running' });
    manager.setPodStatus(pod, { phase: 'Running' });
    manager.setPodStatus(pod, { phase: 'Running', message: 'new' });
    expect(meter.versions).toBe(2);
  });

  it('has no delay before the first sync, and one for every synced version afterwards', async () => {
    const { manager, meter, pod } = setUp();
    manager.setPodStatus(pod, { phase: 'Running' });
    expect(meter.delayMs(50)).toBeUndefined();
    manager.start();
    await manager.flush();
    expect(meter.delayMs(50)).toBeGreaterThan(0);
    await manager.stop();
  });

  it('counts sync errors and refused statuses', async () => {
    const { client, manager, meter, pod } = setUp();
    const ended = buildContainerStatus({ name: 'app', state: buildTerminatedState(0) });
    const never = { ...pod, spec: { ...pod.spec, restartPolicy: 'Never', containers: pod.spec?.containers ?? [] } };
    manager.setPodStatus(never, { phase: 'Running', containerStatuses: [ended] });
    manager.setPodStatus(never, { phase: 'Running', containerStatuses: [{ ...ended, state: buildRunningState() }] });
    expect(meter.illegalTransitions).toBe(1);
    client.failNext('patch', { code: 403 });
    manager.start();
    await settle();
    expect(meter).toMatchObject({ syncErrors: 1, lastError: { errorClass: 'forbidden' } });
    await manager.stop({ drainTimeoutMs: 0 });
  });

  it('does not count conflicts, not even two in a row', async () => {
    const { client, manager, meter, pod } = setUp();
    const errors: string[] = [];
    manager.on('syncError', ({ errorClass }) => errors.push(errorClass));
    client.failNext('patch', { code: 409 });
    client.failNext('patch', { code: 409 });
    manager.setPodStatus(pod, { phase: 'Running' });
    manager.start();
    await settle();
    expect(errors).toEqual(['conflict']);
    expect(meter).toMatchObject({ syncErrors: 0, lastError: undefined });
    await manager.stop({ drainTimeoutMs: 0 });
  });
});
