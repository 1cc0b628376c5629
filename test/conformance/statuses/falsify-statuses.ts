import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from '../kinds/falsify-expect.ts';
import { withoutNulls } from './judge-statuses.ts';
import type { StatusesCase } from './statuses-case.ts';

/** Changes, drops or adds one member somewhere in the status. */
export function falsifyStatuses(original: StatusesCase, prng: Prng): Falsified<StatusesCase> {
  const status = withoutNulls(original.out.status) as Holder;
  const lie = tellLie(status, prng);
  return { case: { ...original, out: { status } }, lie };
}
