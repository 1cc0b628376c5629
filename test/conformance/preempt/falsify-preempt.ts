import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from '../kinds/falsify-expect.ts';
import type { PreemptCase } from './preempt-case.ts';

/** Changes, drops or adds one member somewhere in what the scheduler is said to have done. */
export function falsifyPreempt(original: PreemptCase, prng: Prng): Falsified<PreemptCase> {
  const out = structuredClone(original.out);
  const lie = tellLie(out as unknown as Holder, prng);
  return { case: { ...original, out }, lie };
}
