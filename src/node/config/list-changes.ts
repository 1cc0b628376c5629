import type { Pod } from '../../api/json/types.ts';

/** What is not the same object in both of two lists. */
export interface ListChanges {
  /** Entries of the first list, in its order. */
  readonly gone: readonly Pod[];
  /** Entries of the second list, in its order: those of a uid that the first one has are in its place, the others come last. */
  readonly come: readonly Pod[];
}

/**
 * Compares two lists of which most entries are the same objects in the same order: of these nothing is read. `known`: the entry
 * of the first list with a uid. Undefined where an entry has moved, or a new one stands among the others. Throws for an entry
 * that cannot be read.
 */
export function listChanges(
  before: readonly Pod[],
  after: readonly Pod[],
  known: (podUID: string) => Pod | undefined,
): ListChanges | undefined {
  const gone: Pod[] = [];
  const come: Pod[] = [];
  let at = 0;
  let hasNew = false;
  for (let next = 0; next < after.length; next += 1) {
    const start = at;
    // most lists differ in few entries: this is nearly all that is done
    while (at < before.length && next < after.length && before[at] === after[next]) {
      at += 1;
      next += 1;
    }
    // a pod that was known comes after one that is new
    if (hasNew && at > start) return undefined;
    if (next === after.length) break;
    const pod = after[next] as Pod;
    const uid = pod.metadata?.uid ?? '';
    const earlier = known(uid);
    if (earlier === undefined) {
      hasNew = true;
      come.push(pod);
      continue;
    }
    if (hasNew) return undefined;
    while (at < before.length && before[at] !== earlier) gone.push(before[at++] as Pod);
    if (at === before.length) return undefined;
    at += 1;
    if (earlier === pod) continue;
    gone.push(earlier);
    come.push(pod);
  }
  gone.push(...before.slice(at));
  return { gone, come };
}
