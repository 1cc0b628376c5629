import { describe, expect, it } from 'vitest';
import { RecoveryLines } from '../../../../src/base/logging/recovery-lines.ts';
import { ApiError } from '../../../../src/index.ts';
import { StatusWrites } from '../../../../src/scheduler/cycle/status-writes.ts';
import { steadyTime } from '../../../../src/scheduler/queue/backoff-queue.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { pod, schedulerWorld } from '../scheduler-world.ts';

const notFound = new ApiError({ status: 404, reason: 'NotFound', message: 'pods "p1" not found' });
const forbidden = new ApiError({ status: 403, reason: 'Forbidden', message: 'pods "p1" is forbidden' });

/** Writes whose answers are given by the test. */
function writesWorld() {
  const clock = new FakeClock();
  const asked: PromiseWithResolvers<void>[] = [];
  const patchStatus = (): Promise<void> => {
    const answer = Promise.withResolvers<void>();
    asked.push(answer);
    return answer.promise;
  };
  const lines: [level: string, message: string][] = [];
  const level = (name: string) => (_fields: object, message: string) => void lines.push([name, message]);
  const logger = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  const recoveries = new RecoveryLines({ clock, logger });
  const writes = new StatusWrites({ client: { patchStatus }, clock, time: steadyTime(clock), logger, recoveries });
  const write = (): void => writes.write(pod('p1'), { nominatedNodeName: 'n' });
  return { clock, writes, write, asked, lines };
}

describe('a status that could not be written', () => {
  it('is no problem where the pod was deleted while it was written', async () => {
    const answer = Promise.withResolvers<void>();
    const { scheduler, clock } = schedulerWorld({ client: { bind: async () => {}, patchStatus: () => answer.promise } });
    scheduler.setPod(pod('p1'));
    scheduler.start();
    await clock.advance(0);
    scheduler.deletePod('uid-p1');
    answer.reject(notFound);
    await scheduler.flush();
    expect(scheduler.snapshot()).toMatchObject({ problems: [], notes: [] });
    await scheduler.stop();
  });

  it.each([notFound, forbidden])('counts only for a pod that was not forgotten meanwhile: $reason', async (error) => {
    const { writes, write, asked, lines } = writesWorld();
    write();
    writes.forget('uid-p1');
    asked[0]?.reject(error);
    await writes.flush();
    expect([writes.problem(), lines]).toEqual([undefined, [['debug', 'the status of a pod could not be written']]]);
  });

  it('counts again once the pod is written anew', async () => {
    const { clock, writes, write, asked } = writesWorld();
    write();
    writes.forget('uid-p1');
    write();
    asked[0]?.reject(forbidden);
    await clock.advance(0);
    asked[1]?.reject(forbidden);
    await writes.flush();
    expect(writes.problem()).toMatchObject({ kind: 'forbidden', attempt: 1 });
  });

  it('is told of once it is written again, once', async () => {
    const { clock, writes, write, asked, lines } = writesWorld();
    for (const error of [forbidden, forbidden, undefined, undefined]) {
      write();
      if (error === undefined) asked.at(-1)?.resolve();
      else asked.at(-1)?.reject(error);
      await writes.flush();
      await clock.advance(1000);
    }
    expect(lines.filter(([level]) => level !== 'warn')).toEqual([['info', 'the status of a pod is written again']]);
  });

  it('is no problem where the server says that the pod is gone, and ends an earlier one', async () => {
    const { writes, write, asked, lines } = writesWorld();
    for (const error of [forbidden, notFound]) {
      write();
      asked.at(-1)?.reject(error);
      await writes.flush();
    }
    expect([writes.problem(), lines.map(([level]) => level)]).toEqual([undefined, ['warn', 'debug']]);
  });

  it('is not tried for a pod that is forgotten while it waits', async () => {
    const { clock, writes, write, asked } = writesWorld();
    write();
    write();
    writes.forget('uid-p1');
    asked[0]?.resolve();
    await clock.advance(0);
    expect([asked.length, writes.size]).toEqual([1, 0]);
  });
});
