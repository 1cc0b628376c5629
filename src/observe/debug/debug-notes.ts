import { notesOf, type Problem, roundedDuration } from '../../base/problem.ts';
import type { DebugCall, DebugNote, DebugPodRow, DebugProblem, DebugSummary } from './debug-api.ts';

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

/** `createPod() under way for 48 s`. */
export function underWayText({ method, since }: DebugCall, now: number): string {
  return `${method}() under way for ${roundedDuration(now - since)}`;
}

/** `default/web: createPod() failed: quota exceeded; failed twice, next try in 6 s`. */
export function noteText(note: DebugNote, now: number): string {
  const [text = note.message] = notesOf([note], now);
  return note.pods > 1 ? `${text} (${note.pods} pods have a problem of this kind)` : text;
}

/** How many problems each of them has that are no pod's. */
export function countsOf(own: readonly OwnProblem[]): DebugSummary['ownProblems'] {
  const counts: { [Of in DebugNote['of']]?: number } = {};
  for (const { of } of own) counts[of] = (counts[of] ?? 0) + 1;
  return counts;
}

/** How much is wrong in all: pods with a problem, and problems that are no pod's. */
export function troubleCount({ inTrouble, ownProblems }: Pick<DebugSummary, 'inTrouble' | 'ownProblems'>): number {
  return Object.values(ownProblems).reduce((sum, count) => sum + count, inTrouble);
}

/** The same in words: `none`, `! 2 problems of the node, 1 of 6 pods`. */
export function troubleWords({ pods, inTrouble, ownProblems }: DebugSummary): string {
  const parts = Object.entries(ownProblems).map(([of, count]) => `${count} ${plural('problem', count)} of the ${of}`);
  if (inTrouble > 0) parts.push(`${inTrouble} of ${pods} ${plural('pod', pods)}`);
  return parts.length === 0 ? 'none' : `! ${parts.join(', ')}`;
}

/** `pod` for one, `pods` for any other count. */
export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}
