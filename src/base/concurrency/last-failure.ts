/** The last failure of something that is tried again and again, while no success has followed. */
export interface LastFailure {
  /** What was thrown, or what a promise rejected with. */
  readonly error: unknown;
  /** When it failed, in milliseconds since the epoch. */
  readonly at: number;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly retryAt: number;
}
