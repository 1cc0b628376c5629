import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { deleting, Harness, settle, testPod } from '../status-harness.ts';

const uid = '12345678';
const foreign = { type: 'example.com/Foreign', status: 'True' } as const;

/** A finished pod: its next sync deletes it. */
function withEndedPod() {
  const h = new Harness();
  h.safety.reclaimed = true;
  const pod = h.publish(testPod({ metadata: deleting, status: { phase: 'Failed' } }));
  const end = (): void => {
    h.manager.setPodStatus(pod, { phase: 'Failed' });
    h.manager.terminatePod(pod);
  };
  return { h, pod, end };
}

describe('a sync, its GET', () => {
  it('is a broken answer when it returns no pod, and is sent again later', async () => {
    const h = new Harness();
    const pod = h.publishBlind(testPod());
    const getPod = h.client.getPod.bind(h.client);
    h.client.getPod = async (...args) => ({ ...(await getPod(...args)), status: 5 as never });
    const failures = h.record('syncError');
    expect(await h.set(pod, { message: 'm' })).toEqual(['get']);
    expect(failures).toMatchObject([{ errorClass: 'broken-answer', attempt: 1 }]);
    h.client.getPod = getPod;
    await h.clock.advance(500);
    expect(await h.calls()).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it('leaves an API copy, so that the next change needs no GET', async () => {
    const h = new Harness();
    const pod = testPod({ status: { message: 'old' } });
    h.client.store.put({ ...pod, status: { message: 'm', startTime: '2026-01-01T00:00:00Z' } });
    h.podManager.addPod(pod);
    expect(await h.set(pod, { message: 'm', startTime: new Date('2026-01-01T00:00:00Z') })).toEqual(['get']);
    expect(await h.batch()).toEqual([]);
    expect(await h.set(pod, { message: 'n' })).toEqual(['patch']);
  });

  it('is the only request when the status is dropped meanwhile', async () => {
    const h = new Harness();
    const pod = h.publishBlind(testPod());
    h.client.hold('get');
    expect(await h.set(pod, { message: 'm' })).toEqual(['get']);
    h.manager.removeOrphanedStatuses(new Set());
    h.client.release();
    expect(await h.calls()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });
});

describe('a sync, its DELETE', () => {
  it.each([undefined, []])('ends the pod when the answer names no finalizers: %j', async (finalizers) => {
    const { h, end } = withEndedPod();
    const deletePod = h.client.deletePod.bind(h.client);
    h.client.deletePod = async (...args) => ({ ...(await deletePod(...args)), finalizers: finalizers as never });
    end();
    expect(await h.calls()).toEqual(['patch', 'delete']);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('ends the pod when the answer is undefined', async () => {
    const { h, end } = withEndedPod();
    h.client.deletePod = async () => undefined as never;
    end();
    await settle();
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('drops the entry when it is refused because another pod has the name, and spares that pod', async () => {
    const { h, pod, end } = withEndedPod();
    h.client.hold('delete');
    end();
    await settle();
    const young = h.client.store.put(testPod({ metadata: { uid: 'another' } }));
    h.client.release();
    expect(await h.calls()).toEqual(['patch', 'delete', 'get']);
    expect(h.api(pod)).toEqual(young);
    expect(h.manager.explain(uid).phase).toBe('gone');
  });

  it('is sent again at once, and then after a backoff, when it is refused for the same pod', async () => {
    const { h, pod, end } = withEndedPod();
    const failures = h.record('syncError');
    h.client.failNext('delete', { code: 409, times: 2 });
    end();
    expect((await h.calls()).filter((verb) => verb === 'delete')).toHaveLength(2);
    expect(failures).toMatchObject([{ errorClass: 'conflict', attempt: 1, retryInMs: 500 }]);
    await h.clock.advance(500);
    expect((await h.calls()).at(-1)).toBe('delete');
    expect(() => h.api(pod)).toThrow(/not found/);
  });
});

describe('a sync, its PATCH', () => {
  it.each([
    'strategic',
    'json',
  ] as const)('%s, is computed against the result of the last one, in the order of that result', async (patchFormat) => {
    const h = new Harness({ patchFormat });
    const conditions = [foreign, { type: 'Ready', status: 'False' }, { type: 'Initialized', status: 'False' }];
    const pod: WirePod = h.publish(testPod({ status: { conditions } as never }));
    for (const [initialized, ready] of [
      ['True', 'False'],
      ['True', 'True'],
      ['False', 'True'],
    ] as const) {
      const status = {
        conditions: [
          { type: 'Initialized', status: initialized },
          { type: 'ContainersReady', status: ready },
          { type: 'Ready', status: ready },
        ],
      };
      expect(await h.set(pod, status)).toEqual(['patch']);
      const served = Object.fromEntries((h.apiStatus(pod).conditions ?? []).map((one) => [one.type, one.status]));
      expect(served).toEqual({ [foreign.type]: 'True', Initialized: initialized, ContainersReady: ready, Ready: ready });
    }
    expect(await h.batch()).toEqual([]);
  });
});
