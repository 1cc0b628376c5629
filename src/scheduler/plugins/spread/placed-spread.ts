import type { StateData } from '../../framework/cycle-state.ts';
import { type Domains, type NodePlaces, noDomain } from '../../framework/node-places.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { hostname } from '../common.ts';
import { hasTopologyKeys, inclusionFor, type SpreadConstraint } from './spread-constraint.ts';
import { matchingGroups } from './spread-counts.ts';
import { normalizeSpread, podsByNode } from './spread-scores.ts';

/** The pod whose spread is scored, and the nodes that it fits on. */
interface Spread {
  readonly pod: PodInfo;
  readonly constraints: readonly SpreadConstraint[];
  /** The places of the nodes to score. */
  readonly at: readonly number[];
  readonly places: NodePlaces;
  readonly snapshot: Snapshot;
  /** Nodes that lack a topology key are neither scored nor counted. */
  readonly needsAllKeys: boolean;
}

/** What one constraint adds to the score of a node. */
interface Counted {
  /** The domain of each place. */
  readonly at: Int32Array;
  /** By the number of the domain. */
  readonly byDomain: Float64Array;
  /** By place, where each node is a domain of its own. */
  readonly byPlace: ReadonlyMap<number, number> | undefined;
  /** 1 for each place in it: most nodes have none of the pods, and a look here is cheaper. */
  readonly isThere: Uint8Array;
  /** On all other nodes, in that case. */
  readonly elsewhere: number;
}

/** What `SpreadScores` says, by places: with a number for each domain in place of its name. */
export class PlacedSpread implements StateData<PlacedSpread> {
  readonly #counted: readonly Counted[];
  readonly #at: readonly number[];
  /** Undefined where no node to score is left out. */
  readonly #lacksKey: ((place: number) => boolean) | undefined;

  private constructor(counted: readonly Counted[], at: readonly number[], lacksKey: ((place: number) => boolean) | undefined) {
    this.#counted = counted;
    this.#at = at;
    this.#lacksKey = lacksKey;
  }

  /** Undefined where the domains are not known by their places. */
  static of(spread: Spread): PlacedSpread | undefined {
    const { constraints, at, places, needsAllKeys } = spread;
    const domains: Domains[] = [];
    for (const { topologyKey } of constraints) {
      const found = places.domains(topologyKey);
      if (found === undefined) return undefined;
      domains.push(found);
    }
    const incomplete = needsAllKeys ? domains.filter(({ isWhole }) => !isWhole) : [];
    const lacks = (place: number): boolean => incomplete.some((each) => each.at[place] === noDomain);
    const scored = incomplete.length > 0 ? at.filter((place) => !lacks(place)) : at;
    const counted = constraints.map((constraint, index) => countedOf(constraint, domains[index] as Domains, scored, spread));
    return new PlacedSpread(counted, at, scored.length === at.length ? undefined : lacks);
  }

  /** The scores do not change in what-if questions. */
  clone(): PlacedSpread {
    return this;
  }

  /** Not rounded yet. */
  score(place: number): number {
    if (this.#lacksKey?.(place)) return 0;
    let score = 0;
    for (const { at, byDomain, byPlace, isThere, elsewhere } of this.#counted) {
      const domain = at[place] as number;
      if (domain === noDomain) continue;
      if (byPlace === undefined) score += byDomain[domain] as number;
      else score += isThere[place] === 1 ? (byPlace.get(place) as number) : elsewhere;
    }
    return score;
  }

  /** Scores in the order of the places that were to be scored. */
  normalize(scores: number[]): void {
    const lacksKey = this.#lacksKey;
    normalizeSpread(scores, lacksKey && ((index) => lacksKey(this.#at[index] as number)));
  }
}

const nobody = new Float64Array(0);
const nowhere = new Uint8Array(0);

function countedOf(constraint: SpreadConstraint, domains: Domains, scored: readonly number[], spread: Spread): Counted {
  const { at } = domains;
  const added = (pods: number, weight: number): number => pods * weight + (constraint.maxSkew - 1);
  if (constraint.topologyKey === hostname) {
    const weight = Math.log(scored.length + 2);
    const byPlace = new Map<number, number>();
    const isThere = new Uint8Array(at.length);
    for (const [name, pods] of podsByNode(constraint, spread.pod.namespace, spread.snapshot)) {
      const place = spread.places.of(name);
      if (place === undefined) continue;
      byPlace.set(place, added(pods, weight));
      isThere[place] = 1;
    }
    return { at, byDomain: nobody, byPlace, isThere, elsewhere: added(0, weight) };
  }
  const isScored = new Uint8Array(domains.names.length);
  let size = 0;
  let hasNameless = false;
  for (const place of scored) {
    const domain = countedDomain(domains, place);
    if (domain === noDomain) hasNameless = true;
    else if (isScored[domain] === 0) {
      isScored[domain] = 1;
      size += 1;
    }
    if (size === domains.names.length && (domains.isWhole || hasNameless)) break;
  }
  const weight = Math.log(size + Number(hasNameless) + 2);
  const byDomain = podsInDomains(constraint, domains, isScored, spread).map((pods) => added(pods, weight));
  return { at, byDomain, byPlace: undefined, isThere: nowhere, elsewhere: 0 };
}

/** Nodes without the label count as one domain, that of an empty value. `noDomain` where no node has that value. */
function countedDomain({ at, numbers }: Domains, place: number): number {
  const domain = at[place] as number;
  return domain === noDomain ? (numbers.get('') ?? noDomain) : domain;
}

/** The pods that the constraint counts, in the domains of the nodes to score. */
function podsInDomains(
  constraint: SpreadConstraint,
  domains: Domains,
  isScored: Uint8Array,
  { pod, constraints, places, snapshot, needsAllKeys }: Spread,
): Float64Array {
  const byDomain = new Float64Array(domains.names.length);
  const includes = inclusionFor(pod.pod);
  const isCounted = ({ node }: NodeInfo): boolean =>
    (!needsAllKeys || hasTopologyKeys(node.metadata?.labels, constraints)) && includes(constraint, node);
  for (const { nodes } of matchingGroups(snapshot.grouped, constraint.selector, pod.namespace)) {
    for (const [nodeName, pods] of nodes) {
      const place = places.of(nodeName);
      if (place === undefined) continue;
      const domain = countedDomain(domains, place);
      if (domain === noDomain || isScored[domain] === 0 || !isCounted(places.nodes[place] as NodeInfo)) continue;
      byDomain[domain] = (byDomain[domain] as number) + pods;
    }
  }
  return byDomain;
}
