import { describe, expect, it } from 'vitest';
import { Meter } from '../../../examples/virtual-node/meter.ts';
import { BasicPodManager, StatusManager } from '../../../src/index.ts';
import { FakePodClient, PodStore } from '../../../src/testing.ts';

function setUp() {
  const store = new PodStore();
  const pod = store.create({
    metadata: { name: 'web', namespace: 'default' },
    spec: { nodeName: 'node', containers: [{ name: 'app', image: 'app:1' }] },
  });
  const podManager = new BasicPodManager();
  podManager.addPod(pod);
  const manager = new StatusManager({
    podClient: new FakePodClient({ store }),
    podManager,
    podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
  });
  const meter = new Meter();
  meter.watch(manager);
  return { manager, meter, pod };
}

describe('Meter', () => {
  it('counts versions and not calls', () => {
    const { manager, meter, pod } = setUp();
    manager.setPodStatus(pod, { phase: 'Running' });
    manager.setPodStatus(pod, { phase: 'Running' });
    manager.setPodStatus(pod, { phase: 'Running', message: 'new' });
    expect(meter.versions).toBe(2);
  });

  it('has no delay before something is synced, and one for every version afterwards', async () => {
    const { manager, meter, pod } = setUp();
    manager.setPodStatus(pod, { phase: 'Running' });
    expect(meter.delayMs(50)).toBeUndefined();
    manager.start();
    await manager.flush();
    expect(meter.delayMs(50)).toBeGreaterThan(0);
    await manager.stop();
  });

  it('counts errors and statuses that are refused', async () => {
    const { manager, meter, pod } = setUp();
    manager.emit('illegalTransition', { pod, podUID: 'u1', reason: 'no' });
    expect(meter.illegalTransitions).toBe(1);
    const failure = { podUID: 'u1', podName: 'web', podNamespace: 'default', error: new Error('no'), attempts: 1 };
    manager.emit('syncError', { ...failure, errorClass: 'timeout', retryInMs: 1 });
    expect(meter).toMatchObject({ syncErrors: 1, lastError: { errorClass: 'timeout' } });
  });
});
