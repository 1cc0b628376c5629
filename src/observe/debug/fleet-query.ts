import type { DebugFleetNodeRow } from './debug-fleet-api.ts';
import { needOf } from './fleet-words.ts';
import { compareTexts, isTroubleAsked } from './pod-table.ts';

/** Which nodes of a fleet are shown, and in which order. */
export interface FleetQuery {
  /** Each of these words is part of the name, of the owner or of the shard. */
  readonly words: readonly string[];
  /** Empty: all of them. */
  readonly states: readonly string[];
  readonly trouble: boolean;
  readonly sort: FleetSortKey;
  readonly descending: boolean;
  readonly from: number;
  readonly count: number;
}

/** By `need` what wants somebody comes first, then what moves. */
export const fleetSortKeys = ['need', 'name', 'shard', 'owner', 'state', 'since'] as const;
export type FleetSortKey = (typeof fleetSortKeys)[number];

const wordsAtMost = 20;
const countAtMost = 500;

/** Undefined for one with more than 20 words or states. */
export function fleetQueryOf(query: URLSearchParams, count = 100): FleetQuery | undefined {
  const words = new Set((query.get('filter') ?? '').toLowerCase().split(/\s/));
  words.delete('');
  const states = new Set(query.getAll('state'));
  if (Math.max(words.size, states.size) > wordsAtMost) return undefined;
  const sort = query.get('sort') ?? '';
  return {
    words: [...words],
    states: [...states],
    trouble: isTroubleAsked(query),
    sort: fleetSortKeys.find((key) => key === sort.replace(/^-/, '')) ?? 'need',
    descending: sort.startsWith('-'),
    from: numberOf(query.get('from'), 0, Number.MAX_SAFE_INTEGER),
    count: numberOf(query.get('count'), count, Math.max(count, countAtMost)),
  };
}

function numberOf(text: string | null, fallback: number, most: number): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Math.min(Number(text), most) : fallback;
}

/** The rows that pass, in order. */
export function selected(rows: readonly DebugFleetNodeRow[], query: FleetQuery): DebugFleetNodeRow[] {
  const { words, states, trouble, sort, descending } = query;
  const passes = (row: DebugFleetNodeRow): boolean => {
    if (trouble && needOf(row) > 1) return false;
    if (states.length > 0 && !states.includes(row.state)) return false;
    if (words.length === 0) return true;
    const text = `${row.nodeName} ${row.owner ?? ''} shard-${row.shard}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const compare = comparisons[sort];
  const sign = descending ? -1 : 1;
  return rows.filter(passes).sort((a, b) => sign * compare(a, b) || compareTexts(a.nodeName, b.nodeName));
}

const comparisons: Readonly<Record<FleetSortKey, (a: DebugFleetNodeRow, b: DebugFleetNodeRow) => number>> = {
  need: (a, b) => needOf(a) - needOf(b),
  name: (a, b) => compareTexts(a.nodeName, b.nodeName),
  shard: (a, b) => a.shard - b.shard,
  owner: (a, b) => compareTexts(a.owner ?? '', b.owner ?? ''),
  state: (a, b) => compareTexts(a.state, b.state),
  // the younger one first is what one expects of an age that ascends
  since: (a, b) => (b.since ?? 0) - (a.since ?? 0),
};
