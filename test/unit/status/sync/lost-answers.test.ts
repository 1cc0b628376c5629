import { describe, expect, it } from 'vitest';
import { Harness, settle, testPod } from '../status-harness.ts';

const before = { message: 'a', startTime: '2026-01-01T00:00:00Z' };

/** Lets the last PATCH take effect on the apiserver. */
function land(h: Harness): void {
  const body = h.client.actions.at(-1)?.patch;
  h.client.store.patch('new', 'foo', { type: 'application/strategic-merge-patch+json', body, subresource: 'status' });
}

/** A manager whose PATCH from `a` to `b` landed, and whose answer was another one: by default none. */
async function afterLostAnswer(failure: { reason: string; code?: number } = { reason: 'Timeout' }) {
  const h = new Harness();
  const pod = h.publish(testPod());
  await h.set(pod, { message: 'a' });
  h.client.failNext('patch', failure);
  h.manager.setPodStatus(pod, { message: 'b' });
  await settle();
  land(h);
  h.client.clearActions();
  return { h, pod };
}

describe('a PATCH that landed without an answer', () => {
  it('is undone when the status before it is set again: the pod is read before it counts as written', async () => {
    const { h, pod } = await afterLostAnswer();
    expect(h.apiStatus(pod).message).toBe('b');
    expect(await h.set(pod, { message: 'a' })).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
    expect(h.manager.explain('12345678')).toMatchObject({ phase: 'in-sync', attempt: 0 });
  });

  it('is undone, too, when the answer was a refusal: a balancer may have sent the PATCH twice', async () => {
    const { h, pod } = await afterLostAnswer({ code: 403, reason: 'Forbidden' });
    expect(await h.set(pod, { message: 'a' })).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('is undone, too, when the answer was a conflict, of both attempts', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'a' });
    h.client.failNext('patch', { code: 409, reason: 'Conflict', times: 2 });
    expect(await h.set(pod, { message: 'b' })).toEqual(['patch', 'get', 'patch']);
    h.rival(pod, { message: 'b' });
    expect(await h.set(pod, { message: 'a' })).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('costs no GET when another status follows: the version in the PATCH says that the copy is old', async () => {
    const { h, pod } = await afterLostAnswer();
    h.observe(pod);
    expect(await h.set(pod, { message: 'c' })).toEqual(['patch']);
  });

  it('is told from one that never arrived, whose status is written already', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'a' });
    h.client.failNext('patch', { reason: 'Timeout' });
    await h.set(pod, { message: 'b' });
    expect(await h.set(pod, { message: 'a' })).toEqual(['get']);
    expect(await h.batch()).toEqual([]);
  });

  it('of an entry that was dropped meanwhile is undone, too, when the pod’s next life has the status before it', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ status: before }));
    expect(await h.set(pod, before)).toEqual([]);
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'b' });
    await settle();
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.setPodStatus(pod, before);
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('is undone, too, when the entry is dropped after the failure and the next life has the status before it', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ status: before }));
    await h.set(pod, before);
    h.client.failNext('patch', { reason: 'Timeout' });
    await h.set(pod, { message: 'b' });
    h.client.store.put({ ...h.api(pod), status: { ...before, message: 'b' } });
    h.manager.removeOrphanedStatuses(new Set());
    expect(await h.set(pod, before)).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('is undone, too, when the entry is dropped and set again while the request that was given up is still under way', async () => {
    const h = new Harness({ client: { settleAbortsLate: true } });
    const pod = h.publish(testPod({ status: before }));
    await h.set(pod, before);
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'b' });
    await h.clock.advance(10_000);
    land(h);
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.setPodStatus(pod, before);
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('of an entry that is set again after the answer is undone, too', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod({ status: before }));
    await h.set(pod, before);
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'b' });
    await settle();
    h.manager.removeOrphanedStatuses(new Set());
    h.client.release();
    await h.calls();
    expect(await h.set(pod, before)).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });
});
