import { hasNoAnswer, isRefusal } from './failures.ts';

/** A watch that has ended. */
export interface EndedWatch {
  /** What ended it; undefined when the server ended it in good order. */
  readonly failure: unknown;
  /** True when an event or a bookmark came. */
  readonly hasBroughtSomething: boolean;
}

/** After so many watches in a row that brought nothing, a list comes first, whatever ended them. */
const emptyWatchesBeforeList = 3;

/**
 * True when the next watch may go on from where this one stood. False means that a list must come first: the server
 * refused the watch, or answered it and brought nothing, so that changes could be missed for ever. A server on which
 * etcd was restored is silent to a watch from a resourceVersion that it has not reached yet. A proxy that cuts every watch
 * before its answer lets lists through. `emptyInARow` counts the watches that brought nothing since the last list, this one
 * included.
 */
export function mayGoOnAfter({ failure, hasBroughtSomething }: EndedWatch, emptyInARow: number): boolean {
  if (isRefusal(failure)) return false;
  if (hasBroughtSomething) return true;
  if (emptyInARow >= emptyWatchesBeforeList) return false;
  return hasNoAnswer(failure);
}
