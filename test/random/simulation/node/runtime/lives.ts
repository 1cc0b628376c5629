import type { Prng } from '../../../chaos/prng.ts';

/** What becomes of a container that has started, unless it is killed earlier. */
export interface Life {
  /** Infinity: it goes on until it is told to end. */
  readonly runMs: number;
  readonly exitCode: number;
  /** What it does when it is told to end; undefined: nothing, so that it has to be killed. */
  readonly onTerm: { readonly afterMs: number; readonly exitCode: number } | undefined;
  /** From when on its probes say so. */
  readonly readyAfterMs: number;
  readonly sickAfterMs: number;
}

export type Character = 'steady' | 'job' | 'crashing' | 'init';

type Run = 'forever' | 'long' | 'short' | 'fails';

const runs: Readonly<Record<Character, Readonly<Record<Run, number>>>> = {
  steady: { forever: 10, long: 3, short: 0, fails: 1 },
  job: { forever: 0, long: 2, short: 5, fails: 3 },
  crashing: { forever: 1, long: 0, short: 2, fails: 8 },
  init: { forever: 0, long: 0, short: 7, fails: 2 },
};

/** The life of one container. `isCalm`: nothing new goes wrong any more. */
export function drawLife(prng: Prng, character: Character, isCalm: boolean): Life {
  const kind = prng.weighted<Run>(runs[character]);
  const runMs = {
    forever: Number.POSITIVE_INFINITY,
    long: prng.between(20_000, 200_000),
    short: prng.between(100, 8000),
    fails: prng.between(0, 15_000),
  };
  const isSick = character !== 'init' && prng.chance(0.15);
  return {
    runMs: runMs[kind],
    exitCode: kind === 'fails' ? (prng.pick([1, 2, 127, 137]) ?? 1) : 0,
    onTerm: prng.chance(0.25)
      ? undefined
      : { afterMs: prng.chance(0.7) ? prng.between(0, 800) : prng.between(500, 25_000), exitCode: prng.pick([0, 143, 1]) ?? 0 },
    readyAfterMs: prng.chance(0.5) ? 0 : prng.between(0, 20_000),
    sickAfterMs: isSick && !isCalm ? prng.between(2000, 60_000) : Number.POSITIVE_INFINITY,
  };
}
