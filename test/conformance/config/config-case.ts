import type { WirePod } from '../../../src/api/json/types.ts';
import type { PodUpdate } from '../../../src/node.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** What one step has led to. Members that are empty are left out. */
export interface ConfigOutcome {
  /** In the order in which they came; the pods of a REMOVE by uid. */
  readonly updates?: readonly PodUpdate[];
  /** "TYPE REASON MESSAGE". */
  readonly events?: readonly string[];
  /** The uids that the start-up observer got. */
  readonly watched?: readonly string[];
  /** Of each of the case's sets of sources: whether all sources were seen. */
  readonly seen: readonly boolean[];
}

interface StepArguments {
  source: { readonly source: string };
  set: { readonly source: string; readonly pods?: readonly WirePod[] };
  advance: { readonly seconds: number };
}

export type ConfigStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: ConfigOutcome } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of the kubelet's pod config. */
export interface ConfigCase extends KindCase {
  /** The time of the first step. */
  readonly start: string;
  readonly seenSets: readonly (readonly string[])[];
  readonly steps: readonly ConfigStep[];
}

const ops: readonly string[] = ['source', 'set', 'advance'];

/** What is wrong with the case; undefined when it can be played. */
export function configCaseProblem(value: unknown): string | undefined {
  const { start, seenSets, steps } = value as Partial<ConfigCase>;
  if (Number.isNaN(Date.parse(String(start)))) return 'a config case without a start';
  if (!Array.isArray(seenSets)) return 'a config case without sets of sources';
  if (!Array.isArray(steps)) return 'a config case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
