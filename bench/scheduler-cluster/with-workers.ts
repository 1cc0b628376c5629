/** Calls `act` for 0, 1, … `count - 1`, `workers` at once. */
export async function withWorkers(workers: number, count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: workers }, work));
}
