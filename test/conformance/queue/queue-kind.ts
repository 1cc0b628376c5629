import type { CaseKind, CaseResult } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { playQueue } from './play-queue.ts';
import { type QueueCase, type QueueOutcome, type QueueStep, queueCaseProblem } from './queue-case.ts';

/** A case whose steps hold what they have led to. */
export type SteppedQueueCase = Omit<QueueCase, 'steps'> & {
  readonly steps: readonly (QueueStep & { readonly expect: QueueOutcome })[];
};

/** Recordings of how pods go through the queue of kube-scheduler. */
export const queueKind: CaseKind<QueueCase> = { problem: queueCaseProblem, replay: replayQueue };

export function stepped(recorded: QueueCase): SteppedQueueCase {
  return { ...recorded, steps: recorded.steps.map((step, index) => ({ ...step, expect: recorded.out[index] ?? {} })) };
}

async function replayQueue(recorded: QueueCase): Promise<CaseResult> {
  return { differences: judgeSteps(stepped(recorded), await playQueue(recorded)), exemptions: [] };
}
