import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/json/types.ts';
import { isMirrorPod, isStaticPod } from '../../src/api/pod/pod-identity.ts';
import { BasicPodManager } from '../../src/status/pods/basic-pod-manager.ts';
import { recordedCalls } from './recorded-tables.ts';

type Step =
  | { readonly op: 'addPod' | 'updatePod' | 'removePod'; readonly pod: Pod }
  | { readonly op: 'setPods'; readonly pods: readonly Pod[] };

const uidOf = (pod: Pod | undefined): string | undefined => pod?.metadata?.uid;
const uids = (pods: readonly Pod[]) => pods.map(uidOf).sort();

/** All that can be asked of the pod manager, about every pod seen so far, in the shape of the recording. */
function view(podManager: BasicPodManager, seen: ReadonlyMap<string, Pod>): View {
  const { allPods, allMirrorPods, orphanedMirrorPodFullnames } = podManager.getPodsAndMirrorPods();
  const { podToMirror, mirrorToPod } = podManager.getUIDTranslations();
  const perPod = Array.from(seen, ([uid, pod]) => {
    const found = {
      byUID: uidOf(podManager.getPodByUID(uid)),
      byName: uidOf(podManager.getPodByName(pod.metadata?.namespace ?? '', pod.metadata?.name ?? '')),
      mirrorPod: uidOf(podManager.getMirrorPodByPod(pod)),
      podByMirror: uidOf(podManager.getPodByMirrorPod(pod)),
    };
    return [
      uid,
      { ...found, translated: podManager.translatePodUID(uid), isStatic: isStaticPod(pod), isMirror: isMirrorPod(pod) },
    ];
  });
  return {
    pods: uids(podManager.getPods()),
    allPods: uids(allPods),
    mirrorPods: uids(allMirrorPods),
    orphanedMirrorPodFullNames: orphanedMirrorPodFullnames.sort(),
    podToMirror: Object.fromEntries(podToMirror),
    mirrorToPod: Object.fromEntries(mirrorToPod),
    perPod: Object.fromEntries(perPod),
  };
}

interface View {
  readonly [question: string]: unknown;
  readonly podToMirror: Readonly<Record<string, string>>;
  readonly mirrorToPod: Readonly<Record<string, string>>;
}

/** Where a static pod has several mirror pods, upstream names a random one: any of them will do. */
function withOurChoice(theirs: View, ours: View): View {
  const choose = ([podUID, mirrorUID]: [string, string]): [string, string] => {
    const our = ours.podToMirror[podUID];
    return [podUID, our !== undefined && theirs.mirrorToPod[our] === podUID ? our : mirrorUID];
  };
  return { ...theirs, podToMirror: Object.fromEntries(Object.entries(theirs.podToMirror).map(choose)) };
}

function replay(steps: readonly Step[]): View[] {
  const podManager = new BasicPodManager();
  const seen = new Map<string, Pod>();
  return steps.map((step) => {
    for (const pod of step.op === 'setPods' ? step.pods : [step.pod]) seen.set(uidOf(pod) ?? '', pod);
    if (step.op === 'setPods') podManager.setPods(step.pods);
    else podManager[step.op](step.pod);
    return view(podManager, seen);
  });
}

describe('BasicPodManager', () => {
  it('answers as upstream after every step of every recorded case', () => {
    const calls = recordedCalls<{ readonly steps: readonly Step[] }, readonly View[]>('podManager');
    expect(calls.length).toBeGreaterThan(0);
    for (const { in: input, out } of calls) {
      const views = replay(input.steps);
      expect(out).toHaveLength(views.length);
      const expected = views.map((ours, i) => withOurChoice(out[i] ?? ours, ours));
      expect(views, JSON.stringify(input)).toEqual(expected);
    }
  });
});
