import type { Pod } from '../../../src/api/json/types.ts';
import { RestartBackoff } from '../../../src/node/workers/restart-backoff.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { BackoffCase, BackoffOutcome } from './backoff-case.ts';

/** Plays the case with our backoff. Resolves to what each step led to, in the form of the recording. */
export async function playBackoff({ baseSeconds, maxSeconds, steps }: BackoffCase): Promise<BackoffOutcome[]> {
  const clock = new FakeClock();
  const events: string[] = [];
  const backoff = new RestartBackoff({
    baseMs: baseSeconds * 1000,
    maxMs: maxSeconds * 1000,
    clock,
    eventRecorder: { event: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
  });
  const images = new Map<string, string>();
  const exits = new Map<string, number>();
  const outcomes: BackoffOutcome[] = [];
  for (const step of steps) {
    let outcome: BackoffOutcome = {};
    if (step.op === 'exit') exits.set(step.container, clock.now());
    else if (step.op === 'image') images.set(step.container, step.image);
    else if (step.op === 'advance') await clock.advance(step.seconds * 1000);
    else if (step.op === 'gc') backoff.gc();
    else {
      const name = step.container;
      const container = { name, image: `i${images.get(name) ?? ''}` };
      const pod: Pod = { metadata: { name: 'p', namespace: 'd', uid: 'u1' }, spec: { containers: [container] } };
      const finishedAt = exits.get(name);
      const containers = finishedAt === undefined ? [] : [{ id: name, name, state: 'exited' as const, finishedAt }];
      const answer = backoff.tryRestart(pod, container, { containers });
      const [event] = events.splice(0);
      outcome = answer.wait
        ? { wait: true, message: answer.message, error: answer.reason, remainingSeconds: answer.remainingMs / 1000 }
        : { wait: false, backoffSeconds: backoff.nextWaitMs(pod, container) / 1000 };
      if (event !== undefined) outcome = { ...outcome, event };
    }
    outcomes.push(outcome);
  }
  return outcomes;
}
