import type { SteadyClock } from '../../base/clock.ts';
import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import { problemReport } from '../../base/problem.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { PodSnapshot, StatusManagerSnapshot } from '../../status/sync/snapshot.ts';
import type { PodSyncPhase } from '../../status/sync/sync-phase.ts';
import type { DebugPodRow } from './debug-api.ts';
import { bareProblem, isSameProblem } from './told-problems.ts';

/** Rows that are read again at each look though nothing was told of their pods: what only time changes is found so. */
const rotatedAtLeast = 500;
/** A row is read again at the latest after so many looks. */
const looksARound = 20;
/** Rows of pods on their way that are read again at each look. */
const unsettledAtMost = 1_000;

const settled: ReadonlySet<PodSyncPhase> = new Set(['in-sync', 'gone', 'deleting', 'cache-only', 'unknown']);

interface Kept {
  readonly row: DebugPodRow;
  /** Since when the apiserver lacks a change, in milliseconds since the epoch; undefined when it lacks none. */
  readonly unsentSince: number | undefined;
  /** The same by `Clock.elapsed`, as it was when the table was first told. */
  readonly agesFrom: number;
}

/** What has changed in the table since it was last asked. */
export interface TableChanges {
  readonly changed: readonly DebugPodRow[];
  readonly removed: readonly string[];
}

/** The rows of all pods, and which of them have changed. */
export class PodTable {
  readonly #manager: Pick<StatusManager, 'snapshot'>;
  readonly #clock: SteadyClock;
  readonly #rows = new Map<string, Kept>();
  readonly #touched = new Set<string>();
  readonly #unsettled = new FifoSet<string>();
  /** Every pod with a row, the one first whose turn it is to be read again. */
  readonly #rotation = new FifoSet<string>();
  readonly #changed = new Set<string>();
  readonly #removed = new Set<string>();
  #isFollowed = false;

  constructor(manager: Pick<StatusManager, 'snapshot'>, clock: SteadyClock) {
    this.#manager = manager;
    this.#clock = clock;
  }

  /**
   * Somebody will take the changes at short intervals, from now on: the table notes what is touched, changed and removed. It
   * notes nothing of this while nobody follows, since nobody would empty the notes.
   */
  follow(): void {
    this.unfollow();
    this.#isFollowed = true;
  }

  /** Nobody takes changes any more: what was noted is forgotten. */
  unfollow(): void {
    this.#isFollowed = false;
    this.#touched.clear();
    this.#changed.clear();
    this.#removed.clear();
  }

  /** Something has happened to this pod: its row is read at the next look of whoever follows. */
  touch(podUID: string): void {
    if (this.#isFollowed) this.#touched.add(podUID);
  }

  /** Reads every row. */
  readAll(): StatusManagerSnapshot {
    const snapshot = this.#manager.snapshot();
    const seen = new Set(snapshot.pods.map(({ podUID }) => podUID));
    for (const podUID of [...this.#rows.keys()]) if (!seen.has(podUID)) this.#remove(podUID);
    for (const pod of snapshot.pods) this.#note(pod, snapshot.at);
    this.#touched.clear();
    return snapshot;
  }

  /** Reads the rows of pods that something has happened to, of pods on their way, and a share of the others. */
  readSome(): StatusManagerSnapshot {
    const podUIDs = new Set(this.#touched);
    this.#touched.clear();
    for (let left = Math.min(unsettledAtMost, this.#unsettled.size); left > 0; left--) {
      const podUID = this.#unsettled.take();
      if (podUID !== undefined) podUIDs.add(podUID);
    }
    const share = Math.max(rotatedAtLeast, this.#rows.size / looksARound);
    for (let left = Math.min(share, this.#rotation.size); left > 0; left--) {
      const podUID = this.#rotation.take();
      if (podUID === undefined) break;
      podUIDs.add(podUID);
      this.#rotation.add(podUID);
    }
    const snapshot = this.#manager.snapshot({ podUIDs });
    for (const pod of snapshot.pods) {
      podUIDs.delete(pod.podUID);
      this.#note(pod, snapshot.at);
    }
    for (const podUID of podUIDs) this.#remove(podUID);
    // pods were dropped, and nothing told of it
    return snapshot.podCount === this.#rows.size ? snapshot : this.readAll();
  }

  takeChanges(): TableChanges {
    const changed = Array.from(this.#changed, (podUID) => this.#rows.get(podUID)?.row).filter((row) => row !== undefined);
    const removed = [...this.#removed];
    this.#changed.clear();
    this.#removed.clear();
    return { changed, removed };
  }

  get(podUID: string): DebugPodRow | undefined {
    return this.#rows.get(podUID)?.row;
  }

  get size(): number {
    return this.#rows.size;
  }

  rows(): DebugPodRow[] {
    return Array.from(this.#rows.values(), ({ row }) => row);
  }

  /**
   * The pods by sync phase and by their own phase, and how long the apiserver has lacked the oldest change. On the way `onTrouble` gets
   * each row with a problem.
   */
  counts(onTrouble: (row: DebugPodRow) => void = () => {}): Counts {
    const bySync = new Map<PodSyncPhase, number>();
    const byPhase = new Map<string, number>();
    let oldest: number | undefined;
    for (const { row, unsentSince, agesFrom } of this.#rows.values()) {
      if (row.problem !== undefined) onTrouble(row);
      const phase = phaseOf(row);
      bySync.set(row.sync, (bySync.get(row.sync) ?? 0) + 1);
      byPhase.set(phase, (byPhase.get(phase) ?? 0) + 1);
      if (unsentSince !== undefined) oldest = Math.min(oldest ?? agesFrom, agesFrom);
    }
    const oldestUnsentMs = oldest === undefined ? undefined : Math.round(this.#clock.elapsed() - oldest);
    return { bySync: Object.fromEntries(bySync), byPhase: Object.fromEntries(byPhase), oldestUnsentMs };
  }

  #note(pod: PodSnapshot, at: number): void {
    const { podUID } = pod;
    const row = rowOf(pod);
    const isSettled = settled.has(row.sync);
    const unsentSince = isSettled ? undefined : pod.unsentSince;
    if (!isSettled) this.#unsettled.add(podUID);
    const before = this.#rows.get(podUID);
    if (before !== undefined && isSameRow(before.row, row) && before.unsentSince === unsentSince) return;
    const isOlder = before !== undefined && before.unsentSince === unsentSince;
    const agesFrom = isOlder ? before.agesFrom : this.#clock.elapsed() - Math.max(0, at - (unsentSince ?? at));
    this.#rows.set(podUID, { row, unsentSince, agesFrom });
    this.#rotation.add(podUID);
    if (!this.#isFollowed) return;
    this.#changed.add(podUID);
    this.#removed.delete(podUID);
  }

  #remove(podUID: string): void {
    if (!this.#rows.delete(podUID)) return;
    this.#unsettled.delete(podUID);
    this.#rotation.delete(podUID);
    this.#changed.delete(podUID);
    if (this.#isFollowed) this.#removed.add(podUID);
  }
}

/** What stands for the manager of a page that shows none: it has no pods. */
export function noManager(clock: SteadyClock): Pick<StatusManager, 'snapshot'> {
  const nothing = {
    ...problemReport([], 0),
    ...({ state: 'idle', podCount: 0, inFlight: 0, pausedUntil: undefined, pods: [] } as const),
    channel: { depth: 0, capacity: 0, dropped: 0 },
  };
  return { snapshot: () => ({ ...nothing, at: clock.now() }) };
}

export interface Counts {
  readonly bySync: Readonly<Partial<Record<PodSyncPhase, number>>>;
  readonly byPhase: Readonly<Record<string, number>>;
  readonly oldestUnsentMs: number | undefined;
}

export function rowOf(pod: PodSnapshot): DebugPodRow {
  const { podUID, namespace, name, podPhase, ready, restarts, phase, version, acknowledgedVersion } = pod;
  const { attempt, isStatic, isDeleting, changedAt, problem } = pod;
  return {
    podUID,
    namespace,
    name,
    phase: podPhase || undefined,
    ready,
    restarts,
    sync: phase,
    version,
    acknowledgedVersion,
    attempt,
    isStatic,
    isDeleting,
    changedAt,
    problem: problem && bareProblem(problem),
  };
}

function isSameRow(a: DebugPodRow, b: DebugPodRow): boolean {
  for (const name in a) {
    if (a[name as keyof DebugPodRow] !== b[name as keyof DebugPodRow] && name !== 'problem') return false;
  }
  return isSameProblem(a.problem, b.problem);
}

/** Which pods are shown. An empty list lets every value pass. */
export interface PodFilter {
  /** Words, all of which must be in the namespace, the name or the UID; capitals do not matter. */
  readonly text: string;
  readonly sync: readonly string[];
  readonly phase: readonly string[];
  /** True: only pods with a problem. */
  readonly trouble: boolean;
}

/** What the text of a filter is looked for in. */
export function searchTextOf({ namespace, name, podUID }: DebugPodRow): string {
  return `${namespace}/${name} ${podUID}`.toLowerCase();
}

/** A pod that has no status, or whose status says no phase, counts as one of the phase `none`: `Unknown` is a phase that a pod may have. */
function phaseOf({ phase }: Pick<DebugPodRow, 'phase'>): string {
  return phase ?? noPhase;
}

export const noPhase = 'none';

/** The function that says whether a row, with its search text, is shown. */
export function matcherOf({ text, sync, phase, trouble }: PodFilter): (row: DebugPodRow, searchText: string) => boolean {
  const terms = text
    .toLowerCase()
    .split(/\s+/)
    .filter((term) => term !== '');
  return (row, searchText) =>
    (!trouble || row.problem !== undefined) &&
    (sync.length === 0 || sync.includes(row.sync)) &&
    (phase.length === 0 || phase.includes(phaseOf(row))) &&
    terms.every((term) => searchText.includes(term));
}

/** True for a query or an address that asks for pods in trouble alone: `trouble`, whatever its value but a no. */
export function isTroubleAsked(parameters: URLSearchParams): boolean {
  return !['0', 'false', 'no'].includes(parameters.get('trouble') ?? 'no');
}

/** Plain comparison by code unit: a hundred times faster than by locale, and names of pods are ASCII. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function byPodName(a: DebugPodRow, b: DebugPodRow): number {
  return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name) || compareTexts(a.podUID, b.podUID);
}

/** Pods with a problem first, of these the one first that has had it longest. Equal ones are to be put in order of their names. */
export function compareTrouble({ problem: a }: DebugPodRow, { problem: b }: DebugPodRow): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return Math.sign((a.since ?? Number.MAX_VALUE) - (b.since ?? Number.MAX_VALUE));
}
