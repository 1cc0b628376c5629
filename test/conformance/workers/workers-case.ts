import type { WirePod } from '../../../src/index.ts';
import type { UpdateType } from '../../../src/node.ts';
import type { KindCase } from '../kinds/case-kind.ts';

export type SyncerFunction = 'SyncPod' | 'SyncTerminatingPod' | 'SyncTerminatingRuntimePod' | 'SyncTerminatedPod';

/** One call of the syncer begins or ends. `at`: seconds since the case began. */
export interface RecordedCall {
  readonly event: 'start' | 'end';
  readonly fn: SyncerFunction;
  readonly podUID: string;
  readonly updateType?: string;
  readonly version?: string;
  readonly mirrorUID?: string;
  readonly gracePeriod?: number;
  /** The reason that the status function sets. */
  readonly statusFn?: string;
  readonly result?: string;
  readonly at: number;
}

export interface RecordedKill {
  readonly name: string;
  readonly at: number;
  readonly error?: string;
}

/** What one step has led to. Members that are empty are left out. */
export interface WorkersOutcome {
  readonly calls?: readonly RecordedCall[];
  readonly requeue?: readonly { readonly podUID: string; readonly after: string; readonly at: number }[];
  readonly completed?: readonly string[];
  readonly killed?: readonly RecordedKill[];
  readonly events?: readonly string[];
  readonly known?: Readonly<Record<string, object>>;
  readonly answers?: Readonly<Record<string, readonly string[]>>;
  readonly mirrorTerminating?: readonly string[];
}

export interface RecordedKillOptions {
  readonly evict?: boolean;
  readonly gracePeriod?: number;
  readonly statusFn?: string;
  readonly completed?: string;
}

/** What one call of the syncer does. */
export interface CallPlan {
  readonly delaySeconds?: number;
  readonly block?: boolean;
  readonly error?: 'failed' | 'network' | 'canceled' | 'backoff';
  readonly backoffSeconds?: number;
  readonly terminal?: boolean;
  readonly ignoreCancel?: boolean;
}

interface StepArguments {
  update: {
    readonly updateType: UpdateType;
    readonly pod?: WirePod;
    readonly mirrorUID?: string;
    readonly runningPod?: { readonly uid: string; readonly name: string; readonly namespace: string };
    readonly kill?: RecordedKillOptions;
  };
  killPodNow: { readonly pod: WirePod; readonly kill: RecordedKillOptions & { readonly completed: string } };
  syncKnownPods: { readonly podUIDs?: readonly string[] };
  'syncer.plan': { readonly podUID: string; readonly fn: SyncerFunction; readonly plan: readonly CallPlan[] };
  'syncer.release': { readonly podUID: string };
  'runtime.running': { readonly podUID: string; readonly value?: boolean };
  'runtime.fail': { readonly podUID: string; readonly times: number };
  advance: { readonly seconds: number };
}

export type WorkersStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: WorkersOutcome } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of the kubelet's pod workers. */
export interface WorkersCase extends KindCase {
  readonly steps: readonly WorkersStep[];
}

const ops: readonly string[] = [
  ...['update', 'killPodNow', 'syncKnownPods', 'syncer.plan', 'syncer.release', 'runtime.running', 'runtime.fail', 'advance'],
];

/** What is wrong with the case; undefined when it can be played. */
export function workersCaseProblem(value: unknown): string | undefined {
  const { steps } = value as Partial<WorkersCase>;
  if (!Array.isArray(steps)) return 'a workers case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
