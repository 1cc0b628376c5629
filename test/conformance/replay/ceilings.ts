import { type Rule, rules } from './replay-rules.ts';

/** The largest share of the pairs of which a rule may excuse something, for each rule and for all of them together. */
export type Ceilings = Readonly<Record<Rule | 'all', number>>;

/** A rule whose ceiling is above 0 may always excuse this many pairs: a small file may be about that rule alone. */
const pairsAtLeast = 50;

export interface Excess {
  readonly rule: Rule | 'all';
  readonly pairs: number;
  readonly atMost: number;
}

/** How many pairs a ceiling allows. A ceiling of 0 allows none: the rule is off. */
export function pairsAllowed(ceiling: number, pairs: number): number {
  return ceiling === 0 ? 0 : Math.max(pairsAtLeast, Math.floor(ceiling * pairs));
}

/** The rules that have excused more than their ceilings allow. */
export function excesses(
  ceilings: Ceilings,
  {
    pairs,
    exempt,
    exemptPairs,
  }: { readonly pairs: number; readonly exempt: ReadonlyMap<Rule, number>; readonly exemptPairs: number },
): Excess[] {
  const names = Object.keys(rules) as Rule[];
  const counted: [Rule | 'all', number][] = [
    ...names.map((rule) => [rule, exempt.get(rule) ?? 0] as [Rule, number]),
    ['all', exemptPairs],
  ];
  return counted
    .map(([rule, count]) => ({ rule, pairs: count, atMost: pairsAllowed(ceilings[rule], pairs) }))
    .filter(({ pairs: count, atMost }) => count > atMost);
}
