import { describe, expect, it } from 'vitest';
import { OneAtATime } from '../../../../src/base/concurrency/semaphore.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

describe('OneAtATime', () => {
  it('lets work of one key wait for the one before, also for one that failed, and no other key', async () => {
    const lanes = new OneAtATime();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const failed = lanes.run('a', async () => {
      log.push('a1');
      await first.promise;
      throw new Error('a1 failed');
    });
    const failure = expect(failed).rejects.toThrow('a1 failed');
    const second = lanes.run('a', async () => log.push('a2'));
    await lanes.run('b', async () => log.push('b1'));
    await settle();
    expect(log).toEqual(['a1', 'b1']);
    first.resolve();
    await Promise.all([failure, second]);
    expect(log).toEqual(['a1', 'b1', 'a2']);
  });

  it('gives the result of the work', async () => {
    expect(await new OneAtATime().run('a', async () => 7)).toBe(7);
  });
});
