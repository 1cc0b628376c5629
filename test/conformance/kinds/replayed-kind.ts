import type { CaseKind, KindCase } from './case-kind.ts';
import { type Lied, type LiesTold, tellLies } from './tell-lies.ts';

/** How the cases of a kind are read, played, judged and falsified. */
export interface KindParts<C extends KindCase, Played> extends Lied<C, Played> {
  readonly problem: CaseKind<C>['problem'];
}

export interface ReplayedKind<C extends KindCase = KindCase> extends CaseKind<C> {
  /** What differs where ours plays `given` and is held against `recorded`. */
  compare(recorded: C, given: C): Promise<readonly string[]>;
  /** How many of the falsehoods about these cases the replay finds. */
  tellLies(cases: readonly C[]): Promise<LiesTold>;
}

/** A kind of recordings in which no difference is excused. */
export function replayedKind<C extends KindCase, Played>({ problem, ...parts }: KindParts<C, Played>): ReplayedKind<C> {
  const compare = async (recorded: C, given: C): Promise<readonly string[]> => parts.judge(recorded, await parts.play(given));
  return {
    problem,
    compare,
    replay: async (recorded) => ({ differences: await compare(recorded, recorded), exemptions: [] }),
    tellLies: (cases) => tellLies(cases, parts),
  };
}
