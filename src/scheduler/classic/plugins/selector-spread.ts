// Behaviour of pkg/scheduler/framework/plugins/selectorspread, v1.22.17.
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import { type StateData, stateKey } from '../../framework/cycle-state.ts';
import type { PluginHandle } from '../../framework/handle.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { zoneKeyOf } from '../../nodes/zone.ts';
import { countMatching } from '../../plugins/spread/count-matching.ts';
import { defaultSelector } from '../../plugins/spread/default-selector.ts';

/** How much the zones count, where nodes have them; the rest is the nodes' own part. */
const zoneShare = 2 / 3;

interface Selected extends StateData<Selected> {
  readonly selector: LabelSelector;
}

const selectedKey = stateKey<Selected>('SelectorSpread');

/** Spreads the pods of one service or controller over nodes and zones. A pod with spread constraints of its own scores 0 everywhere. */
export function selectorSpread(handle: PluginHandle): Plugin {
  return {
    name: 'SelectorSpread',
    eventsToRegister: () => [],
    preScore(state, pod) {
      if (spreadsItself(pod)) return undefined;
      const selected: Selected = { selector: defaultSelector(pod.pod, handle.listers), clone: () => selected };
      state.write(selectedKey, selected);
      return undefined;
    },
    score(state, { namespace }, { pods }) {
      const selected = state.read(selectedKey);
      return selected === undefined ? 0 : countMatching(pods, selected.selector, namespace);
    },
    normalizeScores(_state, pod, scores, nodes) {
      if (spreadsItself(pod)) return;
      const spread = spreadOverZones(
        scores,
        nodes.map(({ node }) => zoneKeyOf(node)),
      );
      for (const [index, score] of spread.entries()) scores[index] = score;
    },
  };
}

/** Scores from numbers of pods, and the zone of each node; empty text is no zone. */
function spreadOverZones(pods: readonly number[], zones: readonly string[]): number[] {
  const podsByZone = new Map<string, number>();
  for (const [index, zone] of zones.entries()) {
    if (zone !== '') podsByZone.set(zone, (podsByZone.get(zone) ?? 0) + (pods[index] ?? 0));
  }
  const mostOnNode = Math.max(0, ...pods);
  const mostInZone = Math.max(0, ...podsByZone.values());
  return pods.map((count, index) => {
    const own = share(count, mostOnNode);
    const inZone = podsByZone.get(zones[index] ?? '');
    return Math.trunc(inZone === undefined ? own : own * (1 - zoneShare) + zoneShare * share(inZone, mostInZone));
  });
}

function share(count: number, most: number): number {
  return most > 0 ? maxNodeScore * ((most - count) / most) : maxNodeScore;
}

function spreadsItself({ pod }: PodInfo): boolean {
  return (pod.spec?.topologySpreadConstraints ?? []).length > 0;
}
