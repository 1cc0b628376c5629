import { describe, expect, it } from 'vitest';
import { deleting, numberedPod, readyStatus, settle, testPod } from '../../status/status-harness.ts';
import { DebugHarness } from './debug-harness.ts';

const uid = '12345678';
const never = testPod({ spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' } });
const container = (state: object) => ({ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, state });

describe('the timeline of a pod', () => {
  it('shows each change, what was on the wire, and how long it took', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Pending', ...readyStatus('False') });
    h.client.hold();
    const setAt = h.clock.now();
    h.manager.setPodStatus(pod, { phase: 'Running', ...readyStatus('True') });
    await settle();
    await h.clock.advance(25);
    h.client.release();
    await settle();
    const { row, reason, timeline, droppedEntries, status } = await debug.pod(uid);
    expect(timeline.map(({ kind }) => kind)).toEqual(['set', 'request', 'synced', 'set', 'request', 'synced']);
    const [set, request, synced] = timeline.slice(3);
    expect(set).toMatchObject({ at: setAt, version: 2 });
    expect(set?.kind === 'set' && set.changes).toEqual(
      expect.arrayContaining([
        { path: '/phase', before: 'Pending', after: 'Running' },
        { path: '/conditions/0/status', element: 'Ready', before: 'False', after: 'True' },
      ]),
    );
    const patch = { metadata: { uid }, status: { phase: 'Running' } };
    expect(request).toMatchObject({ at: setAt, verb: 'patch', result: 'ok', durationMs: 25, body: patch });
    expect(synced).toEqual({ kind: 'synced', at: setAt + 25, version: 2, patched: true, delayMs: 25 });
    expect([row.sync, reason, droppedEntries]).toEqual(['in-sync', 'the newest version is on the apiserver', 0]);
    expect(status).toMatchObject({ phase: 'Running', startTime: '2000-01-01T00:00:00Z' });
  });

  it('shows failures, and when the next try is due', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 422 });
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { phase: 'Running' });
    const { timeline, row, retryAt } = await debug.pod(uid);
    expect(timeline.map(({ kind }) => kind)).toEqual(['set', 'request', 'request', 'request', 'error']);
    expect(timeline.slice(1, 4)).toMatchObject([
      { verb: 'patch', result: 'invalid', message: 'patch of pod new/foo fails on demand' },
      { verb: 'get', result: 'ok' },
      { verb: 'patch', result: 'unavailable' },
    ]);
    expect(timeline[4]).toMatchObject({ errorClass: 'unavailable', attempt: 1, retryInMs: (retryAt ?? 0) - h.clock.now() });
    expect(row).toMatchObject({ sync: 'backing-off', attempt: 1, acknowledgedVersion: 0 });
  });

  it('shows a status that was refused, and the last one of a pod', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    const pod = h.publish(never);
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ terminated: { exitCode: 0 } })] });
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ running: {} })] });
    h.manager.terminatePod(pod);
    const { timeline } = await debug.pod(uid);
    const kinds = timeline.map(({ kind }) => kind);
    expect(kinds.slice(0, 6)).toEqual(['set', 'request', 'synced', 'refused', 'set', 'removed']);
    expect(timeline[3]).toMatchObject({ reason: 'terminated container c attempted illegal transition to non-terminated state' });
  });

  it('outlives the pod, and answers for a mirror pod’s uid', async () => {
    await using debug = await DebugHarness.start();
    const { h } = debug;
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: deleting }));
    h.manager.terminatePod(pod);
    await settle();
    const { row, timeline, status } = await debug.pod(uid);
    expect(timeline.filter(({ kind }) => kind === 'request')).toMatchObject([{ verb: 'patch' }, { verb: 'delete' }]);
    expect([row.sync, row.version, row.acknowledgedVersion, status]).toEqual(['unknown', 1, 1, undefined]);

    const fixed = testPod({ metadata: { uid: 's', annotations: { 'kubernetes.io/config.source': 'file' } } });
    const mirror = testPod({ metadata: { uid: 'm', annotations: { 'kubernetes.io/config.mirror': 'h' } } });
    h.podManager.setPods([fixed, mirror]);
    h.manager.setPodStatus(fixed, {});
    expect((await debug.pod('m')).row).toMatchObject({ podUID: 's', isStatic: true });
  });

  it('keeps its last entries, and says how many are gone', async () => {
    await using debug = await DebugHarness.start({ history: { entriesPerPod: 2 } });
    const { h } = debug;
    const pod = h.publish(testPod());
    for (const message of ['a', 'b', 'c']) await h.set(pod, { message });
    const { timeline, droppedEntries } = await debug.pod(uid);
    expect([timeline.map(({ kind }) => kind), droppedEntries]).toEqual([['request', 'synced'], 7]);
  });

  it('begins with the handler, and is not there without room for it', async () => {
    await using debug = await DebugHarness.start({ history: { bytes: 0 } });
    await debug.h.set(debug.h.publish(numberedPod(1)), {});
    expect(await debug.pod('uid-1')).toMatchObject({ row: { version: 1 }, timeline: [], droppedEntries: 0 });
  });

  it('takes no part of the status with it that others can see', async () => {
    await using debug = await DebugHarness.start();
    const before = (await debug.snapshot()).summary;
    expect(before).toMatchObject({ pods: 0, bySync: {}, byPhase: {}, inFlight: 0, channelDepth: 0, channelCapacity: 1_000 });
    expect(before).not.toHaveProperty('oldestUnsentMs');
    expect(before).not.toHaveProperty('node');
  });
});
