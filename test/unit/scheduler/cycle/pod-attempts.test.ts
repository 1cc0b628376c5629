import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { PodAttempts } from '../../../../src/scheduler/cycle/pod-attempts.ts';
import { LastAttempts } from '../../../../src/scheduler/reports/last-attempts.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { pod, queueOf } from '../queue/queue-world.ts';

describe('the attempts at pods', () => {
  it('give a pod back at which anything fails, and go on to the next one', () => {
    const { queue } = queueOf();
    for (const uid of ['a', 'b']) queue.add(pod(uid));
    const frameworks = {
      get: (): never => {
        throw new Error('broken');
      },
    };
    const errors: object[] = [];
    const logger = { ...silentLogger, error: (fields: object): void => void errors.push(fields) };
    const lastAttempts = new LastAttempts();
    const time = { time: (): number => 7 };
    const attempts = new PodAttempts({ queue, frameworks, logger, lastAttempts, time, mostBindings: 1 } as never);
    expect([attempts.tryNext(), attempts.tryNext(), attempts.tryNext()]).toEqual([true, true, false]);
    expect(queue.counts()).toMatchObject({ inFlight: 0, backoff: 2 });
    expect(errors).toMatchObject([{ podNamespace: 'd', podName: 'a', podUID: 'a' }, { podUID: 'b' }]);
    const words = { kind: 'scheduling-failed', message: 'the pod could not be placed: broken' };
    expect(lastAttempts.get('a')).toMatchObject({ since: 7, attempt: 1, words });
  });

  it('keep no event for a pod that is permitted and waits for its volumes', async () => {
    const committed: string[] = [];
    const queue = { commit: (uid: string) => committed.push(uid) };
    const binding = { preBindersOf: () => [{ name: 'My' }], preBind: () => new Promise(() => {}) };
    const clock = new FakeClock();
    const attempts = new PodAttempts({
      ...{ queue, clock, time: { time: () => 7 }, writes: { write: () => {} }, mostBindings: 1, bindTimeoutMs: 1000 },
    } as never);
    attempts.bindings.begin({ podInfo: { uid: 'u' }, framework: { binding }, nodeName: 'n', state: {} } as never, new Map());
    await settle();
    expect(committed).toEqual(['u']);
  });
});
