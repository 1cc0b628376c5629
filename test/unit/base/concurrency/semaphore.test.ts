import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { FairSemaphore, Semaphore } from '../../../../src/base/concurrency/semaphore.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

it('runs at most so many at once, in the order in which they came, and forgets who gave up', async () => {
  const semaphore = new Semaphore(2);
  const [going, leaving] = [new AbortController(), new AbortController()];
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, { signal }: AbortController): Promise<void> =>
    semaphore.run(() => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    }, signal);
  const runs = [run('a', going), run('b', going)];
  const gaveUp = expect(run('c', leaving)).rejects.toBe('enough');
  runs.push(run('d', going), run('e', going));
  leaving.abort('enough');
  await gaveUp;
  expect(begun).toEqual(['a', 'b']);
  for (const name of ['b', 'a', 'd', 'e']) {
    ends.get(name)?.();
    await settle();
  }
  await Promise.all(runs);
  expect(begun).toEqual(['a', 'b', 'd', 'e']);
  expect(getEventListeners(going.signal, 'abort')).toHaveLength(0);
  expect(semaphore.isFull).toBe(false);
  await expect(run('f', leaving)).rejects.toBe('enough');
});

type Run = <T>(call: () => Promise<T>, signal: AbortSignal) => Promise<T>;
const flow = { group: 'a', member: 'a' };

describe.each<[string, () => Run]>([
  [
    'Semaphore',
    () => {
      const semaphore = new Semaphore(1);
      return (call, signal) => semaphore.run(call, signal);
    },
  ],
  [
    'FairSemaphore',
    () => {
      const semaphore = new FairSemaphore(1);
      return (call, signal) => semaphore.run(flow, call, signal);
    },
  ],
])('%s', (_, make) => {
  it.each([
    0, 1, 2, 3,
  ])('makes no call whose signal aborts %i turns after its place came free, and gives the place on', async (turns) => {
    const run = make();
    const [going, leaving] = [new AbortController(), new AbortController()];
    const held = Promise.withResolvers<void>();
    const holding = run(() => held.promise, going.signal);
    const signals: boolean[] = [];
    const ended = run(async () => signals.push(leaving.signal.aborted), leaving.signal).catch((error) => error);
    held.resolve();
    for (let turn = 0; turn < turns; turn += 1) await null;
    leaving.abort('enough');
    await Promise.all([holding, ended]);
    // it was made before, or not at all
    expect(signals.filter((isAborted) => isAborted)).toEqual([]);
    expect(await run(async () => 'next', going.signal)).toBe('next');
  });
});
