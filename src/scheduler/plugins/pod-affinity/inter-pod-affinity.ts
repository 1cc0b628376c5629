// Behaviour of pkg/scheduler/framework/plugins/interpodaffinity, v1.36.3.
import { stateKey } from '../../framework/cycle-state.ts';
import type { PluginFactory } from '../../framework/handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { kept } from '../common/kept.ts';
import { affinityArguments } from './affinity-arguments.ts';
import { AffinityCounts } from './affinity-counts.ts';
import { affinityEvents } from './affinity-events.ts';
import { AffinityScores, prefersPods } from './affinity-scores.ts';

const countsKey = stateKey<AffinityCounts>('InterPodAffinity counts');
const scoresKey = stateKey<AffinityScores>('InterPodAffinity scores');

/** Makes the plugin that keeps pods near the pods that they want, and away from those that they or the others do not want. */
export const createInterPodAffinity: PluginFactory = (args, handle): Plugin => {
  const { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods } = affinityArguments(args);
  const labelsOf = (namespace: string) => handle.listers.namespaceLabels(namespace);
  return {
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
};
