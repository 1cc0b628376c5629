import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from '../kinds/falsify-expect.ts';
import type { RefNamesCase } from './ref-names.ts';

export function falsifyRefNames(original: RefNamesCase, prng: Prng): Falsified<RefNamesCase> {
  const out = structuredClone(original.out);
  const lie = tellLie(out as unknown as Holder, prng);
  return { case: { ...original, out }, lie };
}
