import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { isMirrorPodOf } from '../../../../src/api/pod/pod-identity.ts';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import { BasicPodManager } from '../../../../src/status/pods/basic-pod-manager.ts';
import { Counter, numbered } from '../../../support/counted.ts';

function pod(uid: string, name: string, annotations?: Record<string, string>, resourceVersion?: string): Pod {
  return {
    metadata: {
      uid,
      name,
      namespace: 'default',
      ...(annotations && { annotations }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

const sourceKey = 'kubernetes.io/config.source';
const mirrorAnnotations = { [sourceKey]: 'api', 'kubernetes.io/config.mirror': 'mirror', 'kubernetes.io/config.hash': 'mirror' };
const mirrorPod = pod('mirror-pod-uid', 'mirror-static-pod-name', mirrorAnnotations);
const staticPod = pod('static-pod-uid', 'mirror-static-pod-name', { [sourceKey]: 'file' });
const normalPod = pod('normal-pod-uid', 'normal-pod-name');
const staticFullName = 'mirror-static-pod-name_default';

const annotated = (subject: Pod): Pod => ({
  metadata: { ...subject.metadata, annotations: { ...subject.metadata?.annotations, extra: 'yes' } },
});
const set = (pods: readonly Pod[]) => new Set(pods);

let podManager: BasicPodManager;
beforeEach(() => {
  podManager = new BasicPodManager();
});

describe('BasicPodManager.addPod and updatePod', () => {
  it('keeps a mirror pod among the mirror pods [T-PM-01]', () => {
    podManager.addPod(mirrorPod);
    expect(podManager.getMirrorPodByPod(staticPod)).toBe(mirrorPod);
    const updated = annotated(mirrorPod);
    podManager.updatePod(updated);
    expect(podManager.getMirrorPodByPod(staticPod)).toBe(updated);
    expect(podManager.getPodsAndMirrorPods().allMirrorPods).toEqual([updated]);
    expect(podManager.getPods()).toEqual([]);
    expect(podManager.getPodByUID('mirror-pod-uid')).toBeUndefined();
  });

  it.each([
    ['static', 'T-PM-02', staticPod],
    ['normal', 'T-PM-03', normalPod],
  ])('keeps a %s pod by uid and by full name [%s]', (_kind, _id, subject) => {
    podManager.addPod(subject);
    const updated = annotated(subject);
    podManager.updatePod(updated);
    expect(podManager.getPodByUID(subject.metadata?.uid ?? '')).toBe(updated);
    expect(podManager.getPodByName('default', subject.metadata?.name ?? '')).toBe(updated);
    expect(podManager.getPodByFullName(`${subject.metadata?.name}_default`)).toBe(updated);
    expect(podManager.getPods()).toEqual([updated]);
  });

  it('ignores an older copy of the pod it holds', () => {
    const held = pod('u', 'a', {}, '9007199254740993');
    for (const method of ['addPod', 'updatePod'] as const) {
      podManager.addPod(held);
      podManager[method](pod('u', 'a', {}, '9007199254740992'));
      expect(podManager.getPodByUID('u')).toBe(held);
    }
  });

  it('ignores an older copy of a mirror pod', () => {
    const held = pod('m', 'a', mirrorAnnotations, '10');
    podManager.addPod(held);
    podManager.updatePod(pod('m', 'a', mirrorAnnotations, '9'));
    expect(podManager.getMirrorPodByPod(held)).toBe(held);
  });

  it.each([
    ['a newer copy', '9', '10'],
    ['one of the same version', '9', '9'],
    ['one without a version', '9', undefined],
    ['one whose version is no number', '9', 'x1'],
    ['one after a version that is no number', 'x9', '1'],
  ])('takes %s', (_what, before, after) => {
    podManager.addPod(pod('u', 'a', {}, before));
    const next = pod('u', 'a', {}, after);
    podManager.updatePod(next);
    expect(podManager.getPodByUID('u')).toBe(next);
  });

  it('takes another pod of the same name, whatever its version', () => {
    podManager.addPod(pod('u1', 'a', {}, '10'));
    const recreated = pod('u2', 'a', {}, '9');
    podManager.addPod(recreated);
    expect(podManager.getPodByName('default', 'a')).toBe(recreated);
  });

  it.each([
    ['uid', pod('', 'a')],
    ['name', pod('u', '')],
    ['namespace', { metadata: { uid: 'u', name: 'a' } }],
    ['uid', {}],
  ])('refuses a pod without a %s before anything changes', (field, bad) => {
    podManager.setPods([normalPod]);
    const calls = [
      () => podManager.addPod(bad),
      () => podManager.updatePod(bad),
      () => podManager.removePod(bad),
      () => podManager.setPods([staticPod, bad]),
    ];
    for (const call of calls) {
      expect(call).toThrow(`Expected \`pod.metadata.${field}\` to be a non-empty string`);
      expect(call).toThrow(expect.toSatisfy((error: unknown) => isStatusManagerError(error, 'ERR_INVALID_ARGUMENT')));
    }
    expect(podManager.getPods()).toEqual([normalPod]);
  });
});

describe('BasicPodManager with a mirror pod, its static pod and a normal pod', () => {
  beforeEach(() => podManager.setPods([mirrorPod, staticPod, normalPod]));

  const pair = (subject: Pod) => {
    const { pod: found, mirrorPod: mirror, wasMirror } = podManager.getPodAndMirrorPod(subject);
    return [found, mirror, wasMirror];
  };

  it('answers for the normal pod [T-PM-04]', () => {
    expect(set(podManager.getPods())).toEqual(set([staticPod, normalPod]));
    expect(podManager.translatePodUID('normal-pod-uid')).toBe('normal-pod-uid');
    expect(podManager.getPodByFullName('normal-pod-name_default')).toBe(normalPod);
    expect(podManager.getPodByName('default', 'normal-pod-name')).toBe(normalPod);
    expect(podManager.getPodByUID('normal-pod-uid')).toBe(normalPod);
    expect(podManager.getUIDTranslations()).toEqual({
      podToMirror: new Map([['static-pod-uid', 'mirror-pod-uid']]),
      mirrorToPod: new Map([['mirror-pod-uid', 'static-pod-uid']]),
    });
    expect(podManager.getMirrorPodByPod(normalPod)).toBeUndefined();
    expect(pair(normalPod)).toEqual([normalPod, undefined, false]);
    expect(isMirrorPodOf(normalPod, mirrorPod)).toBe(false);
  });

  it('answers for the static pod [T-PM-05]', () => {
    expect(podManager.translatePodUID('static-pod-uid')).toBe('static-pod-uid');
    expect(podManager.getPodByFullName(staticFullName)).toBe(staticPod);
    expect(podManager.getPodByName('default', 'mirror-static-pod-name')).toBe(staticPod);
    expect(podManager.getPodByUID('static-pod-uid')).toBe(staticPod);
    expect(podManager.getMirrorPodByPod(staticPod)).toBe(mirrorPod);
    expect(pair(staticPod)).toEqual([staticPod, mirrorPod, false]);
    expect(isMirrorPodOf(staticPod, mirrorPod)).toBe(false);
  });

  it('answers for the mirror pod [T-PM-06]', () => {
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('static-pod-uid');
    expect(podManager.getPodByUID('mirror-pod-uid')).toBeUndefined();
    expect(podManager.getMirrorPodByPod(mirrorPod)).toBe(mirrorPod);
    expect(podManager.getPodByMirrorPod(mirrorPod)).toBe(staticPod);
    expect(pair(mirrorPod)).toEqual([staticPod, mirrorPod, true]);
    expect(isMirrorPodOf(mirrorPod, mirrorPod)).toBe(true);
  });

  it('knows every static pod with its mirror pod [T-PM-10]', () => {
    expect([...podManager.getStaticPodToMirrorPodMap()]).toEqual([[staticPod, mirrorPod]]);
    podManager.removePod(mirrorPod);
    expect([...podManager.getStaticPodToMirrorPodMap()]).toEqual([[staticPod, undefined]]);
  });

  const all = () => {
    const { allPods, allMirrorPods, orphanedMirrorPodFullnames } = podManager.getPodsAndMirrorPods();
    expect(podManager.getPods()).toEqual(allPods);
    return { pods: set(allPods), mirrorPods: set(allMirrorPods), orphans: orphanedMirrorPodFullnames };
  };

  it('removes the mirror pod [T-PM-07]', () => {
    podManager.removePod(mirrorPod);
    expect(all()).toEqual({ pods: set([normalPod, staticPod]), mirrorPods: set([]), orphans: [] });
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('mirror-pod-uid');
    expect(podManager.getUIDTranslations().podToMirror).toEqual(new Map([['static-pod-uid', '']]));
  });

  it('removes the static pod, and names the mirror pod it leaves behind [T-PM-08]', () => {
    podManager.removePod(staticPod);
    expect(all()).toEqual({ pods: set([normalPod]), mirrorPods: set([mirrorPod]), orphans: [staticFullName] });
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('static-pod-uid');
  });

  it('removes the normal pod [T-PM-09]', () => {
    podManager.removePod(normalPod);
    expect(all()).toEqual({ pods: set([staticPod]), mirrorPods: set([mirrorPod]), orphans: [] });
  });

  it('forgets everything that a new list does not have', () => {
    podManager.setPods(new Set([normalPod]));
    expect(all()).toEqual({ pods: set([normalPod]), mirrorPods: set([]), orphans: [] });
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('mirror-pod-uid');
    expect(podManager.getUIDTranslations()).toEqual({ podToMirror: new Map(), mirrorToPod: new Map() });
  });

  it('takes a list of the same pods in any order', () => {
    podManager.setPods([normalPod, staticPod, mirrorPod]);
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('static-pod-uid');
  });
});

describe('BasicPodManager.removePod', () => {
  it('leaves the name to a newer pod that has it', () => {
    const [old, recreated] = [pod('u1', 'a'), pod('u2', 'a')];
    podManager.addPod(old);
    podManager.addPod(recreated);
    podManager.removePod(old);
    expect(podManager.getPodByUID('u1')).toBeUndefined();
    expect(podManager.getPodByName('default', 'a')).toBe(recreated);
  });

  it('gives the name back to an earlier pod that is still there, with its mirror pod', () => {
    const ordinary = pod('ordinary', 'mirror-static-pod-name');
    podManager.setPods([staticPod, ordinary]);
    podManager.removePod(ordinary);
    expect(podManager.getPodByFullName(staticFullName)).toBe(staticPod);
    podManager.addPod(mirrorPod);
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('static-pod-uid');
    expect(podManager.getPodsAndMirrorPods().orphanedMirrorPodFullnames).toEqual([]);

    podManager.addPod(ordinary);
    podManager.removePod(ordinary);
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('static-pod-uid');
    podManager.removePod(staticPod);
    expect(podManager.getPodByFullName(staticFullName)).toBeUndefined();
  });

  it('does nothing for a pod it does not have', () => {
    podManager.addPod(normalPod);
    podManager.removePod(staticPod);
    expect(podManager.getPods()).toEqual([normalPod]);
  });
});

describe('BasicPodManager.getUIDTranslations', () => {
  const unchanged = (change: () => void) => {
    const before = podManager.getUIDTranslations();
    change();
    expect(podManager.getUIDTranslations()).toBe(before);
  };
  const changed = (change: () => void) => {
    const before = podManager.getUIDTranslations();
    const copy = { podToMirror: new Map(before.podToMirror), mirrorToPod: new Map(before.mirrorToPod) };
    change();
    expect(podManager.getUIDTranslations()).not.toEqual(copy);
    expect(before).toEqual(copy);
  };

  it('is the same object until something changes', () => {
    unchanged(() => {});
    unchanged(() => podManager.addPod(normalPod));
    changed(() => podManager.addPod(staticPod));
    unchanged(() => podManager.updatePod(annotated(staticPod)));
    changed(() => podManager.addPod(mirrorPod));
    unchanged(() => podManager.updatePod(annotated(mirrorPod)));
    changed(() => podManager.removePod(mirrorPod));
    changed(() => podManager.setPods([]));
  });

  it('notices a pod that becomes static, or stops being so', () => {
    podManager.addPod(normalPod);
    changed(() => podManager.updatePod(pod('normal-pod-uid', 'normal-pod-name', { [sourceKey]: 'file' })));
    changed(() => podManager.updatePod(normalPod));
  });

  it('leads from a static pod to the mirror pod heard of last', () => {
    const newer = pod('newer-mirror-uid', 'mirror-static-pod-name', mirrorAnnotations);
    podManager.setPods([staticPod, mirrorPod]);
    changed(() => podManager.addPod(newer));
    expect(podManager.getUIDTranslations()).toEqual({
      podToMirror: new Map([['static-pod-uid', 'newer-mirror-uid']]),
      mirrorToPod: new Map([
        ['mirror-pod-uid', 'static-pod-uid'],
        ['newer-mirror-uid', 'static-pod-uid'],
      ]),
    });
  });

  it('leads from a mirror pod to the static pod that took the name', () => {
    podManager.setPods([staticPod, mirrorPod]);
    changed(() => podManager.addPod(pod('new-static-uid', 'mirror-static-pod-name', { [sourceKey]: 'file' })));
    expect(podManager.translatePodUID('mirror-pod-uid')).toBe('new-static-uid');
  });

  it('stays right when one of two mirror pods of a static pod is replaced or removed', () => {
    const newer = pod('newer-mirror-uid', 'mirror-static-pod-name', mirrorAnnotations);
    const both = {
      podToMirror: new Map([['static-pod-uid', 'newer-mirror-uid']]),
      mirrorToPod: new Map([
        ['mirror-pod-uid', 'static-pod-uid'],
        ['newer-mirror-uid', 'static-pod-uid'],
      ]),
    };
    podManager.setPods([staticPod, mirrorPod, newer]);
    podManager.updatePod(annotated(mirrorPod));
    expect(podManager.getUIDTranslations()).toEqual(both);
    podManager.removePod(mirrorPod);
    expect(podManager.getUIDTranslations()).toEqual({
      podToMirror: both.podToMirror,
      mirrorToPod: new Map([['newer-mirror-uid', 'static-pod-uid']]),
    });
    podManager.addPod(mirrorPod);
    podManager.removePod(newer);
    expect(podManager.getUIDTranslations()).toEqual({
      podToMirror: new Map([['static-pod-uid', 'mirror-pod-uid']]),
      mirrorToPod: new Map([['mirror-pod-uid', 'static-pod-uid']]),
    });
  });

  it('keeps the same object when an ordinary pod goes', () => {
    podManager.setPods([staticPod, mirrorPod, normalPod]);
    unchanged(() => podManager.removePod(normalPod));
    unchanged(() => podManager.removePod(pod('unknown', 'unknown', { [sourceKey]: 'file' })));
    unchanged(() => podManager.removePod(pod('unknown', 'unknown', mirrorAnnotations)));
  });

  it('answers the same after any changes, asked after each of them or only at the end', () => {
    const kinds = { static: { [sourceKey]: 'file' }, mirror: mirrorAnnotations, normal: {} };
    const anyPod = fc
      .tuple(fc.constantFrom('static', 'mirror', 'normal'), fc.nat(2), fc.constantFrom('a', 'b'))
      .map(([kind, n, name]) => pod(`${kind}-${n}`, name, kinds[kind]));
    const step = fc.record({ op: fc.constantFrom('addPod', 'updatePod', 'replacePod', 'removePod'), pod: anyPod });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const [asked, unasked] = [new BasicPodManager(), new BasicPodManager()];
        for (const { op, pod: subject } of steps) {
          asked[op](subject);
          asked.getUIDTranslations();
          unasked[op](subject);
        }
        expect(asked.getUIDTranslations()).toEqual(unasked.getUIDTranslations());
      }),
      { numRuns: 500 },
    );
  });
});

describe('BasicPodManager, pods that share their full names', () => {
  it('looks at the pods of one name only when the newer one goes, and at each a few times', () => {
    const size = 1000;
    const counter = new Counter();
    const podManager = new BasicPodManager();
    const pods = numbered(2 * size, (i) =>
      counter.reading({ metadata: { uid: `u${i}`, name: `p${i % size}`, namespace: 'd' } }, 'metadata'),
    );
    for (const pod of pods) podManager.addPod(pod);
    const newer = pods.slice(size);
    expect(counter.during(() => newer.forEach((gone) => void podManager.removePod(gone)))).toBeLessThan(60 * size);
    expect(podManager.getPodByName('d', 'p7')).toBe(pods[7]);
  });

  it('hands a name back through several pods, whichever goes first', () => {
    const pod = (uid: string) => ({ metadata: { uid, name: 'p', namespace: 'd' } });
    const [a, b, c] = [pod('a'), pod('b'), pod('c')];
    const podManager = new BasicPodManager();
    for (const each of [a, b, c]) podManager.addPod(each);
    podManager.removePod(b);
    expect(podManager.getPodByName('d', 'p')).toBe(c);
    podManager.removePod(c);
    expect(podManager.getPodByName('d', 'p')).toBe(a);
    podManager.removePod(a);
    expect(podManager.getPodByName('d', 'p')).toBeUndefined();
  });
});
