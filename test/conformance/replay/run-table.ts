import { isDeepStrictEqual } from 'node:util';
import {
  applyPodStatusPatch,
  BasicPodManager,
  createPodStatusPatch,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  isMirrorPod,
  isStaticPod,
  type Pod,
  type PodStatus,
  type PodStatusPatch,
  type WirePod,
} from '../../../src/index.ts';
import { pruned } from './canonical.ts';
import { evaluateMore, type MoreInput } from './more-functions.ts';
import type { TableCase } from './replay-scenario.ts';

export interface TableResult {
  readonly expected: unknown;
  readonly got: unknown;
}

interface TableInput extends MoreInput {
  readonly uid: string;
  readonly conditions?: NonNullable<PodStatus['conditions']>;
  readonly containerStatuses?: NonNullable<PodStatus['containerStatuses']>;
  readonly patch: unknown;
  readonly steps: readonly { readonly op: string; readonly pod?: WirePod; readonly pods?: readonly WirePod[] }[];
}

/** Evaluates one recorded call; undefined when ours agrees with it. */
export function runTable(table: TableCase): TableResult | undefined {
  const input = table.in as unknown as TableInput;
  const [expected, got] = evaluate(table.fn, input, table.out);
  return isDeepStrictEqual(pruned(expected), pruned(got)) ? undefined : { expected, got };
}

function evaluate(fn: string, input: TableInput, out: unknown): [unknown, unknown] {
  const { pod, old, conditions, containerStatuses, phase } = input;
  switch (fn) {
    case 'createPodStatusPatch': {
      const patch = createPodStatusPatch(old, input.new, { uid: input.uid });
      return [outcomeOf(old, strategic(out)), outcomeOf(old, patch)];
    }
    case 'applyPodStatusPatch':
      return [isRefusal(out) ? 'refused' : out, outcomeOf(old, strategic(input.patch))];
    case 'generateContainersReadyCondition':
      return [out, generateContainersReadyCondition(pod, old, containerStatuses, phase)];
    case 'generatePodReadyCondition':
      return [out, generatePodReadyCondition(pod, old, conditions, containerStatuses, phase)];
    case 'generatePodInitializedCondition':
      return [out, generatePodInitializedCondition(pod, old, containerStatuses, phase)];
    case 'podManager':
      return [out, podManagerViews(input.steps, out as readonly PodManagerView[])];
    default:
      return [out, evaluateMore(fn, input)];
  }
}

function strategic(body: unknown): PodStatusPatch {
  return { type: 'application/strategic-merge-patch+json', body };
}

function isRefusal(out: unknown): boolean {
  return typeof out === 'object' && out !== null && 'error' in out;
}

/** A patch is compared by what it does. */
function outcomeOf(status: PodStatus, patch: PodStatusPatch): unknown {
  try {
    return applyPodStatusPatch(status, patch);
  } catch {
    return 'refused';
  }
}

interface PodManagerView {
  readonly podToMirror: Readonly<Record<string, string>>;
}

function podManagerViews(steps: TableInput['steps'], expected: readonly PodManagerView[]): unknown[] {
  const manager = new BasicPodManager();
  const seen = new Map<string, Pod>();
  return steps.map(({ op, pod, pods = [] }, index) => {
    for (const each of pod === undefined ? pods : [pod]) seen.set(each.metadata?.uid ?? '', each);
    if (op === 'setPods') manager.setPods(pods);
    else if (pod !== undefined && (op === 'addPod' || op === 'updatePod' || op === 'removePod')) manager[op](pod);
    return podManagerView(manager, seen, expected[index]);
  });
}

function podManagerView(manager: BasicPodManager, seen: ReadonlyMap<string, Pod>, expected: PodManagerView | undefined): unknown {
  const { allPods, allMirrorPods, orphanedMirrorPodFullnames } = manager.getPodsAndMirrorPods();
  const { podToMirror, mirrorToPod } = manager.getUIDTranslations();
  return {
    pods: uids(manager.getPods()),
    allPods: uids(allPods),
    mirrorPods: uids(allMirrorPods),
    orphanedMirrorPodFullNames: [...orphanedMirrorPodFullnames].sort(),
    podToMirror: withUpstreamsPick(podToMirror, mirrorToPod, expected),
    mirrorToPod: Object.fromEntries(mirrorToPod),
    perPod: Object.fromEntries([...seen].map(([uid, pod]) => [uid, podManagerPod(manager, uid, pod)])),
  };
}

/** When a static pod has several known mirror pods, upstream names any of them, by the order of its map. */
function withUpstreamsPick(
  podToMirror: ReadonlyMap<string, string>,
  mirrorToPod: ReadonlyMap<string, string>,
  expected: PodManagerView | undefined,
): Record<string, string> {
  const picked = [...podToMirror].map(([pod, mirror]): [string, string] => {
    const other = expected?.podToMirror[pod];
    return [pod, other !== undefined && mirrorToPod.get(other) === pod && mirrorToPod.get(mirror) === pod ? other : mirror];
  });
  return Object.fromEntries(picked);
}

function podManagerPod(manager: BasicPodManager, uid: string, pod: Pod): unknown {
  const { namespace = '', name = '' } = pod.metadata ?? {};
  const view = {
    translated: manager.translatePodUID(uid),
    isStatic: isStaticPod(pod),
    isMirror: isMirrorPod(pod),
    byUID: manager.getPodByUID(uid)?.metadata?.uid,
    byName: manager.getPodByName(namespace, name)?.metadata?.uid,
    mirrorPod: manager.getMirrorPodByPod(pod)?.metadata?.uid,
    podByMirror: manager.getPodByMirrorPod(pod)?.metadata?.uid,
  };
  return JSON.parse(JSON.stringify(view));
}

function uids(pods: readonly Pod[]): string[] {
  return pods.map((pod) => pod.metadata?.uid ?? '').sort();
}
