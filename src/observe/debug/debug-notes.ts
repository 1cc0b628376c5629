import { notesOf, type Problem } from '../../base/problem.ts';
import type { DebugNote, DebugPodRow, DebugProblem } from './debug-api.ts';

const notesAtMost = 20;

/** The pods that have a problem of one kind. */
export interface TroubleOfKind {
  /** The one that has had it longest. */
  readonly row: DebugPodRow;
  readonly problem: Problem;
  readonly of: DebugNote['of'];
  readonly pods: number;
}

/** A problem that is no pod's, and whose it is. */
export interface OwnProblem {
  readonly of: DebugNote['of'];
  readonly problem: DebugProblem;
}

/** One for each problem that is no pod's, then one for each kind of problem that pods have, the oldest first. At most 20. */
export function notesFrom(own: readonly OwnProblem[], kinds: Iterable<TroubleOfKind>): DebugNote[] {
  const ofPods = Array.from(kinds, ({ row, problem, of, pods }): DebugNote => {
    return { ...problem, podUID: row.podUID, podNamespace: row.namespace, podName: row.name, of, pods };
  });
  ofPods.sort((a, b) => sinceOf(a) - sinceOf(b));
  return [...own.map(({ of, problem }): DebugNote => ({ ...problem, of, pods: 0 })), ...ofPods].slice(0, notesAtMost);
}

/** A problem that nobody knows the age of counts as the youngest. */
function sinceOf({ since }: Problem): number {
  return since ?? Number.MAX_VALUE;
}

/** `default/web: createPod() failed: quota exceeded; failed twice, next try in 6 s`. */
export function noteText(note: DebugNote, now: number): string {
  const [text = note.message] = notesOf([note], now);
  return note.pods > 1 ? `${text} (${note.pods} pods have such a problem)` : text;
}
