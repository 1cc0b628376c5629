import { describe, expect, it } from 'vitest';
import { CredentialsFailure } from '../../../../src/client/credentials/credentials.ts';
import { SharedRun } from '../../../../src/client/credentials/shared-run.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { failureOf } from '../transport/scripted-server.ts';
import { waiter } from './waiters.ts';

function startRun() {
  const clock = new FakeClock();
  const work = Promise.withResolvers<string>();
  const ended: string[] = [];
  let signal = AbortSignal.abort();
  const run = new SharedRun({
    clock,
    name: 'the work',
    start: (given) => {
      signal = given;
      return work.promise;
    },
    onEnded: ({ message }) => ended.push(message),
  });
  return { clock, work, run, ended, signal };
}

describe('SharedRun', () => {
  it('gives every request the same result, and leaves no timer', async () => {
    const { clock, work, run, ended } = startRun();
    const results = [run.join(waiter()), run.join(waiter())];
    expect([run.isOver, clock.pendingTimers]).toEqual([false, 1]);
    work.resolve('done');
    expect(await Promise.all(results)).toEqual(['done', 'done']);
    expect([run.isOver, clock.pendingTimers, ended]).toEqual([true, 0, []]);
  });

  it('gives every request the same failure', async () => {
    const { work, run, ended } = startRun();
    const results = [failureOf(run.join(waiter())), failureOf(run.join(waiter()))];
    const failure = new Error('broken');
    work.reject(failure);
    expect(await Promise.all(results)).toEqual([failure, failure]);
    expect([run.isOver, ended]).toEqual([true, []]);
  });

  it('goes on while one request waits, and ends when the last has left', async () => {
    const { clock, run, signal, ended } = startRun();
    const [first, second] = [waiter(), waiter()];
    const failure = failureOf(run.join(first));
    void run.join(second).catch(() => {});
    first.leave();
    await settle();
    expect([run.isOver, signal.aborted]).toEqual([false, false]);
    second.leave();
    expect(await failure).toMatchObject({ reason: 'Aborted', message: 'No request waits for the work any longer' });
    expect([run.isOver, signal.aborted, clock.pendingTimers]).toEqual([true, true, 0]);
    expect(ended).toEqual(['No request waits for the work any longer']);
  });

  it('ends after the limit, even when later callers came with the same limit', async () => {
    const { clock, run, signal } = startRun();
    const failures = [failureOf(run.join(waiter(1000)))];
    await clock.advance(600);
    failures.push(failureOf(run.join(waiter(1000))));
    await clock.advance(399);
    expect(run.isOver).toBe(false);
    await clock.advance(1);
    for (const failure of failures) {
      expect(await failure).toMatchObject({ reason: 'Timeout', message: 'Nothing came from the work within 1000 ms' });
    }
    expect([run.isOver, signal.aborted, clock.pendingTimers]).toEqual([true, true, 0]);
  });

  it('goes on for a request that may wait longer, and not for one that may wait less', async () => {
    const { clock, run } = startRun();
    const failure = failureOf(run.join(waiter(1000)));
    run.join(waiter(5000)).catch(() => {});
    run.join(waiter(200)).catch(() => {});
    await clock.advance(4999);
    expect(run.isOver).toBe(false);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: 'Timeout', message: 'Nothing came from the work within 5000 ms' });
  });

  it('is ended from outside once, with the reason given', async () => {
    const { run, signal, ended } = startRun();
    const failure = failureOf(run.join(waiter()));
    const reason = new CredentialsFailure('Aborted', 'closed');
    run.end(reason);
    run.end(new CredentialsFailure('Timeout', 'later'));
    expect(await failure).toBe(reason);
    expect([signal.reason, ended]).toEqual([reason, ['closed']]);
  });

  it('keeps its result though it is ended afterwards', async () => {
    const { work, run, signal, ended } = startRun();
    const result = run.join(waiter());
    work.resolve('done');
    await settle();
    run.end(new CredentialsFailure('Aborted', 'closed'));
    expect(await result).toBe('done');
    expect([signal.aborted, ended]).toEqual([false, []]);
  });

  it('fails like its work, where that throws at once', async () => {
    const run = new SharedRun({
      clock: new FakeClock(),
      name: 'the work',
      start: () => {
        throw new Error('at once');
      },
    });
    expect(await failureOf(run.join(waiter()))).toMatchObject({ message: 'at once' });
    expect(run.isOver).toBe(true);
  });
});
