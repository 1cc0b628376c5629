import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { deleting, Harness, numberedPod, settle, testPod } from '../status-harness.ts';

// The pod manager reports each change, and the manager looks at that pod in the next turn of the event loop. A batch runs
// only in the tests that name one.

const uid = '12345678';
const config = 'kubernetes.io/config';
const staticPod = testPod({ metadata: { annotations: { [`${config}.source`]: 'file', [`${config}.hash`]: 'x' } } });
const mirrorPod = (mirrorUID: string): WirePod =>
  testPod({ metadata: { uid: mirrorUID, annotations: { [`${config}.source`]: 'api', [`${config}.mirror`]: 'x' } } });

/** A pod whose status is on the apiserver. */
async function inStep(options = {}) {
  const h = new Harness(options);
  const pod = h.publish(testPod());
  await h.set(pod, { message: 'ours' });
  return { h, pod };
}

describe('a foreign write that the pod manager shows', () => {
  it('is repaired at once', async () => {
    const { h, pod } = await inStep();
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('is repaired at once in the next life of the pod, too, though one was repaired since the last batch', async () => {
    const { h, pod } = await inStep();
    const write = async (): Promise<unknown> => {
      h.rival(pod, { message: 'theirs' });
      h.observe(pod);
      return h.calls();
    };
    expect([await write(), await write()]).toEqual([['patch'], []]);
    h.manager.removeOrphanedStatuses(new Set());
    h.rival(pod, { message: 'ours' });
    h.observe(pod);
    await h.set(pod, { message: 'ours' });
    expect(await write()).toEqual(['patch']);
  });

  it('causes no request when it changes nothing of ours; nor does our own write', async () => {
    const { h, pod } = await inStep();
    h.observe(pod);
    expect(await h.calls()).toEqual([]);
    h.rival(pod, { conditions: [{ type: 'example.com/gate', status: 'True' }] });
    h.observe(pod);
    expect(await h.calls()).toEqual([]);
  });

  it('is repaired at once, too, when it is told right after a round of looks', async () => {
    const h = new Harness();
    const pods = [h.publish(numberedPod(1)), h.publish(numberedPod(2))] as const;
    for (const pod of pods) await h.set(pod, { message: 'ours' });
    for (const pod of pods) h.rival(pod, { message: 'theirs' });
    const { translatePodUID } = h.podManager;
    h.podManager.translatePodUID = (uid) => {
      h.podManager.translatePodUID = translatePodUID;
      queueMicrotask(() => h.observe(pods[1]));
      return translatePodUID.call(h.podManager, uid);
    };
    h.observe(pods[0]);
    await settle();
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['ours', 'ours']);
  });

  it('is repaired right after our own write when it comes during that write', async () => {
    const { h, pod } = await inStep({ fetchBeforePatch: 'always' });
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'newer' });
    await settle();
    const { resourceVersion } = h.api(pod).metadata ?? {};
    h.client.release();
    await settle(1);
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    await settle();
    expect([h.api(pod).metadata?.resourceVersion !== resourceVersion, h.apiStatus(pod).message]).toEqual([true, 'newer']);
  });

  it('is repaired at most once a sync period, however often it comes again', async () => {
    const { h, pod } = await inStep();
    const fight = async (times: number): Promise<number> => {
      for (let n = 0; n < times; n++) {
        h.rival(pod, { message: `theirs ${n}` });
        h.observe(pod);
        await h.clock.advance(100);
      }
      return (await h.calls()).length;
    };
    expect(await fight(40)).toBe(1);
    expect(await h.batch()).toEqual(['patch']);
    h.observe(pod);
    expect(await fight(40)).toBe(0);
    expect(await h.batch()).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('does not delay the repair of another pod', async () => {
    const h = new Harness();
    const pods = [1, 2].map((n) => h.publish(numberedPod(n)));
    for (const pod of pods) await h.set(pod, { message: 'ours' });
    for (let n = 0; n < 3; n++) {
      h.rival(pods[0] ?? {}, { message: 'theirs' });
      h.observe(pods[0] ?? {});
      await settle();
    }
    await h.calls();
    h.rival(pods[1] ?? {}, { message: 'theirs' });
    h.observe(pods[1] ?? {});
    expect(await h.calls()).toEqual(['patch']);
  });

  it('ends a quarantine at once, and also the wait of a pod that was gone', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 422, times: 2 });
    await h.set(pod, { message: 'm' });
    expect(h.manager.explain(uid).phase).toBe('quarantined');
    h.rival(pod, { podIP: '10.0.0.1' });
    h.observe(pod);
    expect(await h.calls()).toEqual(['patch']);
    h.client.failNext('patch', { code: 404 });
    await h.set(pod, { message: 'n' });
    expect(h.manager.explain(uid).phase).toBe('gone');
    h.rival(pod, { podIP: '10.0.0.2' });
    h.observe(pod);
    expect(await h.calls()).toEqual(['patch']);
    expect(h.manager.explain(uid).phase).toBe('in-sync');
  });
});

describe('a mirror pod that appears', () => {
  it('gets the status of its static pod at once, and a flush waits for it', async () => {
    const h = new Harness();
    h.podManager.addPod(staticPod);
    await h.set(staticPod, { message: 'm' });
    expect(await h.manager.flush()).toEqual({ held: [{ podUID: uid, phase: 'no-mirror-pod' }] });
    const mirror = h.publish(mirrorPod('mirror'));
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(mirror).message).toBe('m');
    expect(await h.manager.flush()).toEqual({ held: [] });
  });

  it('gets it too when it replaces another mirror pod', async () => {
    const h = new Harness();
    h.podManager.addPod(staticPod);
    const first = h.publish(mirrorPod('first'));
    await h.set(staticPod, { message: 'm' });
    h.client.store.remove('new', 'foo');
    h.podManager.removePod(first);
    await settle();
    const second = h.publish(mirrorPod('second'));
    expect(await h.calls()).toEqual(['patch']);
    expect(h.apiStatus(second).message).toBe('m');
  });

  it('is written by the drain when it appears just before stop', async () => {
    const h = new Harness();
    h.podManager.addPod(staticPod);
    await h.set(staticPod, { message: 'm' });
    const mirror = h.publish(mirrorPod('mirror'));
    await settle(1);
    expect(await h.manager.stop()).toEqual({ pods: [], underWay: [] });
    expect(h.apiStatus(mirror).message).toBe('m');
  });
});

describe('a pod that is deleted or forgotten', () => {
  it('is finished as soon as the pod manager shows its deletion', async () => {
    const { h, pod } = await inStep();
    h.safety.reclaimed = true;
    const asked = h.client.store.put({ ...h.api(pod), metadata: { ...h.api(pod).metadata, ...deleting } });
    h.manager.setPodStatus(asked, { message: 'ending' });
    h.podManager.updatePod(asked);
    await settle();
    expect(h.client.store.list()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });

  it('loses its entry as soon as the pod manager has forgotten it', async () => {
    const { h, pod } = await inStep();
    h.client.store.remove('new', 'foo');
    h.podManager.removePod(pod);
    expect(h.manager.explain(uid).phase).toBe('gone');
    expect(await h.calls()).toEqual([]);
    expect(h.manager.explain(uid).phase).toBe('unknown');
  });
});

describe('the subscription', () => {
  it('begins with start and ends with stop', async () => {
    let subscribers = 0;
    const podManager = new BasicPodManager();
    const subscribe = podManager.subscribe.bind(podManager);
    podManager.subscribe = (listener) => {
      subscribers++;
      const end = subscribe(listener);
      return () => {
        subscribers--;
        end();
      };
    };
    const h = new Harness({ podManager, started: false });
    expect(subscribers).toBe(0);
    h.manager.start();
    expect(subscribers).toBe(1);
    await h.manager.stop();
    expect(subscribers).toBe(0);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['returns nothing', () => undefined],
    [
      'returns a function that throws',
      () => () => {
        throw new Error('no');
      },
    ],
  ])('leaves changes to the batch when it %s', async (_, subscribe) => {
    const podManager = Object.assign(new BasicPodManager(), { subscribe });
    const unhandled = await unhandledRejectionsOf(async () => {
      const { h, pod } = await inStep({ podManager });
      h.rival(pod, { message: 'theirs' });
      h.observe(pod);
      expect(await h.calls()).toEqual([]);
      expect(await h.batch()).toEqual(['patch']);
      await h.manager.stop();
    });
    expect(unhandled).toEqual([]);
  });

  it('ignores wrong arguments, and calls at any time', async () => {
    let tell: (podUID: unknown) => void = () => {};
    const podManager = Object.assign(new BasicPodManager(), {
      subscribe: (listener: (podUID: unknown) => void) => {
        tell = listener;
        return () => {};
      },
    });
    const { h } = await inStep({ podManager });
    for (const told of [undefined, null, 5, {}, '', 'unknown-uid', uid, uid]) tell(told);
    expect(await h.calls()).toEqual([]);
    await h.manager.stop();
    tell(uid);
    await settle();
    expect([await h.calls(), h.clock.pendingTimers]).toEqual([[], 0]);
  });

  it('yields to the event loop after every 200 pods', async () => {
    const h = new Harness();
    const pods = Array.from({ length: 500 }, (_, n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'ours' });
    await settle(60);
    h.client.clearActions();
    h.client.hold();
    for (const pod of pods) h.rival(pod, { message: 'theirs' });
    const looked = new Set<string>();
    const getPodByUID = h.podManager.getPodByUID.bind(h.podManager);
    h.podManager.getPodByUID = (podUID) => {
      looked.add(podUID);
      return getPodByUID(podUID);
    };
    for (const pod of pods) h.observe(pod);
    looked.clear();
    const seen: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      await settle(1);
      seen.push(looked.size);
    }
    expect([...new Set(seen.filter((count) => count > 0))]).toEqual([200, 400, 500]);
  });
});
