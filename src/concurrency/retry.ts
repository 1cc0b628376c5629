/** How long to wait before attempt `attempt` (1 is the first retry): exponential with full jitter, in milliseconds. */
export function backoffMs(attempt: number, { baseMs, capMs, random }: BackoffOptions): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.ceil(random() * ceiling);
}

export interface BackoffOptions {
  /** The longest first wait. */
  readonly baseMs: number;
  /** The longest wait of all. */
  readonly capMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}
