import type { Waiter } from '../../../../src/client/credentials/credentials.ts';

export interface LeavableWaiter extends Waiter {
  leave(): void;
}

/** A request that waits for credentials until it is told to leave. */
export function waiter(limitMs = 10_000): LeavableWaiter {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { left: promise, limitMs, leave: resolve };
}
