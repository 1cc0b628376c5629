import { expect, it } from 'vitest';
import { settledAtOnce } from '../../../../src/base/concurrency/aborts.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';

it('works on so many items at once, in order, whatever becomes of each', async () => {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const all = settledAtOnce(['a', 'b', 'c', 'd'], 2, (item) => {
    const end = Promise.withResolvers<string>();
    ends.set(item, end);
    return end.promise;
  });
  await settle();
  expect([...ends.keys()]).toEqual(['a', 'b']);
  ends.get('b')?.reject('no');
  await settle();
  expect([...ends.keys()]).toEqual(['a', 'b', 'c']);
  ends.get('c')?.resolve('C');
  await settle();
  ends.get('d')?.resolve('D');
  ends.get('a')?.resolve('A');
  expect((await all).map((result) => (result.status === 'fulfilled' ? result.value : result.reason))).toEqual([
    'A',
    'no',
    'C',
    'D',
  ]);
});

it('settles at once without an item', async () => {
  expect(await settledAtOnce([], 2, () => Promise.reject())).toEqual([]);
});
