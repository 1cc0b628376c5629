import type { Checker } from './checker.ts';

/** Feeds a checker with every version of every pod, in order. */
export interface History {
  readonly checker: Checker;
  start(): void;
  stop(): Promise<void>;
}
