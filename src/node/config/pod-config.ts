// Behaviour of pkg/kubelet/config/config.go and mux.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { type LastFailure, RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import {
  integerOption,
  oneOfOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
  requireText,
} from '../../base/options.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import { retriedError } from '../../client/resources/api-problem.ts';
import type { RetriedError } from '../../client/resources/error-class.ts';
import type { PodSource, SendPods } from '../sources/pod-source.ts';
import type { MetadataOf, PodOperation, PodUpdate } from './pod-changes.ts';
import { type LeftOutPod, type Merge, PodStorage } from './pod-storage.ts';
import { SourceRuns } from './source-runs.ts';
import { UpdateQueue } from './update-queue.ts';

/**
 * The pods of any number of sources, as one stream of changes. Each source sends full lists; a list says what was added
 * (ADD), changed (UPDATE, or DELETE where the pod has a deletionTimestamp), removed (REMOVE), and what has only another
 * status (RECONCILE): an agent that writes a status and sees it come back has nothing to do.
 *
 * A change is one of the spec, the labels, the deletionTimestamp, the deletionGracePeriodSeconds, or an annotation other
 * than `kubernetes.io/config.*`. Within a list the first of two pods with one name counts; of two pods with
 * one uid the one that is known by its name, or else the first (with `metadata: 'firstSeen'` both are told of as one, as in the
 * kubelet). Sources do not see each other.
 *
 * There is one consumer, and no more than `capacity` updates wait for it. While there is no room, the newest list of each
 * source waits and is merged once there is: what came and went meanwhile is never told, and the last word always is.
 *
 * @example
 * ```ts
 * import { PodConfig } from 'pod-status-manager/node';
 *
 * const config = new PodConfig();
 * const send = config.channel('own'); // or config.addSource('file', new FileSource(...))
 * config.start();
 * send([{ metadata: { uid: '1', name: 'web', namespace: 'default' }, spec: { containers: [{ name: 'app' }] } }]);
 * for await (const { op, source, pods } of config.updates()) {
 *   console.log(op, source, pods.length); // ADD own 1
 *   break;
 * }
 * await config.stop();
 * ```
 */
export class PodConfig {
  readonly #mode: ConfigMode;
  readonly #storage: PodStorage;
  readonly #queue: UpdateQueue;
  /** The newest list of each source that is not merged yet, in the order of the oldest one that it stands for. */
  readonly #lists = new LateMap<string, readonly Pod[]>();
  readonly #channels = new LateMap<string, SendPods>();
  readonly #sources: SourceRuns;
  readonly #runState = new RunState('pod config');
  readonly #logger: Logger;
  #isMerging = false;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: PodConfigOptions = {}) {
    const { mode, capacity, metadata, eventRecorder, podsObserved, clock, logger } = checkedPodConfigOptions(options);
    this.#mode = mode;
    this.#logger = logger;
    this.#queue = new UpdateQueue(capacity, () => this.#merge());
    this.#sources = new SourceRuns(clock, logger);
    const observed = podsObserved && guardedObserver(podsObserved, logger);
    this.#storage = new PodStorage({
      metadataOf: metadata,
      eventRecorder,
      podObserved: observed,
      logger,
      now: () => clock.now(),
    });
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /**
   * Adds a source, and starts it with the config. Throws ERR_INVALID_ARGUMENT for a name that is taken and for what is no
   * source, ERR_STOPPED after `stop()`.
   */
  addSource(name: string, source: PodSource): void {
    this.#runState.assertNotStopped('addSource');
    requireText('name', name);
    if (typeof source?.start !== 'function' || typeof source.stop !== 'function') {
      throw invalidArgument('source', 'an object with start, stop', source);
    }
    if (this.#channels.has(name)) throw invalidArgument('name', 'the name of no other source', name);
    this.#sources.add(name, source, this.#open(name));
  }

  /**
   * Opens a source that the caller feeds by hand; again, gives the same function. Throws ERR_INVALID_ARGUMENT for the name of
   * a source that was added, ERR_STOPPED after `stop()`.
   */
  channel(name: string): SendPods {
    this.#runState.assertNotStopped('channel');
    requireText('name', name);
    if (this.#sources.has(name)) throw invalidArgument('name', 'the name of no source that was added', name);
    return this.#channels.get(name) ?? this.#open(name);
  }

  /** Starts the sources. Throws ERR_ALREADY_STARTED, ERR_STOPPED. */
  start(): void {
    this.#runState.start();
    this.#sources.start();
  }

  /** Stops the sources and ends the iterator; what it has not yielded is dropped. A source that takes longer than 10 s is left behind. */
  stop(): Promise<void> {
    return this.#runState.stop(() => {
      this.#queue.close();
      return this.#sources.stop();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * The changes, in order. One consumer: throws ERR_ALREADY_STARTED while an iterator is open. After its `return()` the next
   * one goes on where it has ended. Ends at `stop()`.
   */
  updates(): AsyncIterableIterator<PodUpdate, undefined> {
    if (this.#queue.isRead) {
      throw new StatusManagerError(
        'ERR_ALREADY_STARTED',
        'The updates of the pod config are being read already: they have one consumer',
      );
    }
    return this.#queue.read();
  }

  /** True once a list of this source was merged. */
  hasSeen(source: string): boolean {
    return this.#storage.hasSeen(source);
  }

  /**
   * True when a list of every source was merged, and `expected`, if given, names every source: a consumer gives the sources
   * of the updates that it has taken. True of a config without sources.
   */
  seenAllSources(expected?: Iterable<string>): boolean {
    const names = expected === undefined ? undefined : new Set(expected);
    return [...this.#channels.keys()].every((source) => this.hasSeen(source) && (names?.has(source) ?? true));
  }

  /** What each source did last, and what it could not do, in the order in which they were added. Works in every state. */
  explain(): readonly PodSourceReport[] {
    return Array.from(this.#channels.keys(), (name) => ({
      name,
      hasSent: this.hasSeen(name),
      isWaiting: this.#lists.has(name),
      pods: this.#storage.count(name),
      leftOut: this.#storage.leftOut(name),
      ...askSource(this.#sources.find(name)),
    }));
  }

  #open(source: string): SendPods {
    const send: SendPods = (pods) => this.#take(source, pods);
    this.#channels.set(source, send);
    return send;
  }

  #take(source: string, pods: readonly Pod[]): void {
    if (this.#runState.name === 'stopping' || this.#runState.name === 'stopped') return;
    if (!Array.isArray(pods)) {
      this.#logger.error(
        { source, type: typeof pods },
        'a pod source has sent something that is no list; the list before counts',
      );
      return;
    }
    // the sender may change the array while it waits
    this.#lists.set(source, pods.slice());
    this.#merge();
  }

  #merge(): void {
    // an injected function that is called by a merge may send a list: it is merged after this one
    if (this.#isMerging) return;
    this.#isMerging = true;
    try {
      for (const [source, pods] of this.#lists) {
        if (!this.#queue.hasRoomFor(mostUpdatesOfAList)) return;
        this.#lists.delete(source);
        const merge = this.#storage.merge(source, pods);
        this.#queue.push(updatesAfter(this.#mode, source, merge, () => this.#storage.pods()));
      }
    } finally {
      this.#isMerging = false;
    }
  }
}

function guardedObserver(podsObserved: (podUID: string) => void, logger: Logger): (pod: Pod) => void {
  return (pod) => {
    callGuarded(
      () => podsObserved(podUIDOf(pod)),
      (err) => logger.error({ err, ...podFields(pod.metadata) }, 'podsObserved failed'),
    );
  };
}

/** How changes are told, and to whom. Every option may be left out. */
export interface PodConfigOptions {
  /** How changes are told. Default `Incremental`, as the kubelet's. */
  readonly mode?: ConfigMode;
  /** The most updates that wait for the consumer, at least 5. Default 50. */
  readonly capacity?: number;
  /**
   * The metadata of a known pod after a change. `latest` (the default): those of the newest list, so that a status manager
   * behind the config knows the resourceVersion that goes with the status. `firstSeen`: as in the kubelet, the
   * resourceVersion, owner references and finalizers of the first sight. With both, the name, the namespace and the
   * annotations `kubernetes.io/config.*` stay.
   */
  readonly metadata?: MetadataOf;
  /** Gets a warning for each pod that is left out because another one of its list has the same name or uid. */
  readonly eventRecorder?: EventRecorder;
  /** Gets the uid of each pod of each list of the source `api`: the start-up observer. What it throws is logged. */
  readonly podsObserved?: (podUID: string) => void;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type CheckedPodConfigOptions = Required<Omit<PodConfigOptions, 'podsObserved' | 'logger'>> &
  Pick<PodConfigOptions, 'podsObserved'> & { readonly logger: Logger };

const knownOptions = ['mode', 'capacity', 'metadata', 'eventRecorder', 'podsObserved', 'clock', 'logger'];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
function checkedPodConfigOptions(options: PodConfigOptions): CheckedPodConfigOptions {
  requireKnownOptions('options', options, knownOptions);
  const { mode = 'Incremental', capacity = 50, metadata = 'latest', eventRecorder = noEvents, podsObserved } = options;
  const { clock = systemClock, logger } = options;
  requireMethods('eventRecorder', eventRecorder, ['event']);
  if (podsObserved !== undefined) optionOfType('podsObserved', podsObserved, 'function');
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    mode: oneOfOption('mode', mode, ['Incremental', 'SnapshotAndUpdates', 'Snapshot']),
    capacity: integerOption('capacity', capacity, mostUpdatesOfAList),
    metadata: oneOfOption('metadata', metadata, ['firstSeen', 'latest']),
    eventRecorder: safeEventRecorder(eventRecorder),
    ...(podsObserved !== undefined && { podsObserved }),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}

// Behaviour of pkg/kubelet/config/config.go (Merge): v1.36.3 for Incremental, v1.28 for the modes that v1.36 has no more.

/**
 * `Incremental`: each change as its own operation. `SnapshotAndUpdates`: after a list that added or removed pods, and after
 * a source's first list, a SET of the pods of all sources; then UPDATE and DELETE for the pods that changed. `Snapshot`: a
 * SET of the pods of all sources after each list that changed anything but statuses, and after a source's first list. Only
 * `Incremental` tells of changes of a status alone.
 */
export type ConfigMode = 'Incremental' | 'SnapshotAndUpdates' | 'Snapshot';

/** The most updates that one list can lead to. */
const mostUpdatesOfAList = 5;

/** What to tell after a merge, in order. */
function updatesAfter(mode: ConfigMode, source: string, merge: Merge, allPods: () => readonly Pod[]): PodUpdate[] {
  const update = (op: PodOperation, pods: readonly Pod[]): PodUpdate[] => (pods.length > 0 ? [{ op, source, pods }] : []);
  const { isFirst, removed, added, updated, deleted, reconciled } = merge;
  const set = (): PodUpdate => ({ op: 'SET', source, pods: allPods() });
  const cameOrWent = isFirst || removed.length + added.length > 0;
  switch (mode) {
    case 'Incremental': {
      const told = [...update('REMOVE', removed), ...update('ADD', added), ...update('UPDATE', updated)];
      told.push(...update('DELETE', deleted));
      // of a first list no pod was known before, so there is no other change
      if (isFirst && added.length === 0) told.push({ op: 'ADD', source, pods: [] });
      return [...told, ...update('RECONCILE', reconciled)];
    }
    case 'SnapshotAndUpdates':
      return [...(cameOrWent ? [set()] : []), ...update('UPDATE', updated), ...update('DELETE', deleted)];
    case 'Snapshot':
      return cameOrWent || updated.length + deleted.length > 0 ? [set()] : [];
  }
}

/** What is known of one source of pods. It can be turned into JSON. */
export interface PodSourceReport {
  /** The name under which the source was added, such as `api`. */
  readonly name: string;
  /** True once a list of the source was merged. */
  readonly hasSent: boolean;
  /** True while a newer list of it waits until the consumer has made room. */
  readonly isWaiting: boolean;
  /** How many pods its last merged list has. */
  readonly pods: number;
  /** The pods of that list that are left out, because another one of the list has the same name or uid; at most 100. */
  readonly leftOut: readonly LeftOutPod[];
  /** When it last heard from where its pods come from, in milliseconds since the epoch; undefined where it does not say. */
  readonly lastObservedAt: number | undefined;
  /** Why its pods could not be read last, while they were not read since; undefined where it does not say. */
  readonly lastError: RetriedError | undefined;
}

/** What the source says of itself. A source of somebody else's that throws, or says something else, says nothing. */
function askSource(source: PodSource | undefined): Pick<PodSourceReport, 'lastObservedAt' | 'lastError'> {
  const observedAt: unknown = callGuarded(() => source?.lastObservedAt?.(), ignoreFailure);
  const failure: unknown = callGuarded(() => source?.lastFailure?.(), ignoreFailure);
  const lastError = isLastFailure(failure) ? retriedError(failure) : undefined;
  return { lastObservedAt: typeof observedAt === 'number' ? observedAt : undefined, lastError };
}

function isLastFailure(value: unknown): value is LastFailure {
  const copy = (callGuarded(() => ({ ...(value as object) }), ignoreFailure) ?? {}) as Partial<LastFailure>;
  const { at, retryAt, since = 0, attempt = 0 } = copy;
  return [at, retryAt, since, attempt].every((one) => typeof one === 'number');
}
