// Behaviour of pkg/scheduler/framework/plugins/podtopologyspread, v1.36.3.
import type { WirePod } from '../../../api/json/types.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import type { PluginFactory, PluginHandle } from '../../framework/handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { kept } from '../common/kept.ts';
import { defaultSelector } from './default-selector.ts';
import { KnownDomains } from './known-domains.ts';
import { spreadDefaults } from './spread-arguments.ts';
import { ownConstraints, parseConstraint, type SpreadConstraint, type WhenUnsatisfiable } from './spread-constraint.ts';
import { SpreadCounts } from './spread-counts.ts';
import { spreadEvents } from './spread-events.ts';
import { SpreadScores } from './spread-scores.ts';

const countsKey = stateKey<SpreadCounts>('PodTopologySpread counts');
const scoresKey = stateKey<SpreadScores>('PodTopologySpread scores');

/** Makes the plugin that spreads pods over topology domains, by a pod's `topologySpreadConstraints` or the profile's defaults. */
export const createPodTopologySpread: PluginFactory = (args, handle) => podTopologySpread(args, handle, Math.round);

/** `round` makes scores whole numbers: v1.22 cut them. */
export function podTopologySpread(args: unknown, handle: PluginHandle, round: (score: number) => number): Plugin {
  const defaults = spreadDefaults(args);
  const known = new KnownDomains();
  const constraintsOf = (pod: WirePod, kind: WhenUnsatisfiable): readonly SpreadConstraint[] => {
    if (hasOwn(pod)) return ownConstraints(pod, kind);
    const given = defaults.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind);
    if (given.length === 0) return [];
    const selector = defaultSelector(pod, handle.listers);
    return selector.matchesAll ? [] : given.map((constraint) => parseConstraint(constraint, selector));
  };
  return {
    name: 'PodTopologySpread',
    eventsToRegister: () => spreadEvents((pod) => constraintsOf(pod, 'DoNotSchedule')),
    preFilter(state, pod, snapshot) {
      const constraints = constraintsOf(pod.pod, 'DoNotSchedule');
      if (constraints.length === 0) return 'skip';
      state.write(countsKey, SpreadCounts.of(pod, constraints, snapshot, known));
      return undefined;
    },
    addPod: (state, toSchedule, pod, { node }) => kept(state, countsKey).change(toSchedule, pod, node, 1),
    removePod: (state, toSchedule, pod, { node }) => kept(state, countsKey).change(toSchedule, pod, node, -1),
    filter: (state, _pod, { node }) => kept(state, countsKey).rejection(node),
    preScore(state, pod, nodes) {
      const snapshot = handle.snapshot();
      const constraints = snapshot.nodes.length === 0 ? [] : constraintsOf(pod.pod, 'ScheduleAnyway');
      if (constraints.length === 0) return 'skip';
      const needsAllKeys = hasOwn(pod.pod) || !defaults.areSystem;
      state.write(scoresKey, SpreadScores.of(pod, constraints, nodes, snapshot, needsAllKeys));
      return undefined;
    },
    score: (state, _pod, node) => round(kept(state, scoresKey).score(node)),
    normalizeScores: (state, _pod, scores, nodes) => kept(state, scoresKey).normalize(scores, nodes),
  };
}

function hasOwn({ spec }: WirePod): boolean {
  return (spec?.topologySpreadConstraints ?? []).length > 0;
}
