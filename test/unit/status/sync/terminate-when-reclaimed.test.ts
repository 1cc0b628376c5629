import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import type { UIDTranslations } from '../../../../src/status/pods/pod-manager.ts';
import { numbered } from '../../../support/counted.ts';
import { deleting, Harness, numberedPod, testPod } from '../status-harness.ts';

const uid = '12345678';
const spec = { containers: [{ name: 'a' }, { name: 'b' }], restartPolicy: 'Never' };
const deletingPod = (metadata = {}): WirePod => testPod({ spec, metadata: { ...deleting, ...metadata } });
const containers = (...codes: (number | 'running' | 'waiting')[]): NonNullable<WirePodStatus['containerStatuses']> =>
  codes.map((code, i) => ({
    name: 'ab'[i] ?? 'x',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: typeof code === 'string' ? { [code]: {} } : { terminated: { exitCode: code } },
  }));
const exists = (h: Harness): boolean => h.client.store.list().length > 0;

/** A pod for which all conditions hold once a status is set for it. */
function ready(options = {}, pod = deletingPod()) {
  const h = new Harness(options);
  h.safety.reclaimed = true;
  return { h, pod: h.publish(pod), removed: h.record('podRemoved') };
}

/** Expects that nothing is finished and nothing deleted, now and at two batches. */
async function expectLeftAlone(h: Harness, removed: readonly unknown[]): Promise<void> {
  await h.calls();
  for (let tick = 0; tick < 2; tick += 1) expect(await h.batch()).not.toContain('delete');
  expect(removed).toEqual([]);
  expect(exists(h)).toBe(true);
}

afterEach(() => void vi.restoreAllMocks());

describe('terminateWhenReclaimed', () => {
  it('searches no list for each of thousands of containers', async () => {
    const size = 1000;
    const names = numbered(size, (i) => ({ name: `c${i}` }));
    const [one] = containers(0);
    const { h, pod, removed } = ready({}, testPod({ spec: { containers: names }, metadata: deleting }));
    const searches = vi.spyOn(Array.prototype, 'find');
    const containerStatuses = names.map(({ name }) => ({ ...(one as NonNullable<typeof one>), name }));
    expect(await h.set(pod, { phase: 'Running', containerStatuses })).toEqual(['patch', 'patch', 'delete']);
    expect(searches.mock.calls.length).toBeLessThan(size);
    expect(removed).toHaveLength(1);
  });

  it('finishes a deleted pod whose containers and resources are gone', async () => {
    const { h, pod, removed } = ready();
    expect(await h.set(pod, { phase: 'Running', containerStatuses: containers(0, 0) })).toEqual(['patch', 'patch', 'delete']);
    expect(removed).toHaveLength(1);
    expect(exists(h)).toBe(false);
    expect(h.manager.getPodStatus(uid)).toBeUndefined();
  });

  it('finishes no pod whose newest status shows a running container, whatever the deletion safety answers', async () => {
    const { h, pod } = ready();
    expect(await h.set(pod, { phase: 'Running', containerStatuses: containers(0, 'running') })).toEqual(['patch']);
    expect(await h.batch()).toEqual([]);
    expect(exists(h)).toBe(true);
    expect(await h.set(pod, { phase: 'Running', containerStatuses: containers(0, 0) })).toEqual(['patch', 'patch', 'delete']);
    expect(exists(h)).toBe(false);
  });

  it('finishes no pod after the agent has called terminatePod, and logs that once', async () => {
    const lines: string[] = [];
    const silent = (): void => {};
    const info = (_: object, message: string): void => void lines.push(message);
    const { h, pod } = ready({ logger: { debug: silent, info, warn: silent, error: silent } });
    for (const n of [1, 2]) h.manager.terminatePod(h.publish(numberedPod(n)));
    await h.calls();
    expect(await h.set(pod, { phase: 'Running', containerStatuses: containers(0, 0) })).toEqual(['patch']);
    expect(await h.batch()).toEqual([]);
    expect(exists(h)).toBe(true);
    expect(lines.filter((line) => line.includes('finishes no pod by itself'))).toHaveLength(1);
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch', 'delete']);
  });

  it('finishes it at the first batch after its resources are reclaimed', async () => {
    const { h, pod } = ready();
    h.safety.reclaimed = false;
    expect(await h.set(pod, { phase: 'Running', containerStatuses: containers(0, 0) })).toEqual(['patch']);
    expect(await h.batch()).toEqual([]);
    h.safety.reclaimed = true;
    expect(await h.batch()).toEqual(['patch', 'delete']);
    expect(exists(h)).toBe(false);
  });

  it.each([
    ['Succeeded when every regular container exited with 0', containers(0, 0), 'Succeeded'],
    ['Failed when one exited with another code', containers(0, 1), 'Failed'],
    ['Failed when one never reported its end', containers(0, 'waiting'), 'Failed'],
    ['Failed when one has no status', containers(0), 'Failed'],
    ['Failed when none has a status', undefined, 'Failed'],
  ])('makes the phase %s', async (_what, containerStatuses, phase) => {
    const { h, pod } = ready({}, deletingPod({ finalizers: ['example.com/hold'] }));
    await h.set(pod, { phase: 'Running', ...(containerStatuses && { containerStatuses }) });
    expect(h.apiStatus(pod).phase).toBe(phase);
    expect(h.manager.getPodStatus(uid)?.phase).toBe(phase);
  });

  it('makes the phase Failed when the spec has no containers', async () => {
    const { h, pod } = ready(
      {},
      testPod({ spec: { containers: [] }, metadata: { ...deleting, finalizers: ['example.com/hold'] } }),
    );
    await h.set(pod, { phase: 'Running' });
    expect(h.apiStatus(pod).phase).toBe('Failed');
  });

  it('keeps a terminal phase that the agent has set', async () => {
    const { h, pod } = ready({}, deletingPod({ finalizers: ['example.com/hold'] }));
    await h.set(pod, { phase: 'Failed', reason: 'Evicted', containerStatuses: containers(0, 0) });
    expect(h.apiStatus(pod)).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  });

  it('keeps phase, reason and message of a pod it finished, whatever the agent sets later', async () => {
    const { h, pod } = ready({}, deletingPod({ finalizers: ['example.com/hold'] }));
    await h.set(pod, { phase: 'Running', reason: 'R', message: 'M', containerStatuses: containers(0, 0) });
    expect(h.manager.setPodStatus(pod, { phase: 'Running', podIP: '10.0.0.1', containerStatuses: containers(0, 0) })).toBe(true);
    expect(h.manager.getPodStatus(uid)).toMatchObject({ phase: 'Succeeded', reason: 'R', message: 'M', podIP: '10.0.0.1' });
    // and whatever the agent sets after that
    h.manager.setPodStatus(pod, { phase: 'Failed', reason: 'Other', podIP: '10.0.0.2', containerStatuses: containers(0, 0) });
    expect(h.manager.getPodStatus(uid)).toMatchObject({ phase: 'Succeeded', reason: 'R', message: 'M', podIP: '10.0.0.2' });
  });

  it('does not keep the phase of a pod that the agent itself finished', async () => {
    const { h, pod } = ready({}, deletingPod({ finalizers: ['example.com/hold'] }));
    h.manager.terminatePod(pod);
    await h.calls();
    h.manager.setPodStatus(pod, { phase: 'Succeeded', reason: 'Mine' });
    expect(h.manager.getPodStatus(uid)).toMatchObject({ phase: 'Succeeded', reason: 'Mine' });
  });
});

describe('terminateWhenReclaimed does not finish a pod', () => {
  const running: WirePodStatus = { phase: 'Running', containerStatuses: containers(0, 0) };

  it('when it is switched off', async () => {
    const { h, pod, removed } = ready({ terminateWhenReclaimed: false });
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('that is static', async () => {
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const { h, pod, removed } = ready({}, deletingPod({ annotations }));
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('that is static, even when the pod manager does not list it as static', async () => {
    class Forgetful extends BasicPodManager {
      override getUIDTranslations(): UIDTranslations {
        return { podToMirror: new Map(), mirrorToPod: new Map() };
      }
    }
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const { h, pod, removed } = ready({ podManager: new Forgetful() }, deletingPod({ annotations }));
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
    expect(h.apiStatus(pod).phase).toBe('Running');
  });

  it('that is a mirror pod', async () => {
    const annotations = { 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.mirror': 'x' };
    const { h, pod, removed } = ready({}, deletingPod({ annotations }));
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('that the pod manager no longer has under this uid', async () => {
    const { h, pod, removed } = ready();
    h.podManager.removePod(pod);
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('whose API copy is not deleting', async () => {
    const { h, removed } = ready({}, testPod({ spec }));
    h.manager.setPodStatus(deletingPod(), running);
    await expectLeftAlone(h, removed);
  });

  it('whose status the agent set before it had seen the deletion', async () => {
    const { h, removed } = ready();
    h.manager.setPodStatus(testPod({ spec }), running);
    await expectLeftAlone(h, removed);
  });

  it('for which only a probe result came after the deletion', async () => {
    const { h, pod, removed } = ready();
    h.manager.setPodStatus(testPod({ spec }), {
      phase: 'Running',
      containerStatuses: containers(0, 0).map((container) => ({ ...container, containerID: `test://${container.name}` })),
    });
    h.manager.setContainerReadiness(uid, 'test://a', true);
    expect(h.manager.getPodStatus(uid)?.containerStatuses?.[0]?.ready).toBe(true);
    await expectLeftAlone(h, removed);
    expect(h.apiStatus(pod).phase).toBe('Running');
  });

  it('before the version that saw the deletion is acknowledged', async () => {
    const { h, pod, removed } = ready();
    h.client.failNext('patch', { code: 403, times: 1_000 });
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('whose containers could run', async () => {
    const { h, pod, removed } = ready();
    h.safety.running = true;
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('whose resources are not reclaimed', async () => {
    const { h, pod, removed } = ready();
    h.safety.reclaimed = false;
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });

  it('when the deletion safety throws', async () => {
    const podDeletionSafety = {
      podCouldHaveRunningContainers: () => false,
      podResourcesAreReclaimed: () => {
        throw new Error('no idea');
      },
    };
    const { h, pod, removed } = ready({ podDeletionSafety });
    h.manager.setPodStatus(pod, running);
    await expectLeftAlone(h, removed);
  });
});
