/** A line that names its kind: a recording of one part of the kubelet. */
export interface KindCase {
  readonly kind: string;
  readonly name: string;
}

export interface CaseResult {
  /** What differs, each with its step and members; none where ours did the same. */
  readonly differences: readonly string[];
  /** The rules of docs/divergences that have excused something, each once. */
  readonly exemptions: readonly string[];
}

/** How the cases of one kind are played and judged. */
export interface CaseKind<C extends KindCase = KindCase> {
  /** What is wrong with a line of this kind; undefined when it can be played. */
  problem(value: unknown): string | undefined;
  /** Plays the case with our part, and compares. */
  replay(value: C): Promise<CaseResult>;
}

/** The largest share of a kind's cases of which rules may excuse something. */
export const exemptAtMost = 0.03;
