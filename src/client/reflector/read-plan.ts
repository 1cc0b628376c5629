import type { EndedWatch } from './ended-watch.ts';

/** A watch after the list, or after the list part of a stream. */
export interface FinishedWatch extends EndedWatch {
  /** From the request, or from the end of the list part. */
  readonly lastedMs: number;
}

/** A streamed list that ended before its last object. */
export interface BrokenStream {
  /** What ended it; undefined when the server ended it in good order. */
  readonly failure: unknown;
  readonly lastedMs: number;
}

/** What comes next, after a pause. */
export interface NextStep {
  /** `fill`: a full list, streamed where that works. `list`: an ordinary list. `watch`: go on from the last version. */
  readonly step: 'fill' | 'list' | 'watch';
  readonly delayMs: number;
  /** What the handlers are told of; undefined when nothing went wrong. */
  readonly error?: unknown;
}

/**
 * How a reflector reads: from which version, in which pages, and what follows when a request fails. `known` is the last
 * version that the reflector has reached; undefined before its first list.
 */
export interface ReadPlan {
  /** True: a list shows every write that was acknowledged before it began, also when that is less than was known before. */
  isConsistent(from: string | undefined): boolean;
  /** How long a streamed list may be silent, in milliseconds; undefined: as long as any watch. */
  readonly streamPatienceMs: number | undefined;
  /** The version of a streamed list; undefined: the newest. */
  streamFrom(known: string | undefined): string | undefined;
  /** The version of a list; undefined: the newest. */
  listFrom(known: string | undefined): string | undefined;
  /** The most objects of a page; undefined: all of them in one. */
  pageLimit(from: string | undefined): number | undefined;
  /** True: the list is to be asked for once more, at once, from where `listFrom` then says. */
  listsAgainAfter(failure: unknown): boolean;
  /** A full list was delivered. */
  listed(list: { readonly from: string | undefined; readonly isPaginated: boolean }): void;
  afterList(failure: unknown): NextStep;
  afterStream(stream: BrokenStream): NextStep;
  afterWatch(watch: FinishedWatch): NextStep;
}
