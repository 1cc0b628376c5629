// Behaviour of pkg/scheduler/framework/plugins/tainttoleration, v1.36.3.

import type { WireNode, WirePod } from '../../api/json/types.ts';
import { findUntoleratedTaint, isTolerated, type TaintEffect, type Toleration } from '../../api/selectors/taints.ts';
import { stateKey } from '../framework/cycle-state.ts';
import { withSignature } from '../framework/placed-plugin.ts';
import type { Plugin, Rejection } from '../framework/plugin.ts';
import { kept, normalizeScores, refuseArgs, tolerationsText } from './common.ts';

const untolerated: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ['node(s) had untolerated taint(s)'] };
const strictEffects: readonly TaintEffect[] = ['NoSchedule', 'NoExecute'];
const mildEffect: TaintEffect = 'PreferNoSchedule';

/** The pod's tolerations that may stand against taints of the mild effect. */
class MildTolerations {
  readonly tolerations: readonly Toleration[];

  constructor(tolerations: readonly Toleration[]) {
    this.tolerations = tolerations;
  }

  clone(): MildTolerations {
    return this;
  }
}

const key = stateKey<MildTolerations>('TaintToleration');

/** Rejects nodes with a taint that the pod does not tolerate, and prefers nodes with few taints of effect PreferNoSchedule. No arguments. */
export function taintToleration(args?: unknown): Plugin {
  refuseArgs('TaintToleration', args);
  const plugin: Plugin = {
    name: 'TaintToleration',
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (pod, before, after) =>
          isShut(pod, before as WireNode | undefined) && !isShut(pod, after as WireNode | undefined) ? 'Queue' : 'Skip',
      },
      {
        resource: 'Pod',
        actions: ['UpdatePodToleration'],
        hint: (pod, _before, after) => ((after as WirePod | undefined)?.metadata?.uid === pod.metadata?.uid ? 'Queue' : 'Skip'),
      },
    ],
    filter: (_state, { pod: { spec } }, { node }) =>
      findUntoleratedTaint(node.spec?.taints, spec?.tolerations, strictEffects) === undefined ? undefined : untolerated,
    preScore(state, { pod: { spec } }) {
      const mild = (spec?.tolerations ?? []).filter(({ effect }) => !effect || effect === mildEffect);
      state.write(key, new MildTolerations(mild));
      return undefined;
    },
    score: (state, _pod, { node }) => countUntolerated(node, kept(state, key).tolerations),
    normalizeScores: (_state, _pod, scores) => normalizeScores(scores, { reverse: true }),
  };
  return withSignature(plugin, tolerationsText);
}

/** True for a node that is not there, too. */
function isShut(pod: WirePod, node: WireNode | undefined): boolean {
  return node === undefined || findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, strictEffects) !== undefined;
}

function countUntolerated({ spec }: WireNode, tolerations: readonly Toleration[]): number {
  let count = 0;
  for (const taint of spec?.taints ?? []) {
    if (taint.effect === mildEffect && !isTolerated(taint, tolerations)) count += 1;
  }
  return count;
}
