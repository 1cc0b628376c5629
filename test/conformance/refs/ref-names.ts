import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../src/api/json/types.ts';
import { podConfigMapNames, podSecretNames } from '../../../src/object-managers.ts';
import type { CaseKind, KindCase } from '../kinds/case-kind.ts';

/** What the kubelet finds in one pod: names in order, each once. */
export interface RefNamesCase extends KindCase {
  readonly pod: Pod;
  readonly out: { readonly secrets: readonly string[]; readonly configMaps: readonly string[] };
}

export const refNamesKind: CaseKind<RefNamesCase> = {
  problem: (value) => {
    const { pod, out } = value as Partial<RefNamesCase>;
    if (typeof pod !== 'object' || pod === null) return 'a refNames case without a pod';
    return typeof out === 'object' && out !== null ? undefined : 'a refNames case without an outcome';
  },
  replay: async (recorded) => ({ differences: judgeRefNames(recorded), exemptions: [] }),
};

export function judgeRefNames({ pod, out }: RefNamesCase): string[] {
  const got = { secrets: [...podSecretNames(pod)].sort(), configMaps: [...podConfigMapNames(pod)].sort() };
  return isDeepStrictEqual(out, got) ? [] : [`out: expected ${JSON.stringify(out)}, got ${JSON.stringify(got)}`];
}
