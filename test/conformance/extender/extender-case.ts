import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import type { ExtenderOptions } from '../../../src/scheduler/extenders/extender-options.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** The uids of the pods of a node that are to end, and how many of them a budget would keep. */
export interface RecordedVictims {
  readonly pods: readonly string[];
  readonly violations: number;
}

/** What an extender was asked, and what was made of its answers. An absent or null list or map is an empty one. */
export interface ExtenderOutcome {
  readonly interested: boolean;
  /** By the verb: the method, the path and the type of the content, a line break, and the body, byte by byte. */
  readonly requests: Readonly<Record<string, string>>;
  /** The verbs whose call ended with an error. */
  readonly failed: readonly string[];
  readonly nodes: readonly string[] | null;
  readonly refused: Readonly<Record<string, string>> | null;
  readonly unresolved: Readonly<Record<string, string>> | null;
  readonly scores: Readonly<Record<string, number>>;
  readonly weight: number;
  readonly victims: Readonly<Record<string, RecordedVictims>>;
}

/** A recording of every question to an extender of one pod. The objects are as a server sends them. */
export interface ExtenderCase extends KindCase {
  readonly extender: Omit<ExtenderOptions, 'urlPrefix'>;
  readonly pod: WirePod;
  readonly nodes: readonly WireNode[];
  /** On nodes. */
  readonly pods: readonly WirePod[];
  readonly victims: Readonly<Record<string, RecordedVictims>>;
  /** By the verb. */
  readonly answers: Readonly<Record<string, { readonly status: number; readonly body: string }>>;
  readonly out: ExtenderOutcome;
}

/** What is wrong with the case; undefined when it can be played. */
export function extenderCaseProblem(value: unknown): string | undefined {
  const { extender, nodes, pod, answers, out } = value as Partial<ExtenderCase>;
  if (typeof extender !== 'object' || extender === null) return 'an extender case without an extender';
  if (!Array.isArray(nodes) || typeof pod !== 'object' || pod === null) return 'an extender case without nodes and a pod';
  if (typeof answers !== 'object' || answers === null) return 'an extender case without answers';
  if (typeof out !== 'object' || out === null) return 'an extender case without an outcome';
  return undefined;
}
