// Behaviour of pkg/scheduler/framework/plugins/interpodaffinity, v1.36.3.

import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { invalidOption } from '../../../base/errors.ts';
import { optionOfType, requireKnownOptions } from '../../../base/options.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import { stateKey } from '../../framework/cycle-state.ts';
import { noSignature, type PlacedAnswers, withSignature } from '../../framework/placed-plugin.ts';
import type { ClusterEventWithHint, Plugin, PluginFactory, QueueingHint } from '../../framework/plugin.ts';
import { type AffinityTerm, parseAffinityTerm } from '../../nodes/pod-info.ts';
import { kept } from '../common.ts';
import { AffinityCounts, matchesAllTerms, type NamespaceLabels } from './affinity-counts.ts';
import { AffinityScores, prefersPods } from './affinity-scores.ts';

const countsKey = stateKey<AffinityCounts>('InterPodAffinity counts');
const scoresKey = stateKey<AffinityScores>('InterPodAffinity scores');

/** Makes the plugin that keeps pods near the pods that they want, and away from those that they or the others do not want. */
export const createInterPodAffinity: PluginFactory = (args, handle): Plugin => {
  const { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods } = affinityArguments(args);
  const namespaces = handle.objects(resources.namespaces);
  const labelsOf = (name: string) => {
    const namespace = namespaces.get(undefined, name);
    return namespace && (namespace.metadata?.labels ?? {});
  };
  const plugin: Plugin = {
    name: 'InterPodAffinity',
    eventsToRegister: () => affinityEvents(labelsOf),
    preFilter(state, pod, nodes) {
      if (pod.affinityProblem !== undefined) {
        return { code: 'UnschedulableAndUnresolvable', reasons: [`parsing pod: ${pod.affinityProblem}`] };
      }
      const counts = AffinityCounts.of(pod, nodes, labelsOf);
      if (counts === undefined) return 'skip';
      state.write(countsKey, counts);
      return undefined;
    },
    addPod: (state, _toSchedule, pod, { node }) => kept(state, countsKey).change(pod, node, 1),
    removePod: (state, _toSchedule, pod, { node }) => kept(state, countsKey).change(pod, node, -1),
    filter: (state, _pod, { node }) => kept(state, countsKey).rejection(node),
    preScore(state, pod) {
      if (ignorePreferredTermsOfExistingPods && !prefersPods(pod)) return 'skip';
      const scores = AffinityScores.of(pod, hardPodAffinityWeight, handle.snapshot(), labelsOf);
      if (scores === undefined) return 'skip';
      state.write(scoresKey, scores);
      return undefined;
    },
    score: (state, _pod, node) => kept(state, scoresKey).score(node),
    normalizeScores: (state, _pod, scores) => kept(state, scoresKey).normalize(scores),
  };
  return withSignature(plugin, noSignature, placedAnswers);
};

const placedAnswers: PlacedAnswers = {
  filter: (state, places) => state.read(countsKey)?.byPlace(places),
  score: (state, places) => state.read(scoresKey)?.byPlace(places),
};

/** The arguments of the plugin InterPodAffinity, as a profile has them. */
export interface InterPodAffinityArguments {
  /** What a required affinity of a pod that is there adds to the score of a node, from 0 to 100. Default: 1. */
  readonly hardPodAffinityWeight?: number;
  /** Pods that are there do not attract or repel a pod that prefers nothing itself. Default: false. */
  readonly ignorePreferredTermsOfExistingPods?: boolean;
}

const known = ['apiVersion', 'kind', 'hardPodAffinityWeight', 'ignorePreferredTermsOfExistingPods'];

/** The arguments with their defaults. Throws ERR_INVALID_OPTION for arguments that break a rule. */
function affinityArguments(args: unknown): Required<InterPodAffinityArguments> {
  const name = 'InterPodAffinity';
  requireKnownOptions(name, args ?? {}, known);
  const given = (args ?? {}) as InterPodAffinityArguments;
  const weight = given.hardPodAffinityWeight ?? 1;
  if (!Number.isInteger(weight) || weight < 0 || weight > 100) {
    throw invalidOption(`${name}.hardPodAffinityWeight`, 'an integer from 0 to 100', weight);
  }
  const ignores = given.ignorePreferredTermsOfExistingPods ?? false;
  return {
    hardPodAffinityWeight: weight,
    ignorePreferredTermsOfExistingPods: optionOfType(`${name}.ignorePreferredTermsOfExistingPods`, ignores, 'boolean'),
  };
}

interface RequiredTerms {
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

/** What may help a pod that required affinity kept waiting, its own or that of other pods. */
function affinityEvents(labelsOf: NamespaceLabels): readonly ClusterEventWithHint[] {
  const termsOf = rememberedTerms();
  return [
    {
      resource: 'Pod',
      actions: ['Add', 'UpdatePodLabel', 'Delete'],
      hint: (pod, before, after) => hintOf(podMayHelp(termsOf, labelsOf, pod, before as WirePod, after as WirePod)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeLabel'],
      hint: (pod, before, after) => hintOf(nodeMayHelp(termsOf(pod), before as WireNode, after as WireNode)),
    },
  ];
}

function hintOf(mayHelp: boolean): QueueingHint {
  return mayHelp ? 'Queue' : 'Skip';
}

/**
 * A pod comes that is wanted, or goes that is not; or the labels of the pod itself change. As upstream, only a pod counts
 * that matches all terms of an anti-affinity.
 */
function podMayHelp(
  termsOf: (pod: WirePod) => RequiredTerms,
  labelsOf: NamespaceLabels,
  pod: WirePod,
  before?: WirePod,
  after?: WirePod,
): boolean {
  if (before !== undefined && after?.metadata?.uid === pod.metadata?.uid) return true;
  if ([before, after].some((changed) => changed !== undefined && !hasPlace(changed))) return false;
  const { affinity, antiAffinity } = termsOf(pod);
  const isWanted = (other: WirePod) => matchesAllTerms(affinity, other, labelsOf);
  const isUnwanted = (other: WirePod) => matchesAllTerms(antiAffinity, other, labelsOf);
  if (before === undefined) return after !== undefined && isWanted(after);
  if (after === undefined) return isUnwanted(before) || matchesAllTerms(termsOf(before).antiAffinity, pod, labelsOf);
  return (!isWanted(before) && isWanted(after)) || (isUnwanted(before) && !isUnwanted(after));
}

/** True for a pod that has a node, or was promised one. */
function hasPlace({ spec, status }: WirePod): boolean {
  return Boolean(spec?.nodeName || status?.nominatedNodeName);
}

/** A node comes into, or changes, a domain that is wanted; or leaves, or changes, one that is not. */
function nodeMayHelp({ affinity, antiAffinity }: RequiredTerms, before?: WireNode, after?: WireNode): boolean {
  const domains = ({ topologyKey }: AffinityTerm) => ({
    was: labelOf(before?.metadata?.labels, topologyKey),
    is: labelOf(after?.metadata?.labels, topologyKey),
  });
  const mayBeWanted = affinity.some((term) => {
    const { was, is } = domains(term);
    return is !== undefined && was !== is;
  });
  if (mayBeWanted) return true;
  // A new node may be the only one without pods that are not wanted.
  if (before === undefined) return antiAffinity.length > 0;
  return antiAffinity.some((term) => {
    const { was, is } = domains(term);
    return was !== undefined && was !== is;
  });
}

/** The required terms of a pod, read once for each version of it. Throws for a selector that breaks a rule. */
function rememberedTerms(): (pod: WirePod) => RequiredTerms {
  const remembered = new WeakMap<WirePod, RequiredTerms>();
  return (pod) => {
    const known = remembered.get(pod) ?? requiredTerms(pod);
    remembered.set(pod, known);
    return known;
  };
}

function requiredTerms({ metadata, spec }: WirePod): RequiredTerms {
  const read = (member: 'podAffinity' | 'podAntiAffinity') =>
    (spec?.affinity?.[member]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term, index) =>
      parseAffinityTerm(`spec.affinity.${member}[${index}]`, metadata?.namespace ?? '', term),
    );
  return { affinity: read('podAffinity'), antiAffinity: read('podAntiAffinity') };
}
