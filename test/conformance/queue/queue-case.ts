import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** A pod that waits for an event. */
export interface WaitingPod {
  readonly plugins?: readonly string[];
  readonly pending?: readonly string[];
  /** The plugin that gates it. */
  readonly gated?: string;
}

/** What one step has led to: the pod that it was about, and what has changed since the step before. */
export interface QueueOutcome {
  readonly pod?: string;
  /** Of a pod that was popped. */
  readonly attempts?: number;
  readonly active?: readonly string[];
  /** The end of each pod's back-off, in seconds since the start. */
  readonly backoff?: Readonly<Record<string, number>>;
  readonly errorBackoff?: Readonly<Record<string, number>>;
  readonly unschedulable?: Readonly<Record<string, WaitingPod>>;
  readonly inFlight?: readonly string[];
}

interface StepArguments {
  'pod.add': { readonly pod: WirePod };
  'pod.update': { readonly pod: WirePod };
  'pod.delete': { readonly name: string };
  'node.add': { readonly node: WireNode };
  'node.update': { readonly node: WireNode };
  'node.delete': { readonly name: string };
  pop: object;
  fail: { readonly inFlight: number; readonly plugins?: readonly string[]; readonly pending?: readonly string[] };
  error: { readonly inFlight: number };
  bind: { readonly inFlight: number; readonly node: string };
  activate: { readonly name: string };
  advance: { readonly seconds: number };
}

export type QueueStep = { [Op in keyof StepArguments]: { readonly op: Op } & StepArguments[Op] }[keyof StepArguments];

/** A recording of how pods go through the queue of kube-scheduler. */
export interface QueueCase extends KindCase {
  readonly steps: readonly QueueStep[];
  /** One for each step. */
  readonly out: readonly QueueOutcome[];
}

const ops: readonly string[] = [
  ...['pod.add', 'pod.update', 'pod.delete', 'node.add', 'node.update', 'node.delete'],
  ...['pop', 'fail', 'error', 'bind', 'activate', 'advance'],
];

/** What is wrong with the case; undefined when it can be played. */
export function queueCaseProblem(value: unknown): string | undefined {
  const { steps, out } = value as Partial<QueueCase>;
  if (!Array.isArray(steps)) return 'a queue case without steps';
  if (!Array.isArray(out) || out.length !== steps.length) return 'a queue case without an outcome for each step';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
  }
  return undefined;
}
