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
