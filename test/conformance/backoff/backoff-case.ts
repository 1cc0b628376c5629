import type { KindCase } from '../kinds/case-kind.ts';

/** What one step has led to: nothing but for `try`. */
export interface BackoffOutcome {
  readonly wait?: boolean;
  /** Of a try that must wait. */
  readonly message?: string;
  readonly error?: string;
  readonly event?: string;
  readonly remainingSeconds?: number;
  /** Of a try that may go: the delay due after the next exit. */
  readonly backoffSeconds?: number;
}

interface StepArguments {
  exit: { readonly container: string };
  try: { readonly container: string };
  image: { readonly container: string; readonly image: string };
  gc: object;
  advance: { readonly seconds: number };
}

export type BackoffStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: BackoffOutcome } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of how the kubelet delays the restarts of containers. */
export interface BackoffCase extends KindCase {
  readonly baseSeconds: number;
  readonly maxSeconds: number;
  readonly steps: readonly BackoffStep[];
}

const ops: readonly string[] = ['exit', 'try', 'image', 'gc', 'advance'];

/** What is wrong with the case; undefined when it can be played. */
export function backoffCaseProblem(value: unknown): string | undefined {
  const { baseSeconds, maxSeconds, steps } = value as Partial<BackoffCase>;
  if (typeof baseSeconds !== 'number' || typeof maxSeconds !== 'number') return 'a backoff case without its bounds';
  if (!Array.isArray(steps)) return 'a backoff case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
