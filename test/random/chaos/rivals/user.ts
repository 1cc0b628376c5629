import type { Prng } from '../prng.ts';

/** What a user does to a pod that is there. */
export type UserDeed = 'ask it to end' | 'remove it by force' | 'remove it and make another' | 'remove its mirror';

export function drawUserDeed(prng: Prng): UserDeed {
  return prng.weighted({
    'ask it to end': 55,
    'remove it by force': 15,
    'remove it and make another': 15,
    'remove its mirror': 15,
  });
}
