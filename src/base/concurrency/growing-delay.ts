/** Delays that grow from one to the next. */
export interface GrowingDelay {
  readonly firstMs: number;
  /** Default: without limit. */
  readonly longestMs?: number;
  /** What a delay is multiplied by to give the next one. Default 2. */
  readonly factor?: number;
}

/** From here on a delay grows no more. A power beyond all numbers would make a first delay of 0 no number at all. */
const mostSteps = 1000;

/** The n-th delay in milliseconds; 1 is the first. Chance, where it plays a part, is its caller's. */
export function nthDelayMs(n: number, { firstMs, longestMs = Number.POSITIVE_INFINITY, factor = 2 }: GrowingDelay): number {
  return Math.min(longestMs, firstMs * factor ** Math.min(n - 1, mostSteps));
}
