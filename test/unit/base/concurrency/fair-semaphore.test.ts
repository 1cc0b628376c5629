import { describe, expect, it } from 'vitest';
import { FairSemaphore } from '../../../../src/base/concurrency/semaphore.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

const never = new AbortController().signal;

function setUp(most: number) {
  const semaphore = new FairSemaphore(most);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (group: string, member: string, signal = never): Promise<void> => {
    const call = () => {
      begun.push(`${group} ${member}`);
      return new Promise<void>((resolve) => void ends.push(resolve));
    };
    return semaphore.run({ group, member }, call, signal);
  };
  /** Ends the oldest call that runs. */
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { begun, run, end };
}

describe('FairSemaphore', () => {
  it('runs so many calls at once', async () => {
    const { begun, run, end } = setUp(2);
    for (let i = 0; i < 5; i += 1) void run('a', 'a');
    await settle();
    expect(begun).toHaveLength(2);
    await end();
    expect(begun).toHaveLength(3);
  });

  it('gives each group its turn, and in a group each member, however many calls of one wait', async () => {
    const { begun, run, end } = setUp(1);
    for (let i = 0; i < 100; i += 1) for (const member of ['x', 'y']) void run('many', member);
    void run('few', 'z');
    void run('few', 'z');
    await settle();
    for (let i = 0; i < 6; i += 1) await end();
    expect(begun).toEqual(['many x', 'many y', 'few z', 'many x', 'few z', 'many y', 'many x']);
  });

  it('lets go of a call that is given up, and goes on after one that fails', async () => {
    const { begun, run, end } = setUp(1);
    const failing = new FairSemaphore(1);
    await expect(failing.run({ group: 'a', member: 'a' }, () => Promise.reject(new Error('no')), never)).rejects.toThrow('no');
    expect(await failing.run({ group: 'a', member: 'a' }, async () => 'yes', never)).toBe('yes');
    void run('a', 'a');
    const abort = new AbortController();
    const given = run('b', 'b', abort.signal);
    void run('c', 'c');
    abort.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await expect(run('d', 'd', abort.signal)).rejects.toThrow('given up');
    await end();
    expect(begun).toEqual(['a a', 'c c']);
  });
});
