import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

function pod(uid: string, name = uid, annotations: Record<string, string> = {}, resourceVersion = '1'): Pod {
  return { metadata: { uid, name, namespace: 'default', annotations, resourceVersion } };
}
const staticPod = (uid: string, name: string): Pod => pod(uid, name, { 'kubernetes.io/config.source': 'file' });
const mirrorPod = (uid: string, name: string, resourceVersion?: string): Pod =>
  pod(uid, name, { 'kubernetes.io/config.mirror': 'hash' }, resourceVersion);

let podManager: BasicPodManager;
let told: string[];
beforeEach(() => {
  podManager = new BasicPodManager();
  told = [];
});
const listen = (): (() => void) => podManager.subscribe((podUID) => told.push(podUID));

describe('BasicPodManager.subscribe', () => {
  it("tells a pod's own uid when it is added, replaced and removed, each time after the change", () => {
    const seen: unknown[] = [];
    podManager.subscribe((podUID) => seen.push([podUID, podManager.getPodByUID(podUID)]));
    const [first, second] = [pod('u', 'a'), pod('u', 'a', {}, '2')];
    podManager.addPod(first);
    podManager.updatePod(second);
    podManager.removePod(second);
    const expected = [
      ['u', first],
      ['u', second],
      ['u', undefined],
    ];
    expect(seen).toEqual(expected);
  });

  it("tells the static pod's uid for each change of its mirror pod, after the change", () => {
    const seen: unknown[] = [];
    const pair = staticPod('s', 'a');
    podManager.addPod(pair);
    podManager.subscribe((podUID) => seen.push([podUID, podManager.getMirrorPodByPod(pair)?.metadata?.resourceVersion]));
    podManager.addPod(mirrorPod('m', 'a'));
    podManager.updatePod(mirrorPod('m', 'a', '2'));
    podManager.removePod(mirrorPod('m', 'a'));
    const expected = [
      ['s', '1'],
      ['s', '2'],
      ['s', undefined],
    ];
    expect(seen).toEqual(expected);
  });

  it("tells a mirror pod's own uid while no static pod has its name", () => {
    listen();
    podManager.addPod(mirrorPod('m', 'a'));
    podManager.addPod(staticPod('s', 'a'));
    podManager.removePod(staticPod('s', 'a'));
    podManager.removePod(mirrorPod('m', 'a'));
    expect(told).toEqual(['m', 's', 's', 'm']);
  });

  it('tells nothing when nothing has changed', () => {
    const [held, mirror] = [pod('u', 'a', {}, '10'), mirrorPod('m', 'b', '10')];
    podManager.setPods([held, mirror]);
    listen();
    podManager.updatePod(pod('u', 'a', {}, '9'));
    podManager.addPod(mirrorPod('m', 'b', '9'));
    podManager.addPod(held);
    podManager.replacePod(mirror);
    podManager.removePod(pod('unknown'));
    podManager.removePod(mirrorPod('unknown', 'c'));
    expect(() => podManager.setPods([pod('')])).toThrow();
    expect(told).toEqual([]);
  });

  it('tells once, for a new list, each uid that was there before and each that is there afterwards', () => {
    podManager.setPods([pod('stays'), pod('goes'), staticPod('s1', 'a'), mirrorPod('m1', 'a'), mirrorPod('m2', 'b')]);
    listen();
    podManager.setPods([pod('stays'), pod('comes'), mirrorPod('m1', 'a'), staticPod('s2', 'b'), mirrorPod('m2', 'b')]);
    expect(told.sort()).toEqual(['comes', 'goes', 'm1', 'm2', 's1', 's2', 'stays']);
    expect(podManager.getPodByUID('comes')).toBeDefined();
  });

  it('tells every listener, until its subscription is ended; a second end does nothing', () => {
    const others: string[] = [];
    const end = listen();
    podManager.subscribe((podUID) => others.push(podUID));
    podManager.addPod(pod('u1'));
    end();
    end();
    podManager.addPod(pod('u2'));
    expect([told, others]).toEqual([['u1'], ['u1', 'u2']]);
  });

  it('takes a function that is subscribed twice for two subscriptions', () => {
    const listener = (podUID: string): void => void told.push(podUID);
    const end = podManager.subscribe(listener);
    podManager.subscribe(listener);
    podManager.addPod(pod('u1'));
    end();
    podManager.addPod(pod('u2'));
    expect(told).toEqual(['u1', 'u1', 'u2']);
  });

  it('lets a listener subscribe and end subscriptions while it is called', () => {
    const ends: (() => void)[] = [];
    ends.push(
      podManager.subscribe((podUID) => {
        told.push(`first ${podUID}`);
        for (const end of ends) end();
        podManager.subscribe((later) => told.push(`late ${later}`));
      }),
    );
    ends.push(podManager.subscribe((podUID) => told.push(`second ${podUID}`)));
    podManager.setPods([pod('u1'), pod('u2')]);
    expect(told).toEqual(['first u1']);
    podManager.addPod(pod('u3'));
    expect(told).toEqual(['first u1', 'late u3']);
  });

  it('is harmed by no listener that throws or rejects', async () => {
    const unhandled = await unhandledRejectionsOf(() => {
      podManager.subscribe(() => {
        throw new Error('mistake');
      });
      podManager.subscribe(async () => {
        throw new Error('mistake');
      });
      listen();
      podManager.addPod(pod('u'));
    });
    expect([told, unhandled]).toEqual([['u'], []]);
  });

  it.each([undefined, null, 'listener', {}])('refuses the listener %j', (listener) => {
    const subscribe = (): unknown => podManager.subscribe(listener as unknown as () => void);
    expect(subscribe).toThrow('Expected `listener` to be a function');
    expect(subscribe).toThrow(expect.toSatisfy((error: unknown) => isStatusManagerError(error, 'ERR_INVALID_ARGUMENT')));
  });
});

describe('BasicPodManager.replacePod', () => {
  it.each([
    ['pod', pod('u', 'a', {}, '10'), pod('u', 'a', {}, '9')],
    ['mirror pod', mirrorPod('u', 'a', '10'), mirrorPod('u', 'a', '9')],
  ])('takes an older copy of a %s, and tells', (_kind, held, older) => {
    podManager.addPod(held);
    listen();
    const found = (): unknown => podManager.getPodByUID('u') ?? podManager.getMirrorPodByPod(held);
    podManager.updatePod(older);
    expect([found(), told]).toEqual([held, []]);
    podManager.replacePod(older);
    expect([found(), told]).toEqual([older, ['u']]);
  });

  it('adds a pod that is not held, and refuses one without a uid', () => {
    podManager.replacePod(pod('u'));
    expect(podManager.getPodByUID('u')).toBeDefined();
    expect(() => podManager.replacePod({})).toThrow('Expected `pod.metadata.uid` to be a non-empty string');
  });
});
