import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from './falsify-expect.ts';

/** Changes, drops or adds one member somewhere in what is said to have come out. */
export function falsifyOut<Case extends { readonly out: unknown }>(original: Case, prng: Prng): Falsified<Case> {
  const out = structuredClone(original.out);
  const lie = tellLie(out as Holder, prng);
  return { case: { ...original, out }, lie };
}
