import { callGuarded, ignoreFailure } from './guard.ts';

/** The same source of random numbers, which answers 0.5 where that one throws or answers no number from 0 to 1. */
export function safeRandom(random: () => number): () => number {
  return () => {
    const value = callGuarded(random, ignoreFailure);
    return typeof value === 'number' && value >= 0 && value <= 1 ? value : 0.5;
  };
}
