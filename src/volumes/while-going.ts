import { untilAborted } from '../concurrency/aborts.ts';

/** The result of a call that may never settle: rejects with the signal's reason when that comes first. */
export async function whileGoing<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return untilAborted(call(), signal);
}

/** What becomes of the work for each item, in the order of the items: so much of it goes on at once. */
export async function settledAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<readonly PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const waiting = items.entries();
  const next = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      const [result] = await Promise.allSettled([work(item)]);
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, next));
  return results;
}
