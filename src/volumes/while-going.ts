/** The result of a call that may never settle: rejects with the signal's reason when that comes first. */
export async function whileGoing<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp);
  try {
    return await Promise.race([call(), promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
