import type { WirePod } from '../../../../src/index.ts';
import { foreignParts } from '../said/foreign-steps.ts';
import type { Ledger } from '../said/ledger.ts';
import { plain } from '../said/plain-status.ts';
import { ownerOf } from './checker.ts';
import { whatIsWrong } from './landed.ts';

/**
 * Where this pod on the apiserver differs from the agent's last status and from the rivals' last writes; empty: nowhere. For a
 * time when all should have come to rest.
 */
export function outOfStep(pod: WirePod, ledger: Ledger): string[] {
  const { name, uid = '' } = pod.metadata ?? {};
  const owner = ownerOf(pod);
  const newest = ledger.newest(owner);
  if (newest === undefined) return [`${name} (${uid}): the agent has said nothing of it`];
  const mayBeHeldBack = ledger.lifeOf(owner)?.couldRun === true;
  const wrong = whatIsWrong(newest.status, plain(pod.status ?? {}), { before: undefined, mayBeHeldBack });
  const parts = foreignParts(pod);
  for (const key of ledger.foreign.keys) {
    const [is, should] = [parts.get(key), ledger.foreign.of(uid, key).at(-1)];
    if (is !== should) wrong.push(`${key} is ${is ?? 'gone'} instead of ${should ?? 'gone'}`);
  }
  return wrong.map((what) => `${name} (${uid}): ${what}`);
}
