// Behaviour of pkg/kubelet/config/config.go (podStorage), v1.36.3.

import { formatNanoTime } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { apiserverSource, podFullName, podText, podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { changeOf, type MetadataOf, newPod } from './pod-changes.ts';

/** What a merge tells others of, and how. */
export interface PodStorageOptions {
  readonly metadataOf: MetadataOf;
  readonly eventRecorder: EventRecorder;
  /** Gets each pod of each list of the apiserver; undefined: nobody wants to know. */
  readonly podObserved: ((pod: Pod) => void) | undefined;
  readonly now: () => number;
  readonly logger: Logger;
}

interface KeptPod {
  /** The object that the source has sent last. The same object again is the same pod, so nothing is compared. */
  given: Pod;
  /** Of `given`. */
  fullName: string;
  pod: Pod;
}

/** What one list has changed, by operation. */
export interface Merge {
  readonly isFirst: boolean;
  readonly removed: readonly Pod[];
  readonly added: readonly Pod[];
  readonly updated: readonly Pod[];
  readonly deleted: readonly Pod[];
  readonly reconciled: readonly Pod[];
}

/** A pod that is left out of its list, because another one of the list counts in its place. */
export interface LeftOutPod {
  /** The pod's `metadata.uid`. */
  readonly podUID: string;
  /** The pod's namespace. */
  readonly podNamespace: string;
  /** The pod's name. */
  readonly podName: string;
  /** What the other pod has, too. */
  readonly same: 'name' | 'uid';
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
}

/** So many are remembered of one list. */
/** What a pod that is left out of a list means. */
export const leftOutWords = { kind: 'left-out', help: 'Give each pod of the source a name and a uid of its own.' } as const;

const mostLeftOut = 100;

/** What is kept of one source. */
interface SourcePods {
  /** By uid, in the order of the list. */
  readonly kept: Map<string, KeptPod>;
  /** The uid of each full name. */
  readonly uids: Map<string, string>;
  /** The last list. */
  list: readonly Pod[];
  /** True where the list has been taken as it is, each entry as a pod of its own. */
  isWhole: boolean;
  readonly leftOut: readonly LeftOutPod[];
}

/**
 * The pods of each source as its last list left them. The sources do not see each other: a uid that two of them have is
 * two pods here. A pod that it has handed out is never changed; a change makes another object.
 *
 * Of a list that differs from the one before in a few pods, only these are read.
 */
export class PodStorage {
  readonly #options: PodStorageOptions;
  readonly #sources = new Map<string, SourcePods>();

  constructor(options: PodStorageOptions) {
    this.#options = options;
  }

  hasSeen(source: string): boolean {
    return this.#sources.has(source);
  }

  /** How many pods the last list of the source has. */
  count(source: string): number {
    return this.#sources.get(source)?.kept.size ?? 0;
  }

  /** The pods that are left out of the last list of the source, at most 100. */
  leftOut(source: string): readonly LeftOutPod[] {
    return this.#sources.get(source)?.leftOut ?? [];
  }

  pods(): Pod[] {
    return [...this.#sources.values()].flatMap(({ kept }) => Array.from(kept.values(), ({ pod }) => pod));
  }

  /** Takes the source's full list in place of the one before. */
  merge(source: string, list: readonly Pod[]): Merge {
    const before = this.#sources.get(source);
    const changes = before && this.#changesOf(source, before, list);
    if (before !== undefined && changes !== undefined) return this.#mergeChanges(source, before, list, changes);
    const merge = new ListMerge(source, before?.kept ?? new Map<string, KeptPod>(), list, this.#options);
    for (const pod of list) merge.take(pod);
    const { kept, uids, hasFailed } = merge;
    const leftOut = merge.leftOut.map((one) => ({ ...one, since: before?.leftOut.find(isSamePod(one))?.since ?? one.since }));
    this.#sources.set(source, { kept, uids, list, isWhole: !hasFailed && kept.size === list.length, leftOut });
    return merge.result(before === undefined, merge.removed());
  }

  /** Undefined where the whole list has to be looked at. */
  #changesOf(source: string, { kept, uids, list, isWhole }: SourcePods, after: readonly Pod[]): ListChanges | undefined {
    if (!isWhole || (source === apiserverSource && this.#options.podObserved !== undefined)) return undefined;
    return callGuarded(() => {
      const changes = listChanges(list, after, (uid) => kept.get(uid)?.given);
      if (changes === undefined) return undefined;
      const free = new Set(changes.gone.map((pod) => pod.metadata?.uid));
      const [comeUIDs, comeNames] = [new Set<string>(), new Set<string>()];
      for (const pod of changes.come) {
        const [uid, fullName] = [podUIDOf(pod), podFullName(pod)];
        const holder = uids.get(fullName);
        const isTaken = holder !== undefined && !free.has(holder);
        // which of two pods counts is seen in the whole list
        if (uid === '' || isTaken || comeUIDs.has(uid) || comeNames.has(fullName)) return undefined;
        comeUIDs.add(uid);
        comeNames.add(fullName);
      }
      return changes;
    }, ignoreFailure);
  }

  #mergeChanges(source: string, pods: SourcePods, list: readonly Pod[], { gone, come }: ListChanges): Merge {
    const { kept, uids } = pods;
    const left = new Map<string, KeptPod>();
    for (const { metadata } of gone) {
      const known = kept.get(metadata?.uid ?? '');
      if (known === undefined) continue;
      left.set(metadata?.uid ?? '', known);
      uids.delete(known.fullName);
    }
    const merge = new ListMerge(source, kept, come, this.#options);
    for (const pod of come) merge.take(pod);
    for (const [uid, one] of merge.kept) {
      left.delete(uid);
      kept.set(uid, one);
      uids.set(one.fullName, uid);
    }
    for (const uid of left.keys()) kept.delete(uid);
    pods.list = list;
    pods.isWhole = !merge.hasFailed && kept.size === list.length;
    return merge.result(false, [...left.values()]);
  }
}

/** One list on its way into the storage. */
class ListMerge {
  readonly kept = new Map<string, KeptPod>();
  /** The uid of each full name. */
  readonly uids = new Map<string, string>();
  /** True once an entry could not be read or compared. */
  hasFailed = false;
  readonly leftOut: LeftOutPod[] = [];
  readonly #source: string;
  readonly #before: ReadonlyMap<string, KeptPod>;
  readonly #list: readonly Pod[];
  readonly #options: PodStorageOptions;
  /** Uid and name of each pod of the list; made when it is asked for first. */
  #identities: ReadonlySet<string> | undefined;
  readonly #changes = { ADD: [] as KeptPod[], UPDATE: [] as KeptPod[], DELETE: [] as KeptPod[], RECONCILE: [] as KeptPod[] };

  constructor(source: string, before: ReadonlyMap<string, KeptPod>, list: readonly Pod[], options: PodStorageOptions) {
    this.#source = source;
    this.#before = before;
    this.#list = list;
    this.#options = options;
  }

  /** An entry that is no pod is logged and left out. */
  take(given: Pod): void {
    try {
      this.#take(given);
    } catch (error) {
      this.hasFailed = true;
      this.#options.logger.error({ source: this.#source, err: error }, 'an entry of a list cannot be read; it is left out');
    }
  }

  result(isFirst: boolean, removed: readonly KeptPod[]): Merge {
    const podsOf = (kept: readonly KeptPod[]): Pod[] => kept.map(({ pod }) => pod);
    const { ADD, UPDATE, DELETE, RECONCILE } = this.#changes;
    return {
      isFirst,
      removed: podsOf(removed),
      added: podsOf(ADD),
      updated: podsOf(UPDATE),
      deleted: podsOf(DELETE),
      reconciled: podsOf(RECONCILE),
    };
  }

  #take(given: Pod): void {
    const uid: unknown = given.metadata?.uid;
    if (typeof uid !== 'string' || uid === '') throw new TypeError('a pod without a uid');
    const known = this.#before.get(uid);
    const fullName = known?.given === given ? known.fullName : podFullName(given);
    if (this.uids.has(fullName)) {
      this.#refuseDuplicate(given, 'name', given.metadata?.name ?? '');
      return;
    }
    if (this.#isSecondOfUid(uid, fullName, known)) {
      this.#refuseDuplicate(given, 'uid', uid);
      return;
    }
    this.uids.set(fullName, uid);
    if (this.#source === apiserverSource) this.#options.podObserved?.(given);
    if (known === undefined) this.#add(uid, given, fullName);
    else this.#update(uid, known, given, fullName);
  }

  #add(uid: string, given: Pod, fullName: string): void {
    const pod = newPod(given, this.#source, formatNanoTime(this.#options.now()));
    const kept = { given, fullName, pod };
    this.kept.set(uid, kept);
    this.#changes.ADD.push(kept);
  }

  #update(uid: string, known: KeptPod, given: Pod, fullName: string): void {
    // first of all: what cannot be compared stays as it is
    this.kept.set(uid, known);
    if (known.given === given) return;
    const { op, pod } = changeOf(known.pod, given, this.#options.metadataOf);
    known.pod = pod;
    known.given = given;
    known.fullName = fullName;
    if (op !== undefined) this.#changes[op].push(known);
  }

  /**
   * True for a pod whose uid another pod of the list has: the one that is known under its name, or else the first. With the
   * metadata of the first sight there is none: the kubelet takes both, and mixes them up from the second list on.
   */
  #isSecondOfUid(uid: string, fullName: string, known: KeptPod | undefined): boolean {
    if (this.#options.metadataOf === 'firstSeen') return false;
    if (this.kept.has(uid)) return true;
    return known !== undefined && known.fullName !== fullName && this.#isListed(uid, known.fullName);
  }

  #isListed(uid: string, fullName: string): boolean {
    this.#identities ??= new Set(this.#list.flatMap((pod) => identityOf(pod) ?? []));
    return this.#identities.has(JSON.stringify([uid, fullName]));
  }

  #refuseDuplicate(given: Pod, what: 'name' | 'uid', value: string): void {
    const [pod, source] = [podText(given), this.#source];
    const message = `Error validating pod ${pod} from ${source} due to duplicate pod ${what} ${JSON.stringify(value)}, ignoring`;
    this.#options.logger.warn(
      { ...podFields(given.metadata), source, same: what, ...problemFields(leftOutWords) },
      'two pods of a list have one name or one uid; this one is left out',
    );
    this.#options.eventRecorder.event(given, 'Warning', 'FailedValidation', message);
    if (this.leftOut.length === mostLeftOut) return;
    const { uid: podUID = '', namespace: podNamespace = '', name: podName = '' } = given.metadata ?? {};
    this.leftOut.push({ podUID, podNamespace, podName, same: what, since: this.#options.now() });
  }

  /** What was kept before and is not in the list. */
  removed(): KeptPod[] {
    // every pod that was kept has been there before, and none is missing
    if (this.#changes.ADD.length === 0 && this.kept.size === this.#before.size) return [];
    const removed: KeptPod[] = [];
    for (const [uid, kept] of this.#before) {
      if (!this.kept.has(uid)) removed.push(kept);
    }
    return removed;
  }
}

function isSamePod(one: LeftOutPod): (other: LeftOutPod) => boolean {
  return ({ podUID, podNamespace, podName }) =>
    podUID === one.podUID && podNamespace === one.podNamespace && podName === one.podName;
}

/** Undefined for an entry that cannot be read. */
function identityOf(pod: Pod): string | undefined {
  try {
    return JSON.stringify([pod.metadata?.uid, podFullName(pod)]);
  } catch {
    return undefined;
  }
}

/** What is not the same object in both of two lists. */
interface ListChanges {
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
function listChanges(
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
    const uid = podUIDOf(pod);
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
