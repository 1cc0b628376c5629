import type { Checker } from '../chaos/check/checker.ts';

/** Feeds a checker with every version of every pod, in order. */
export interface History {
  readonly checker: Checker;
  start(): void;
  stop(): Promise<void>;
}
