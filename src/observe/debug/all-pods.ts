import type { Problem } from '../../base/problem.ts';
import type { StatusManagerSnapshot } from '../../status/sync/snapshot.ts';
import type { DebugCall, DebugNote, DebugPodRow, DebugProblem } from './debug-api.ts';
import type { TroubleOfKind } from './debug-notes.ts';
import type { DebugPodWithoutStatus, ToldPart } from './debug-part.ts';
import { type Counts, noPhase, type PodTable, type TableChanges } from './pod-table.ts';
import { bareProblem, isNear, isSameProblem, problemsOf } from './told-problems.ts';

/** What one of them says of what is wrong, and of pods that the manager has no status of. */
export type Teller = Pick<ToldPart, 'problems' | 'podsWithoutStatus' | 'callsUnderWay'> & { readonly kind: DebugNote['of'] };

/** What somebody else than the manager's table says of a pod. */
interface Outside {
  readonly namespace: string;
  readonly name: string;
  readonly since: number;
  readonly by: DebugNote['of'];
  readonly problem: Problem | undefined;
  readonly underWay: DebugCall | undefined;
}

/** What all pods come to. */
export interface AllCounts extends Counts {
  readonly pods: number;
  readonly inTrouble: number;
  readonly kinds: Iterable<TroubleOfKind>;
}

/**
 * The rows of all pods: those of the manager's table, with what a node and a scheduler say is wrong, and those that only a node or a
 * scheduler knows. Of the parts each look reads at most 1000 problems and 1000 pods.
 */
export class AllPods {
  readonly #table: PodTable;
  #outside: ReadonlyMap<string, Outside> = new Map();
  /** Pods of which a part has said something new since the changes were last taken. */
  readonly #changed = new Set<string>();
  #isFollowed = false;

  constructor(table: PodTable) {
    this.#table = table;
  }

  /** See `PodTable.follow`. */
  follow(): void {
    this.unfollow();
    this.#isFollowed = true;
    this.#table.follow();
  }

  /** See `PodTable.unfollow`. */
  unfollow(): void {
    this.#isFollowed = false;
    this.#changed.clear();
    this.#table.unfollow();
  }

  /** Reads every row. */
  readAll(parts: readonly ToldPart[]): StatusManagerSnapshot {
    const snapshot = this.#table.readAll();
    this.#take(tellers(snapshot, parts), snapshot.at);
    return snapshot;
  }

  /** Reads the rows that may have changed, and a share of the others. */
  readSome(parts: readonly ToldPart[]): StatusManagerSnapshot {
    const snapshot = this.#table.readSome();
    this.#take(tellers(snapshot, parts), snapshot.at);
    return snapshot;
  }

  takeChanges(): TableChanges {
    const { changed, removed } = this.#table.takeChanges();
    const podUIDs = new Set([...changed.map(({ podUID }) => podUID), ...removed, ...this.#changed]);
    this.#changed.clear();
    const rows = Array.from(podUIDs, (podUID) => ({ podUID, row: this.get(podUID) }));
    return {
      changed: rows.flatMap(({ row }) => row ?? []),
      removed: rows.flatMap(({ podUID, row }) => (row === undefined ? podUID : [])),
    };
  }

  get(podUID: string): DebugPodRow | undefined {
    const row = this.#table.get(podUID);
    const outside = this.#outside.get(podUID);
    if (outside === undefined) return row;
    return row === undefined ? outsideRow(podUID, outside) : withOutside(row, outside);
  }

  /** The row of a pod as these parts tell of it, whatever the manager knows; undefined where they do not. */
  rowOfParts(podUID: string, parts: readonly Teller[], now: number): DebugPodRow | undefined {
    const outside = outsideOf(parts, this.#outside, now).get(podUID);
    return outside && outsideRow(podUID, outside);
  }

  rows(): DebugPodRow[] {
    const rows = this.#table.rows();
    if (this.#outside.size === 0) return rows;
    const all = rows.map((row) => withOutside(row, this.#outside.get(row.podUID)));
    for (const [podUID, outside] of this.#outside)
      if (this.#table.get(podUID) === undefined) all.push(outsideRow(podUID, outside));
    return all;
  }

  counts(): AllCounts {
    const trouble = new Trouble();
    const { bySync, byPhase, oldestUnsentMs } = this.#table.counts((row) => {
      if (this.#outside.get(row.podUID)?.problem === undefined) trouble.note(row, 'manager');
    });
    let outsideOnly = 0;
    for (const [podUID, outside] of this.#outside) {
      const row = this.#table.get(podUID);
      if (row === undefined) outsideOnly += 1;
      if (outside.problem === undefined) continue;
      trouble.note(row === undefined ? outsideRow(podUID, outside) : withOutside(row, outside), outside.by);
    }
    return {
      bySync: outsideOnly === 0 ? bySync : { ...bySync, unknown: (bySync.unknown ?? 0) + outsideOnly },
      byPhase: outsideOnly === 0 ? byPhase : { ...byPhase, [noPhase]: (byPhase[noPhase] ?? 0) + outsideOnly },
      oldestUnsentMs,
      pods: this.#table.size + outsideOnly,
      inTrouble: trouble.count,
      kinds: trouble.kinds.values(),
    };
  }

  #take(all: readonly Teller[], at: number): void {
    const [before, after] = [this.#outside, outsideOf(all, this.#outside, at)];
    this.#outside = after;
    for (const [podUID, outside] of after) {
      const known = before.get(podUID);
      // what was told stays, so that the next look is compared with it
      if (known !== undefined && isSameOutside(known, outside)) after.set(podUID, known);
      else if (this.#isFollowed) this.#changed.add(podUID);
    }
    if (!this.#isFollowed) return;
    for (const podUID of before.keys()) if (!after.has(podUID)) this.#changed.add(podUID);
  }
}

/** Whose word counts, the first one most: the node's, then the manager's, also of pods that have no status, then the scheduler's. */
export function tellers(snapshot: Pick<StatusManagerSnapshot, 'problems'>, parts: readonly ToldPart[]): Teller[] {
  const manager: Teller = {
    kind: 'manager',
    problems: problemsOf(snapshot.problems),
    podsWithoutStatus: [],
    callsUnderWay: [],
  };
  const ofManager = new Set(manager.problems.map(keyOf));
  // a node tells its manager's problems, too: what it knows itself comes first
  const nodes = parts
    .filter(({ kind }) => kind === 'node')
    .map((node): Teller => {
      const own = node.problems.filter((one) => !ofManager.has(keyOf(one)));
      const ofManagerToo = node.problems.filter((one) => ofManager.has(keyOf(one)));
      return { ...node, problems: [...own, ...ofManagerToo] };
    });
  return [...nodes, manager, ...parts.filter(({ kind }) => kind !== 'node')];
}

function keyOf({ podUID = '', kind, message }: DebugProblem): string {
  return `${podUID} ${kind} ${message}`;
}

/** Of each pod the first problem; a pod with a problem that is not known to have no status may have one in the manager. */
function outsideOf(parts: readonly Teller[], before: ReadonlyMap<string, Outside>, at: number): Map<string, Outside> {
  const all = new Map<string, Outside>();
  for (const { kind, problems, podsWithoutStatus, callsUnderWay } of parts) {
    const put = (pod: DebugPodWithoutStatus, problem: Problem | undefined, underWay: DebugCall | undefined): void => {
      const { podUID, podNamespace: namespace, podName: name, since = before.get(podUID)?.since ?? at } = pod;
      all.set(podUID, { namespace, name, since, by: kind, problem, underWay });
    };
    for (const problem of problems) {
      const { podUID, podNamespace = '', podName = '', since } = problem;
      const known = podUID === undefined ? undefined : all.get(podUID);
      // what is under way is no problem: the next one may know of one
      if (podUID === undefined || (known !== undefined && known.underWay === undefined) || known?.problem !== undefined) continue;
      put({ podUID, podNamespace, podName, since }, bareProblem(problem), known?.underWay);
    }
    for (const pod of podsWithoutStatus) put(pod, all.get(pod.podUID)?.problem, all.get(pod.podUID)?.underWay);
    for (const { method, since, ...pod } of callsUnderWay) {
      const known = all.get(pod.podUID);
      put({ ...pod, since: known?.since ?? since }, known?.problem, { method, since });
    }
  }
  return all;
}

function isSameOutside(a: Outside, b: Outside): boolean {
  return (
    isNear(a.since, b.since) &&
    a.by === b.by &&
    a.name === b.name &&
    a.namespace === b.namespace &&
    isSameProblem(a.problem, b.problem) &&
    a.underWay?.method === b.underWay?.method &&
    a.underWay?.since === b.underWay?.since
  );
}

function withOutside(row: DebugPodRow, outside: Pick<Outside, 'problem' | 'underWay'> | undefined): DebugPodRow {
  const { problem, underWay } = outside ?? {};
  if (problem === undefined && underWay === undefined) return row;
  return { ...row, ...(problem !== undefined && { problem }), ...(underWay !== undefined && { underWay }) };
}

/** The row of a pod that the manager has no status of. */
function outsideRow(podUID: string, outside: Outside): DebugPodRow {
  const { namespace, name, since, by } = outside;
  return withOutside({ ...rowWithoutStatus(podUID, namespace, name || podUID), changedAt: since, knownBy: by }, outside);
}

/** The row of a pod of which nothing but its name is known. */
export function rowWithoutStatus(podUID: string, namespace: string, name: string): DebugPodRow {
  return {
    podUID,
    namespace,
    name,
    phase: undefined,
    ready: false,
    restarts: 0,
    sync: 'unknown',
    version: 0,
    acknowledgedVersion: 0,
    attempt: 0,
    isStatic: false,
    isDeleting: false,
    changedAt: 0,
  };
}

/** The pods that have a problem, by its kind. */
class Trouble {
  readonly kinds = new Map<string, TroubleOfKind>();
  count = 0;

  /** `of`: who tells of the problem. */
  note(row: DebugPodRow, of: TroubleOfKind['of']): void {
    const { problem } = row;
    if (problem === undefined) return;
    this.count += 1;
    const known = this.kinds.get(problem.kind);
    const isOlder = known === undefined || (problem.since ?? Number.MAX_VALUE) < (known.problem.since ?? Number.MAX_VALUE);
    const pods = (known?.pods ?? 0) + 1;
    this.kinds.set(problem.kind, isOlder ? { row, problem, of, pods } : { ...known, pods });
  }
}
