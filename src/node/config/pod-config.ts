// Behaviour of pkg/kubelet/config/config.go and mux.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { requireText } from '../../base/options.ts';
import type { PodSource, SendPods } from '../sources/pod-source.ts';
import { type ConfigMode, mostUpdatesOfAList, updatesAfter } from './notifications.ts';
import { checkedPodConfigOptions, type PodConfigOptions } from './pod-config-options.ts';
import { askSource, type PodSourceReport } from './pod-source-report.ts';
import { PodStorage } from './pod-storage.ts';
import type { PodUpdate } from './pod-update.ts';
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
  readonly #lists = new Map<string, readonly Pod[]>();
  readonly #channels = new Map<string, SendPods>();
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
      ...{ metadataOf: metadata, eventRecorder, podObserved: observed, logger },
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

function guardedObserver(podsObserved: (podUID: string) => void, logger: Logger): (podUID: string) => void {
  return (podUID) => {
    callGuarded(
      () => podsObserved(podUID),
      (error) => logger.error({ podUID, err: error }, 'podsObserved failed'),
    );
  };
}
