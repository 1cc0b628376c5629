import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** Amounts; what is zero is left out. */
export interface RecordedAmounts {
  readonly milliCPU?: number;
  readonly memory?: number;
  readonly ephemeralStorage?: number;
  readonly pods?: number;
  readonly scalar?: Readonly<Record<string, number>>;
}

/** A node in the cache. Lists are sorted; an empty one is left out. */
export interface RecordedNode {
  readonly gone?: true;
  /** Only pods are known of the node. */
  readonly noNode?: true;
  readonly pods?: readonly string[];
  readonly podsWithAffinity?: readonly string[];
  readonly requested?: RecordedAmounts;
  readonly nonZeroRequested?: RecordedAmounts;
  readonly allocatable?: RecordedAmounts;
  /** `IP PROTOCOL PORT`. */
  readonly ports?: readonly string[];
  /** `NAME SIZE NUMBER_OF_NODES`. */
  readonly images?: readonly string[];
}

/** What one step has led to. */
export interface CacheOutcome {
  readonly error?: string;
  readonly assumed: readonly string[];
  readonly order: readonly string[];
  /** The nodes that are not as they were before the step. */
  readonly changed?: Readonly<Record<string, RecordedNode>>;
}

interface StepArguments {
  assume: { readonly pod: WirePod };
  finish: { readonly pod: WirePod };
  forget: { readonly pod: WirePod };
  addPod: { readonly pod: WirePod };
  removePod: { readonly pod: WirePod };
  updatePod: { readonly oldPod: WirePod; readonly pod: WirePod };
  addNode: { readonly node: WireNode };
  removeNode: { readonly node: WireNode };
  updateNode: { readonly oldNode: WireNode; readonly node: WireNode };
  advance: { readonly seconds: number };
}

export type CacheStep = { [Op in keyof StepArguments]: { readonly op: Op } & StepArguments[Op] }[keyof StepArguments];

/** A recording of the classic scheduler's cache. */
export interface CacheCase extends KindCase {
  readonly ttlSeconds: number;
  readonly steps: readonly CacheStep[];
  readonly out: readonly CacheOutcome[];
}

const members: { readonly [Op in CacheStep['op']]: readonly string[] } = {
  assume: ['pod'],
  finish: ['pod'],
  forget: ['pod'],
  addPod: ['pod'],
  removePod: ['pod'],
  updatePod: ['oldPod', 'pod'],
  addNode: ['node'],
  removeNode: ['node'],
  updateNode: ['oldNode', 'node'],
  advance: ['seconds'],
};

/** What is wrong with the case; undefined when it can be played. */
export function cacheCaseProblem(value: unknown): string | undefined {
  const { ttlSeconds, steps, out } = value as Partial<CacheCase>;
  if (typeof ttlSeconds !== 'number') return 'a cache case without its time to live';
  if (!Array.isArray(steps)) return 'a cache case without steps';
  if (!Array.isArray(out) || out.length !== steps.length) return 'a cache case without one outcome for each step';
  for (const [index, step] of steps.entries()) {
    const needed = Object.hasOwn(members, step?.op) ? members[step.op as CacheStep['op']] : undefined;
    if (needed === undefined) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    const missing = needed.find((member) => (step as Readonly<Record<string, unknown>>)[member] === undefined);
    if (missing !== undefined) return `step ${index}: no ${missing}`;
  }
  return undefined;
}
