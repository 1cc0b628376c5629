import { Prng } from '../../random/chaos/prng.ts';
import type { Falsified } from './falsify-expect.ts';

/** How many falsehoods are told about each recording, one at a time. */
const liesOfACase = 5;
/** The smallest share of them that a replay must find. */
export const leastShare = 0.95;

export interface LiesTold {
  readonly told: number;
  /** Of all that were told. */
  readonly shareFound: number;
  /** Each as "CASE LIE". */
  readonly missed: readonly string[];
}

export interface Lied<Case, Played> {
  readonly play: (original: Case) => Played | Promise<Played>;
  /** Undefined where there is nothing to falsify. */
  readonly falsify: (original: Case, prng: Prng) => Falsified<Case> | undefined;
  /** What differs; none where ours did what the recording says. */
  readonly judge: (falsified: Case, played: Played) => readonly string[];
}

/** Plays each recording once, and holds what ours did against the recording falsified in one place, five times. */
export async function tellLies<Case extends { readonly name: string }, Played>(
  cases: readonly Case[],
  { play, falsify, judge }: Lied<Case, Played>,
): Promise<LiesTold> {
  const prng = new Prng(11);
  const missed: string[] = [];
  let told = 0;
  for (const original of cases) {
    const played = await play(original);
    for (let i = 0; i < liesOfACase; i++) {
      const falsified = falsify(original, prng);
      if (falsified === undefined) continue;
      told += 1;
      if (judge(falsified.case, played).length === 0) missed.push(`${original.name} ${falsified.lie}`);
    }
  }
  return { told, shareFound: 1 - missed.length / told, missed };
}
