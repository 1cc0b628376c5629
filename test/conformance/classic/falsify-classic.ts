import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from '../kinds/falsify-expect.ts';
import type { ClassicCase } from './classic-case.ts';

/** Changes, drops or adds one member somewhere in what the scheduler is said to have done. */
export function falsifyClassic(original: ClassicCase, prng: Prng): Falsified<ClassicCase> {
  const out = structuredClone(original.out);
  const lie = tellLie(out as unknown as Holder, prng);
  return { case: { ...original, out }, lie };
}
