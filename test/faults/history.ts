import type { Checker } from './checker.ts';

/** Feeds a checker with every version of every pod, in order. */
export interface History {
  readonly checker: Checker;
  /** The newest revision read. */
  readonly revision: number;
  start(): void;
  stop(): Promise<void>;
}
