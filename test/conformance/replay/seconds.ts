/** Milliseconds since the epoch as the apiserver writes a time: UTC, whole seconds. */
export function utcSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const batchMs = 10_000;

/** The moments after `began` and up to `ended` at which the batch runs, for a manager that started at `start`. */
export function batches(start: number, began: number, ended: number): number[] {
  const moments: number[] = [];
  const first = start + (Math.floor((began - start) / batchMs) + 1) * batchMs;
  for (let moment = first; moment <= ended; moment += batchMs) moments.push(moment);
  return moments;
}
