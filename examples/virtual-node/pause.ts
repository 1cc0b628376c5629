/** Resolves to true after `ms`, or at once to false when the signal aborts; the caller then returns. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const end = (isOver: boolean): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    resolve(isOver);
  };
  const abort = (): void => end(false);
  const timer = setTimeout(() => end(true), ms);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  return promise;
}
