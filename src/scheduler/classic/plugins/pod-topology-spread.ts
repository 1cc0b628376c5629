// Behaviour of pkg/scheduler/framework/plugins/podtopologyspread, v1.22.17, where it is not that of v1.36.3.
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import type { PluginHandle } from '../../framework/handle.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import { podTopologySpread } from '../../plugins/spread/pod-topology-spread.ts';

class Unspread implements StateData<Unspread> {
  clone(): Unspread {
    return this;
  }
}

const unspreadKey = stateKey<Unspread>('PodTopologySpread, nothing to spread');

/** Spreads pods over topology domains. A pod that nothing asks to spread scores 100 everywhere; scores are cut, not rounded. */
export function classicPodTopologySpread(spreadsByDefault: boolean, handle: PluginHandle): Plugin {
  const modern = podTopologySpread({ defaultingType: spreadsByDefault ? 'System' : 'List' }, handle, Math.trunc);
  return {
    ...modern,
    preScore(state, pod, nodes) {
      if (modern.preScore?.(state, pod, nodes) === 'skip') state.write(unspreadKey, new Unspread());
      return undefined;
    },
    score: (state, pod, node) => (state.read(unspreadKey) === undefined ? (modern.score?.(state, pod, node) ?? 0) : 0),
    normalizeScores(state, pod, scores, nodes) {
      if (state.read(unspreadKey) === undefined) modern.normalizeScores?.(state, pod, scores, nodes);
      else scores.fill(maxNodeScore);
    },
  };
}
