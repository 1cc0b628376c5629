/**
 * The same as `work`, but rejects with the signal's reason once that aborts. `work` may go on; its end is ignored then.
 * Leaves no listener.
 */
export async function untilAborted<T>(work: PromiseLike<T> | T, signal: AbortSignal): Promise<T> {
  let leave = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    leave = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    leave();
  }
}
