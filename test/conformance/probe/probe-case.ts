import type { WirePod, WirePodStatus } from '../../../src/index.ts';
import type { KindCase } from '../kinds/case-kind.ts';

/** What a probe's command does: it succeeds, it fails, or it cannot be run. */
export type CommandAnswer = 'ok' | 'fail' | 'error';

export interface ProbeRun {
  /** "TYPE CONTAINER". */
  readonly probe: string;
  readonly containerID: string;
  readonly answer: CommandAnswer;
  /** Seconds since the first step. */
  readonly at: number;
}

export interface RecordedUpdate {
  readonly type: 'liveness' | 'readiness' | 'startup';
  readonly containerID: string;
  readonly result: string;
  readonly at: number;
}

/** What one step has led to. Members that are empty are left out. */
export interface ProbeExpectation {
  readonly runs?: readonly ProbeRun[];
  readonly updates?: readonly RecordedUpdate[];
  readonly events?: readonly string[];
  /** "TYPE CONTAINER_ID" to the result; left out where as after the step before. */
  readonly results?: Readonly<Record<string, string>>;
  /** Of an update of the pod's status: started and ready, by container. */
  readonly containers?: Readonly<Record<string, readonly [started: boolean, ready: boolean]>>;
}

interface StepArguments {
  add: { readonly pod: WirePod };
  status: { readonly status: WirePodStatus };
  noStatus: object;
  answer: { readonly probe: string; readonly answer: CommandAnswer };
  updatePodStatus: object;
  stopLivenessAndStartup: object;
  remove: object;
  cleanup: { readonly keep?: boolean };
  advance: { readonly seconds: number };
}

export type ProbeStep = {
  [Op in keyof StepArguments]: { readonly op: Op; readonly expect: ProbeExpectation } & StepArguments[Op];
}[keyof StepArguments];

/** A recording of the kubelet's probe manager. */
export interface ProbeCase extends KindCase {
  readonly steps: readonly ProbeStep[];
}

const ops: readonly string[] = [
  'add',
  'status',
  'noStatus',
  'answer',
  'updatePodStatus',
  'stopLivenessAndStartup',
  'remove',
  'cleanup',
  'advance',
];

/** What is wrong with the case; undefined when it can be played. */
export function probeCaseProblem(value: unknown): string | undefined {
  const { steps } = value as Partial<ProbeCase>;
  if (!Array.isArray(steps)) return 'a probe case without steps';
  for (const [index, step] of steps.entries()) {
    if (!ops.includes(step?.op)) return `step ${index}: unknown operation ${JSON.stringify(step?.op)}`;
    if (typeof step.expect !== 'object' || step.expect === null) return `step ${index}: no expectation`;
  }
  return undefined;
}
