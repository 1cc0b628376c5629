import type { Prng } from '../../random/chaos/prng.ts';
import { type Falsified, falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { playQueue } from './play-queue.ts';
import { type QueueCase, type QueueOutcome, type QueueStep, queueCaseProblem } from './queue-case.ts';

/** A case whose steps hold what they have led to. */
type SteppedQueueCase = Omit<QueueCase, 'steps'> & {
  readonly steps: readonly (QueueStep & { readonly expect: QueueOutcome })[];
};

/** Recordings of how pods go through the queue of kube-scheduler. */
export const queueKind = replayedKind<QueueCase, QueueOutcome[]>({
  problem: queueCaseProblem,
  play: playQueue,
  judge: (recorded, played) => judgeSteps(stepped(recorded), played),
  falsify: falsifyQueue,
});

/** Falsifies what one step is said to have led to. */
function falsifyQueue(original: QueueCase, prng: Prng): Falsified<QueueCase> | undefined {
  const falsified = falsifyExpect(stepped(original), prng);
  return falsified && { ...falsified, case: { ...original, out: falsified.case.steps.map((step) => step.expect) } };
}

function stepped(recorded: QueueCase): SteppedQueueCase {
  return { ...recorded, steps: recorded.steps.map((step, index) => ({ ...step, expect: recorded.out[index] ?? {} })) };
}
