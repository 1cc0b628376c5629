import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Semaphore } from '../../../../src/base/concurrency/semaphore.ts';
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
  await expect(run('f', leaving)).rejects.toBe('enough');
});
