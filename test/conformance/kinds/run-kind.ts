import { type CaseKind, exemptAtMost, type KindCase } from './case-kind.ts';

export interface KindResult {
  readonly kind: string;
  readonly cases: number;
  readonly differences: readonly { readonly name: string; readonly says: readonly string[] }[];
  /** The cases of which a rule has excused something, by rule. */
  readonly exempt: ReadonlyMap<string, number>;
  readonly exemptCases: number;
  /** How many cases rules may excuse something of. */
  readonly exemptAtMost: number;
}

/** Plays every case of one kind, one after the other. A case whose replay throws counts as different. */
export async function runKind(kind: string, player: CaseKind, cases: readonly KindCase[]): Promise<KindResult> {
  const differences: { name: string; says: readonly string[] }[] = [];
  const exempt = new Map<string, number>();
  let exemptCases = 0;
  for (const one of cases) {
    try {
      const result = await player.replay(one);
      if (result.differences.length > 0) differences.push({ name: one.name, says: result.differences });
      if (result.exemptions.length > 0) exemptCases += 1;
      for (const rule of new Set(result.exemptions)) exempt.set(rule, (exempt.get(rule) ?? 0) + 1);
    } catch (error) {
      differences.push({ name: one.name, says: [`the replay failed: ${error instanceof Error ? error.stack : String(error)}`] });
    }
  }
  return { kind, cases: cases.length, differences, exempt, exemptCases, exemptAtMost: Math.floor(exemptAtMost * cases.length) };
}

/** True when ours did the same in every case, and the rules excused no more than they may. */
export function agrees({ differences, exemptCases, exemptAtMost: atMost }: KindResult): boolean {
  return differences.length === 0 && exemptCases <= atMost;
}
