import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../src/api/json/types.ts';
import { podConfigMapNames, podSecretNames } from '../../../src/object-managers.ts';
import type { KindCase } from '../kinds/case-kind.ts';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';

/** What the kubelet finds in one pod: names in order, each once. */
export interface RefNamesCase extends KindCase {
  readonly pod: Pod;
  readonly out: { readonly secrets: readonly string[]; readonly configMaps: readonly string[] };
}

export const refNamesKind = replayedKind({
  problem: refNamesCaseProblem,
  play: playRefNames,
  judge: judgeRefNames,
  falsify: falsifyOut,
});

function refNamesCaseProblem(value: unknown): string | undefined {
  const { pod, out } = value as Partial<RefNamesCase>;
  if (typeof pod !== 'object' || pod === null) return 'a refNames case without a pod';
  return typeof out === 'object' && out !== null ? undefined : 'a refNames case without an outcome';
}

export function playRefNames({ pod }: RefNamesCase): RefNamesCase['out'] {
  return { secrets: [...podSecretNames(pod)].sort(), configMaps: [...podConfigMapNames(pod)].sort() };
}

export function judgeRefNames({ out }: RefNamesCase, got: RefNamesCase['out']): string[] {
  return isDeepStrictEqual(out, got) ? [] : [`out: expected ${JSON.stringify(out)}, got ${JSON.stringify(got)}`];
}
