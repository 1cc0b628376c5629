import type { BigIntStats } from 'node:fs';

/** A file system may tell time this coarsely: two changes within it may leave the same times. */
const coarsestMs = 2000;

/** What the system says of a file beside its content. A change of the content changes it, but perhaps not at once. */
export interface FileStamp {
  readonly text: string;
  /** When it was seen first. */
  readonly since: number;
  /** True where the content was read so long after the last change that a further one has another stamp. */
  readonly isSettled: boolean;
}

/** The stamp of a file that is read at the time `now`, in milliseconds. */
export function fileStamp(stats: BigIntStats, before: FileStamp | undefined, now: number): FileStamp {
  const text = textOf(stats);
  const since = before?.text === text ? before.since : now;
  return { text, since, isSettled: now - since >= coarsestMs };
}

/** True for a file that has not changed since its content was read. */
export function isUnchanged(stats: BigIntStats, stamp: FileStamp): boolean {
  return stamp.isSettled && textOf(stats) === stamp.text;
}

function textOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
