import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, type Holder, tellLie } from '../kinds/falsify-expect.ts';
import type { ManifestCase } from './manifest-case.ts';

/** One falsehood about what became of the manifest. Of a refusal only the fact is told, so that its words are no place for a lie. */
export function falsifyManifest(original: ManifestCase, prng: Prng): Falsified<ManifestCase> {
  const out = structuredClone(original.out) as unknown as Holder;
  if (original.out.error === undefined) return { lie: tellLie(out, prng), case: falsified(original, out) };
  const lie = prng.pick(['parsed changed', 'error dropped', 'pod added']) ?? '';
  if (lie === 'parsed changed') out.parsed = !out.parsed;
  else if (lie === 'error dropped') delete out.error;
  else out.added = {};
  return { lie, case: falsified(original, out) };
}

function falsified(original: ManifestCase, out: Holder): ManifestCase {
  return { ...original, out: out as unknown as ManifestCase['out'] };
}
