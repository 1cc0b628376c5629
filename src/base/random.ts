import { callGuarded, ignoreFailure } from './guard.ts';

/** The same source of random numbers. Where it throws, or returns no number from 0 to 1, the answer is 0.5. */
export function safeRandom(random: () => number): () => number {
  return () => {
    const value = callGuarded(random, ignoreFailure);
    return typeof value === 'number' && value >= 0 && value <= 1 ? value : 0.5;
  };
}
