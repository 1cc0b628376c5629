import { describe, expect, it } from 'vitest';
import { changesBetween } from '../../../src/api/patch/json-patch.ts';
import { deleting, Harness, readyStatus, settle, testPod } from './status-harness.ts';

const uid = '12345678';

describe('the event request', () => {
  it('tells of a PATCH what was on the wire, and how long it took', async () => {
    const h = new Harness();
    const requests = h.record('request');
    const pod = h.publish(testPod());
    h.client.hold();
    const startedAt = h.clock.now();
    h.manager.setPodStatus(pod, { phase: 'Running', message: 'ä' });
    await settle();
    expect(requests).toEqual([]);
    await h.clock.advance(30);
    h.client.release();
    await settle();
    const body = h.client.actions.find((action) => action.verb === 'patch')?.patch;
    expect(requests).toMatchObject([
      { podUID: uid, verb: 'patch', result: 'ok', status: undefined, message: undefined, startedAt, durationMs: 30, body },
    ]);
    expect(requests[0]?.bytes).toBe(Buffer.byteLength(JSON.stringify(body)));
    expect(requests[0]?.body).toMatchObject({ metadata: { uid }, status: { phase: 'Running', message: 'ä' } });
  });

  it('tells of a GET and a DELETE without a body', async () => {
    const h = new Harness({ fetchBeforePatch: 'always' });
    const requests = h.record('request');
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: deleting }));
    h.manager.terminatePod(pod);
    await settle();
    expect(requests.map(({ verb, result }) => [verb, result])).toEqual([
      ['get', 'ok'],
      ['patch', 'ok'],
      ['delete', 'ok'],
    ]);
    expect(requests.map(({ body, bytes }) => [body === undefined, bytes === undefined])).toEqual([
      [true, true],
      [false, false],
      [true, true],
    ]);
  });

  it('tells of a refusal: its class, its status and its message', async () => {
    const h = new Harness();
    const requests = h.record('request');
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 409 });
    await h.set(pod, { phase: 'Running' });
    expect(requests[0]).toMatchObject({
      verb: 'patch',
      result: 'conflict',
      status: 409,
      message: 'patch of pod new/foo fails on demand',
    });
  });

  it('tells of a request that was given up, once', async () => {
    const h = new Harness({ requestTimeoutMs: 1_000 });
    const requests = h.record('request');
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { phase: 'Running' });
    await h.clock.advance(1_000);
    await settle();
    expect(requests).toMatchObject([{ result: 'timeout', status: undefined, durationMs: 1_000 }]);
    expect(requests[0]?.message).toContain('1000 ms');
    h.client.release();
    await settle();
    expect(requests.filter(({ result }) => result === 'timeout')).toHaveLength(1);
    expect(requests.filter(({ startedAt }) => startedAt === requests[0]?.startedAt)).toHaveLength(1);
  });

  it('tells nothing of a request that began while nobody listened', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { phase: 'Running' });
    await settle();
    const requests = h.record('request');
    h.client.release();
    await settle();
    expect(h.manager.explain(uid).phase).toBe('in-sync');
    expect(requests).toEqual([]);
  });

  it('hands out nothing that changes the status', async () => {
    const h = new Harness();
    const requests = h.record('request');
    await h.set(h.publish(testPod()), readyStatus('True'));
    const { status } = requests[0]?.body as { status: { conditions: { status: string }[] } };
    expect(() => Object.assign(status.conditions[0] ?? {}, { status: 'False' })).toThrow(TypeError);
    expect(requests[0]?.body).toBe(requests[0]?.body);
    expect(Object.isFrozen(requests[0])).toBe(true);
  });
});

describe('what an update changed', () => {
  it('is told with pointers, the values before and after, and the name of the list element', () => {
    const h = new Harness({ started: false });
    const updated = h.record('podUpdated');
    const pod = testPod({ status: { phase: 'Pending' } });
    h.manager.setPodStatus(pod, { phase: 'Pending', ...readyStatus('False') });
    h.manager.setPodStatus(pod, { phase: 'Running', message: 'm', ...readyStatus('True') });
    h.manager.setPodStatus(pod, { phase: 'Running', ...readyStatus('True') });
    expect(updated.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(updated[0]?.changes.map(({ path }) => path)).toEqual(expect.arrayContaining(['/conditions', '/startTime']));
    expect(updated[1]?.changes).toEqual(
      expect.arrayContaining([
        { path: '/phase', element: undefined, before: 'Pending', after: 'Running' },
        { path: '/message', element: undefined, before: undefined, after: 'm' },
        { path: '/conditions/0/status', element: 'Ready', before: 'False', after: 'True' },
      ]),
    );
    expect(updated[2]?.changes).toEqual([{ path: '/message', element: undefined, before: 'm', after: undefined }]);
    expect(updated[1]?.changes).toBe(updated[1]?.changes);
  });

  it('is told of a last status, too, and cannot be changed', () => {
    const h = new Harness({ started: false });
    const removed = h.record('podRemoved');
    const pod = testPod();
    h.manager.setPodStatus(pod, { phase: 'Running' });
    h.manager.terminatePod(pod);
    expect(removed[0]).toMatchObject({ version: 2, changes: [{ path: '/phase', before: 'Running', after: 'Failed' }] });
    expect(Object.isFrozen(removed[0]?.changes[0])).toBe(true);
  });
});

describe('changesBetween', () => {
  it('looks into no part that both share', () => {
    const shared = {
      get inner(): never {
        throw new Error('looked into');
      },
    };
    expect(changesBetween({ a: shared, b: 1 }, { a: shared, b: 2 })).toEqual([
      { path: '/b', element: undefined, before: 1, after: 2 },
    ]);
  });

  it('tells of elements that came and went, and of values of another kind', () => {
    expect(changesBetween({ l: [{ name: 'a' }], o: { x: 1 } }, { l: [{ name: 'a' }, { name: 'b' }], o: [1] })).toEqual([
      { path: '/l/1', element: 'b', before: undefined, after: { name: 'b' } },
      { path: '/o', element: undefined, before: { x: 1 }, after: [1] },
    ]);
    expect(changesBetween({ l: [{ name: 'a' }, { name: 'b' }] }, { l: [{ name: 'a' }] })).toEqual([
      { path: '/l/1', element: 'b', before: { name: 'b' }, after: undefined },
    ]);
  });
});

describe('the event synced', () => {
  it('says how long the oldest change has waited', async () => {
    const h = new Harness();
    const synced = h.record('synced');
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'a' });
    await settle();
    await h.clock.advance(40);
    h.client.release();
    await settle();
    expect(synced).toMatchObject([{ version: 1, delayMs: 40 }]);
  });
});
