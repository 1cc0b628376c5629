import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { DomainCheck } from './domain-check.ts';
import type { NodePlaces } from './node-places.ts';
import type { Plugin } from './plugin.ts';

/** As `score`. */
export type PlaceScore = (place: number) => number;

/**
 * What a plugin of this library can do in place of its methods where all nodes are those of the snapshot: it answers the same, with less
 * work for each node. Undefined: the method itself is to be asked.
 */
export interface PlacedAnswers {
  /** The first check that rejects a node counts. */
  filter?(state: CycleState, places: NodePlaces): readonly DomainCheck[] | undefined;
  /** `at`: the places of the nodes to score. `done`: the plugin has kept what `score` needs. */
  preScore?(state: CycleState, pod: PodInfo, at: readonly number[], places: NodePlaces): 'skip' | 'done' | undefined;
  score?(state: CycleState, places: NodePlaces): PlaceScore | undefined;
}

interface PlacedPlugin extends Plugin {
  /** Undefined where the plugin has been given other methods since it was made. */
  placedAnswers?(): PlacedAnswers | undefined;
}

type Methods = Pick<Plugin, 'preFilter' | 'filter' | 'preScore' | 'score'>;

/**
 * Gives a plugin its signature, and what it can do by places. An object that has taken these over from the plugin, and has another filter or
 * score, has none: nothing is kept of what it says.
 */
export function withSignature<P extends Plugin>(
  plugin: P,
  signature: (pod: PodInfo) => string | undefined,
  answers?: PlacedAnswers,
): P {
  const { preFilter, filter, preScore, score } = plugin;
  const isSame = (other: Methods): boolean =>
    other.preFilter === preFilter && other.filter === filter && other.preScore === preScore && other.score === score;
  return Object.assign(plugin, {
    signature(this: Plugin, pod: PodInfo): string | undefined {
      return isSame(this) ? signature(pod) : undefined;
    },
    placedAnswers(this: Plugin): PlacedAnswers | undefined {
      return isSame(this) ? answers : undefined;
    },
  });
}

/** The signature of a plugin whose answers are not kept. */
export function noSignature(): undefined {
  return undefined;
}

export function placedAnswersOf(plugin: PlacedPlugin): PlacedAnswers | undefined {
  return plugin.placedAnswers?.();
}
