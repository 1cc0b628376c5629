// Behaviour of pkg/scheduler/framework/plugins/podtopologyspread, v1.36.3.

import { isDeepStrictEqual } from 'node:util';
import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import { noSignature, type PlacedAnswers, withSignature } from '../../framework/placed-plugin.ts';
import type { ClusterEventWithHint, Plugin, PluginFactory, PluginHandle, QueueingHint } from '../../framework/plugin.ts';
import { kept } from '../common.ts';
import { PlacedSpread } from './placed-spread.ts';
import {
  defaultSelector,
  hasTopologyKeys,
  ownConstraints,
  parseConstraint,
  type SpreadConstraint,
  selectingObjects,
  spreadDefaults,
  type WhenUnsatisfiable,
} from './spread-constraint.ts';
import { KnownDomains, SpreadCounts } from './spread-counts.ts';
import { SpreadScores } from './spread-scores.ts';

const countsKey = stateKey<SpreadCounts>('PodTopologySpread counts');
const scoresKey = stateKey<SpreadScores>('PodTopologySpread scores');
const placedKey = stateKey<PlacedSpread>('PodTopologySpread scores by places');

/** Makes the plugin that spreads pods over topology domains, by a pod's `topologySpreadConstraints` or the profile's defaults. */
export const createPodTopologySpread: PluginFactory = (args, handle) => podTopologySpread(args, handle, Math.round);

/** `round` makes scores whole numbers: v1.22 cut them. */
export function podTopologySpread(args: unknown, handle: PluginHandle, round: (score: number) => number): Plugin {
  const defaults = spreadDefaults(args);
  const known = new KnownDomains();
  const selecting = selectingObjects(handle);
  const constraintsOf = (pod: WirePod, kind: WhenUnsatisfiable): readonly SpreadConstraint[] => {
    if (hasOwn(pod)) return ownConstraints(pod, kind);
    const given = defaults.constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind);
    if (given.length === 0) return [];
    const selector = defaultSelector(pod, selecting);
    return selector.matchesAll ? [] : given.map((constraint) => parseConstraint(constraint, selector));
  };
  const answers: PlacedAnswers = {
    filter: (state, places) => state.read(countsKey)?.byPlace(places),
    preScore(state, pod, at, places) {
      const constraints = constraintsOf(pod.pod, 'ScheduleAnyway');
      if (constraints.length === 0) return 'skip';
      const needsAllKeys = hasOwn(pod.pod) || !defaults.areSystem;
      const scores = PlacedSpread.of({ pod, constraints, at, places, snapshot: handle.snapshot(), needsAllKeys });
      if (scores === undefined) return undefined;
      state.write(placedKey, scores);
      return 'done';
    },
    score(state) {
      const scores = state.read(placedKey);
      return scores && ((place) => round(scores.score(place)));
    },
  };
  const plugin: Plugin = {
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
    normalizeScores(state, _pod, scores, nodes) {
      const placed = state.read(placedKey);
      if (placed === undefined) kept(state, scoresKey).normalize(scores, nodes);
      else placed.normalize(scores);
    },
  };
  return withSignature(plugin, noSignature, answers);
}

function hasOwn({ spec }: WirePod): boolean {
  return (spec?.topologySpreadConstraints ?? []).length > 0;
}

type ConstraintsOf = (pod: WirePod) => readonly SpreadConstraint[];
type PodHint = (pod: WirePod, before: WirePod | undefined, after: WirePod | undefined) => boolean;

/** What may help a pod that was kept waiting by one of these constraints. */
function spreadEvents(constraintsOf: ConstraintsOf): readonly ClusterEventWithHint[] {
  return [
    {
      resource: 'Pod',
      actions: ['Add', 'UpdatePodLabel', 'UpdatePodToleration', 'Delete'],
      hint: (pod, before, after) => hintOf(podHint(constraintsOf)(pod, before as WirePod, after as WirePod)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'],
      hint: (pod, before, after) => hintOf(nodeMayHelp(constraintsOf(pod), before as WireNode, after as WireNode)),
    },
  ];
}

function hintOf(mayHelp: boolean): QueueingHint {
  return mayHelp ? 'Queue' : 'Skip';
}

/** A pod that is counted comes, goes or changes sides; or the pod itself tolerates what kept its nodes from being counted. */
function podHint(constraintsOf: ConstraintsOf): PodHint {
  return (pod, before, after) => {
    if ([before, after].some((changed) => changed !== undefined && !concerns(changed, pod))) return false;
    const constraints = constraintsOf(pod);
    const matches =
      (changed: WirePod) =>
      ({ selector }: SpreadConstraint) =>
        selector.matches(changed.metadata?.labels);
    if (before === undefined || after === undefined) {
      const changed = before ?? after;
      return changed !== undefined && constraints.some(matches(changed));
    }
    if (after.metadata?.uid === pod.metadata?.uid && hasNewTolerations(before, after)) {
      if (constraints.some(({ honorsTaints }) => honorsTaints)) return true;
    }
    return constraints.some((each) => matches(before)(each) !== matches(after)(each));
  };
}

/** True for the pod itself, and for pods of its namespace that have a node or were promised one. */
function concerns(changed: WirePod, pod: WirePod): boolean {
  if (changed.metadata?.uid === pod.metadata?.uid) return true;
  if (!changed.spec?.nodeName && !changed.status?.nominatedNodeName) return false;
  return changed.metadata?.namespace === pod.metadata?.namespace;
}

function hasNewTolerations(before: WirePod, after: WirePod): boolean {
  return !isDeepStrictEqual(before.spec?.tolerations ?? [], after.spec?.tolerations ?? []);
}

/** A node is counted that was not, or no longer, or in another domain; or its taints change which nodes are counted. */
function nodeMayHelp(constraints: readonly SpreadConstraint[], before?: WireNode, after?: WireNode): boolean {
  const wasCounted = before !== undefined && hasTopologyKeys(before.metadata?.labels, constraints);
  const isCounted = after !== undefined && hasTopologyKeys(after.metadata?.labels, constraints);
  if (wasCounted !== isCounted) return true;
  if (!isCounted || before === undefined) return false;
  const hasMoved = constraints.some(
    ({ topologyKey }) => labelOf(before.metadata?.labels, topologyKey) !== labelOf(after.metadata?.labels, topologyKey),
  );
  return hasMoved || !isDeepStrictEqual(before.spec?.taints ?? [], after.spec?.taints ?? []);
}
