import { describe, expect, it } from 'vitest';
import { deleting, Harness, numberedPod, settle, testPod } from '../status-harness.ts';

// An injected part may throw: that delays the pod it is called for, and no other pod.

function withErrors(options = {}) {
  const errors: string[] = [];
  const silent = (): void => {};
  const logger = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (_: object, message: string) => {
      errors.push(message);
    },
  };
  return { errors, h: new Harness({ logger, subscribed: false, ...options }) };
}

const lookFailed = 'a pod could not be looked at; the next batch looks again';

describe('a pod manager whose pod has a status that cannot be read', () => {
  it.each([
    ['with a resourceVersion', { resourceVersion: '99' }],
    ['without one', { resourceVersion: undefined }],
  ])('costs a GET, and is logged once: %s', async (_, metadata) => {
    const { h, errors } = withErrors();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'a' });
    const odd = { ...pod, metadata: { ...pod.metadata, ...metadata }, status: { startTime: 'yesterday' } };
    h.podManager.setPods([odd]);
    expect(h.manager.explain('12345678')).toMatchObject({ phase: 'in-sync', differs: [] });
    expect((await h.set(pod, { message: 'b' })).at(-1)).toBe('patch');
    await h.batch();
    await h.batch();
    expect(h.apiStatus(pod).message).toBe('b');
    expect(errors.filter((message) => !message.includes('whose status cannot be read'))).toEqual([]);
    expect(errors.length).toBe(metadata.resourceVersion === undefined ? 0 : 1);
  });
});

describe('a pod manager that throws', () => {
  it('for one pod delays only that pod', async () => {
    const { h, errors } = withErrors();
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    const [first] = pods;
    if (first === undefined) throw new Error('no pod');
    const getPodByUID = h.podManager.getPodByUID.bind(h.podManager);
    let broken = true;
    h.podManager.getPodByUID = (uid) => {
      if (broken && uid === 'uid-1') throw new Error('not now');
      return getPodByUID(uid);
    };
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'one' });
    expect(await h.calls()).toEqual(['patch', 'patch']);
    expect(errors).toEqual([lookFailed]);
    for (const pod of pods.slice(1)) h.manager.setPodStatus(pod, { message: 'two' });
    expect(await h.calls()).toEqual(['patch', 'patch']);
    for (const pod of pods) h.rival(pod, { message: 'theirs' });
    for (const pod of pods) h.observe(pod);
    expect(await h.batch()).toEqual(['patch', 'patch']);
    expect(new Set(errors)).toEqual(new Set([lookFailed]));

    broken = false;
    expect(await h.batch()).toEqual(['patch']);
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['one', 'two', 'two']);
  });

  it('when a batch begins delays no repair', async () => {
    const { h } = withErrors();
    const pod = h.publish(numberedPod(1));
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    const { getUIDTranslations } = h.podManager;
    h.podManager.getUIDTranslations = () => {
      h.podManager.getUIDTranslations = getUIDTranslations;
      throw new Error('not now');
    };
    expect(await h.batch()).toEqual(['patch']);
  });

  it('during a sync fails that sync, which is tried again', async () => {
    const { h, errors } = withErrors();
    const pod = h.publish(numberedPod(1));
    const failures = h.record('syncError');
    h.client.failNext('patch', { code: 409 });
    h.client.hold('patch');
    await h.set(pod, { message: 'm' });
    const getUIDTranslations = h.podManager.getUIDTranslations.bind(h.podManager);
    h.podManager.getUIDTranslations = () => {
      throw new Error('not now');
    };
    h.client.release('patch');
    await settle();
    h.podManager.getUIDTranslations = getUIDTranslations;
    expect(errors).toEqual(['a sync failed in an unforeseen way']);
    expect(failures).toMatchObject([{ podUID: 'uid-1', errorClass: 'broken-answer', attempt: 1 }]);
    expect(h.manager.explain('uid-1')).toMatchObject({ phase: 'backing-off', version: 1 });
    await h.clock.advance(1000);
    expect(h.apiStatus(pod).message).toBe('m');
  });

  it('at the answer to a DELETE stops neither the other pods nor stop', async () => {
    const { h, errors } = withErrors({ concurrency: 1 });
    h.safety.reclaimed = true;
    const ended = h.publish(testPod({ metadata: deleting }));
    const other = h.publish(numberedPod(2));
    h.client.hold('delete');
    h.manager.setPodStatus(ended, { phase: 'Failed' });
    h.manager.terminatePod(ended);
    await settle();
    h.manager.setPodStatus(other, { message: 'm' });
    await settle();
    expect(h.client.verbs().at(-1)).toBe('delete');
    const getUIDTranslations = h.podManager.getUIDTranslations.bind(h.podManager);
    let throws = 1;
    h.podManager.getUIDTranslations = () => {
      if (throws-- > 0) throw new Error('not now');
      return getUIDTranslations();
    };
    h.client.release();
    await settle();
    expect(errors).toEqual([]);
    expect(h.apiStatus(other).message).toBe('m');
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
    h.client.hold();
    h.manager.setPodStatus(other, { message: 'n' });
    await settle();
    await h.manager.stop({ drainTimeoutMs: 0 });
    expect([h.manager.state, h.clock.pendingTimers]).toEqual(['stopped', 0]);
  });

  it('when a failed pod is due again does no other harm', async () => {
    const { h, errors } = withErrors();
    const pod = h.publish(numberedPod(1));
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { message: 'm' });
    const getUIDTranslations = h.podManager.getUIDTranslations.bind(h.podManager);
    h.podManager.getUIDTranslations = () => {
      throw new Error('not now');
    };
    await h.clock.advance(1000);
    expect(errors).toContain(lookFailed);
    await h.clock.advance(10_000);
    expect(errors).toContain('what is left of dropped pods stays until the next batch');
    h.podManager.getUIDTranslations = getUIDTranslations;
    await h.clock.advance(60_000);
    expect(h.apiStatus(pod).message).toBe('m');
  });
});

describe('a batch over many pods', () => {
  it('yields to the event loop after every 200 pods, and ends early when the manager stops', async () => {
    const h = new Harness({ channelCapacity: 1000 });
    const pods = Array.from({ length: 650 }, (_, n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    await h.calls();
    const looked = new Set<string>();
    const getPodByUID = h.podManager.getPodByUID.bind(h.podManager);
    h.podManager.getPodByUID = (uid) => {
      // at its end, stop lists every pod that was not written
      if (h.manager.state === 'running') looked.add(uid);
      return getPodByUID(uid);
    };
    const seen: number[] = [];
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 12; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(looked.size);
        if (looked.size === 400) await h.manager.stop({ drainTimeoutMs: 0 });
      }
    };
    await Promise.all([h.clock.advance(10_000), turns()]);
    expect([...new Set(seen.filter((count) => count > 0))]).toEqual([200, 400]);
    expect(h.manager.state).toBe('stopped');
  });
});
