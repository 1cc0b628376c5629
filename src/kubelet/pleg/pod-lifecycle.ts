import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { sleep } from '../../base/clock.ts';
import { LinkedAbort, settledAtOnce, untilAborted } from '../../base/concurrency/aborts.ts';
import { RunState } from '../../base/concurrency/run-state.ts';
import { KeyedTimers, WakeableWait } from '../../base/concurrency/timers.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import { durationText } from '../../node/workers/restart-backoff.ts';
import { isRuntimeError, RuntimeError, type RuntimeEvent } from '../runtime/container-runtime.ts';
import type { AgentPodStatus } from './agent-status.ts';
import { EventReader } from './event-reader.ts';
import { KnownPods } from './known-pods.ts';
import { isRunning, type ListedPod, listPods, runningPod } from './listed-pods.ts';
import { LifecycleMetrics, type PodLifecycleOptions } from './pod-lifecycle-options.ts';
import { boundedRead, PodReader, type ReadTime, ReadTimes, SharedRead } from './pod-reader.ts';

/** How often the runtime is listed while it sends no events, and while it does. */
const relistPeriodMs = 1000;
const eventedRelistPeriodMs = 10_000;
/** The runtime is healthy while its last list is not older, as the kubelet's. */
const relistThresholdMs = 180_000;

/** So many lists follow one another at the short period when events may have been lost. */
const listsAfterLostEvents = 5;
/** So long a read for an event waits for that of the one who has probably led to the event, and at most for that of a call. */
const ownReadDelayMs = 250;
const expectedReadDelayMs = 1000;
const readsAtOnce = 8;
const retryMs = 1000;

/**
 * What the container runtime has of each pod. It lists the runtime from time to time, which is the truth, and reads a pod as soon
 * as an event tells of it; events may be lost. No two reads of one pod run at once, and no read that began earlier takes the place
 * of one that began later. Give it to `PodWorkers` as `runtimeStatusCache` and to `SyncLoop` as `runtime`.
 */
export class PodLifecycle {
  readonly #options: PodLifecycleOptions;
  readonly #state = new RunState('pod lifecycle');
  readonly #times: ReadTimes;
  readonly #known: KnownPods;
  readonly #reader: PodReader;
  readonly #reads = new Map<string, SharedRead<AgentPodStatus>>();
  readonly #list: SharedRead<void>;
  readonly #events: EventReader;
  readonly #wait: WakeableWait;
  /** Pods with events for which no read has begun yet. */
  readonly #heard = new Map<string, Heard>();
  readonly #readsToCome: KeyedTimers<string>;
  /** Pods of which a call is under way that reads them at its end. */
  readonly #expected = new Set<string>();
  readonly #metrics: LifecycleMetrics;
  readonly #stopped = new AbortController();
  readonly #failing = new Set<string>();
  #listsToHurry = listsAfterLostEvents;
  readonly #listFailures: FailureRun;
  #runs: Promise<unknown> = Promise.resolve();

  constructor(options: PodLifecycleOptions) {
    const { clock, logger, runtime, metrics } = options;
    this.#options = options;
    this.#times = new ReadTimes(clock);
    this.#known = new KnownPods(this.#times);
    this.#reader = new PodReader(options);
    this.#list = new SharedRead(this.#times, (began) => this.#relist(began));
    this.#wait = new WakeableWait({ clock, logger });
    this.#readsToCome = new KeyedTimers(clock);
    this.#listFailures = new FailureRun(clock, (ended) => logger.info(ended, 'the container runtime is listed again'));
    this.#metrics = new LifecycleMetrics(metrics, clock);
    this.#events = new EventReader({
      runtime,
      clock,
      logger,
      metrics: this.#metrics,
      signal: this.#stopped.signal,
      hear: (event) => this.#hear(event),
      turned: () => this.#hurry(),
    });
  }

  /** Begins to list the runtime and to read its events. Throws ERR_ALREADY_STARTED or ERR_STOPPED. */
  start(): void {
    this.#state.start();
    this.#runs = Promise.all([this.#events.run(), this.#listAgainAndAgain()]);
  }

  /** Gives up every read; who waits for one gets ERR_STOPPED. Resolves when nothing runs any more. A second call gets the same promise. */
  stop(): Promise<void> {
    return this.#state.stop(async () => {
      this.#stopped.abort(new StatusManagerError('ERR_STOPPED', 'the pod lifecycle was stopped'));
      this.#wait.close();
      this.#readsToCome.cancelAll();
      await this.#runs;
    });
  }

  /** What was read last. Throws a {@link RuntimeError} of kind `unavailable` before the first list, and for a pod that could not be read yet. */
  get(podUID: string): AgentPodStatus {
    const known = this.#known.get(podUID);
    if (known !== undefined) return known;
    throw new RuntimeError('unavailable', 'ListPodSandbox', 'the container runtime has not said yet what it has of the pod');
  }

  /**
   * What a read has brought that began after `time`, in milliseconds since the epoch, and after the last event that has told of a
   * change of the pod; the pod is read now where there is none.
   * Waits while the runtime is away. Rejects as the runtime does otherwise, with the signal's reason, and with ERR_STOPPED.
   */
  async getNewerThan(podUID: string, time: number, signal: AbortSignal): Promise<AgentPodStatus> {
    for (;;) {
      signal.throwIfAborted();
      const known = this.#known.newerThan(podUID, time);
      if (known !== undefined) return known;
      try {
        return await untilAborted(
          this.#readOf(podUID).ask((began) => this.#known.isNewEnough(podUID, began, time)),
          signal,
        );
      } catch (error) {
        if (!isRuntimeError(error, 'unavailable')) throw error;
        await this.#pause(signal);
      }
    }
  }

  /** Asks the runtime now, for one who has changed something of the pod. Rejects as the runtime does, with the signal's reason, and with ERR_STOPPED. */
  refresh(podUID: string, signal: AbortSignal): Promise<AgentPodStatus> {
    return untilAborted(this.#readOf(podUID).ask(), signal);
  }

  /**
   * For a call that changes the pod and reads it at its end, while it is under way: an event of the pod leads to a read within a second,
   * where the call itself makes none before. Returns the end of that: what was heard and not read since is read at once where a
   * container has stopped, else a moment later, and in any case within that second. Of one pod, one call at a time may do so.
   */
  expectRead(podUID: string): () => void {
    this.#expected.add(podUID);
    return () => {
      this.#expected.delete(podUID);
      // the call's own read may have begun before the event
      const heard = this.#heard.get(podUID);
      if (heard === undefined || this.#stopped.signal.aborted) return;
      const leftMs = heard.sinceMs + expectedReadDelayMs - this.#options.clock.elapsed();
      this.#readLater(podUID, heard.isEnd ? 0 : Math.min(ownReadDelayMs, leftMs));
    };
  }

  /**
   * Every pod that has a ready sandbox or a running container, by a list that is no older than a period; else the runtime is listed
   * now. Rejects as the list does. What has ended is no running pod, though the runtime lists it until it is removed.
   */
  async getPods(signal: AbortSignal): Promise<readonly RunningPod[]> {
    const { listed } = this.#known;
    if (listed === undefined || this.#times.age(listed) > eventedRelistPeriodMs) {
      await untilAborted(this.#list.ask(), signal);
    }
    return this.#known.existing().filter(isRunning).map(runningPod);
  }

  /** The uids of all pods of which the runtime has anything, what has ended included, as far as is known now. Asks nobody. */
  podUIDs(): readonly string[] {
    return this.#known.existing().map(({ uid }) => uid);
  }

  /** Whether the last list is recent enough; in the words of the kubelet. */
  healthy(): LifecycleHealth {
    const { listed } = this.#known;
    return lifecycleHealth(listed && this.#times.age(listed), relistThresholdMs);
  }

  async #listAgainAndAgain(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#list
        .ask(() => true)
        .then(
          () => this.#listed(),
          (error: unknown) => this.#listFailed(error),
        );
      await this.#wait.wait(this.#periodMs());
    }
  }

  #periodMs(): number {
    const isQuiet = this.#events.isConnected && this.#listFailures.failing === undefined && this.#listsToHurry === 0;
    return isQuiet ? eventedRelistPeriodMs : relistPeriodMs;
  }

  #listed(): void {
    this.#listFailures.succeeded();
  }

  #listFailed(err: unknown): void {
    if (this.#stopped.signal.aborted) return;
    const { attempt } = this.#listFailures.failed(err);
    if (attempt > 1) return;
    this.#options.logger.warn({ err }, 'the container runtime could not be listed, and is listed again soon');
  }

  /** Lists the runtime, and reads the pods that have changed. A pod that cannot be read is read again at the next list. */
  async #relist(began: ReadTime): Promise<void> {
    const { runtime } = this.#options;
    const endMeasuring = this.#metrics.relist();
    try {
      const pods = await this.#bounded('ListPodSandbox', (signal) => listPods(runtime, undefined, { signal }));
      const { changed, gone } = this.#known.compare(pods, began);
      const isUnheard = (uid: string): boolean => !this.#heard.has(uid) && this.#reads.get(uid)?.isIdle !== false;
      const wasLost = gone.some(isUnheard) || changed.some(({ uid }) => isUnheard(uid));
      this.#listsToHurry = wasLost ? listsAfterLostEvents : Math.max(0, this.#listsToHurry - 1);
      for (const uid of gone) this.#tell(uid);
      await this.#readAll(changed, began);
      this.#known.finishList(began);
      this.#forget(pods);
      this.#metrics.listed(began, pods);
    } finally {
      endMeasuring();
    }
  }

  async #readAll(pods: ListedPod[], began: ReadTime): Promise<void> {
    const read = (pod: ListedPod): Promise<unknown> =>
      this.#readListed(pod, began).catch((err: unknown) => this.#readFailed(pod.uid, err));
    await settledAtOnce(pods, readsAtOnce, read);
  }

  #readListed(pod: ListedPod, began: ReadTime): Promise<AgentPodStatus> {
    const read = this.#readOf(pod.uid);
    return read.isIdle ? read.begin(began, () => this.#read(pod.uid, began, pod)) : read.ask();
  }

  #readOf(podUID: string): SharedRead<AgentPodStatus> {
    const known = this.#reads.get(podUID);
    if (known !== undefined) return known;
    const read = new SharedRead(this.#times, (began) => this.#read(podUID, began));
    this.#reads.set(podUID, read);
    return read;
  }

  async #read(podUID: string, began: ReadTime, listed?: ListedPod): Promise<AgentPodStatus> {
    const endMeasuring = listed === undefined ? this.#metrics.podRelist() : undefined;
    // a list may have begun before the event
    const wasHeard = listed === undefined && this.#heard.delete(podUID);
    if (wasHeard) this.#readsToCome.cancel(podUID);
    try {
      const former = this.#known.reading(podUID);
      const reading = await this.#bounded('PodSandboxStatus', (signal) => {
        return this.#reader.read(podUID, listed, former, { signal });
      });
      this.#failing.delete(podUID);
      if (this.#known.take(podUID, reading, began)) this.#tell(podUID);
      return reading.status;
    } catch (error) {
      // no other event tells of the same change
      if (wasHeard) this.#hurry();
      throw error;
    } finally {
      endMeasuring?.();
    }
  }

  /** Sees to it that a read begins after the event. What was made does nothing yet: its start is told, too. */
  #hear({ type, podUID, containerID }: RuntimeEvent): void {
    if (this.#stopped.signal.aborted) return;
    const uid = podUID || this.#podOf(containerID);
    // an event of a pod that nobody knows: the list tells whose it is
    if (uid === undefined) this.#hurry();
    else if (type !== 'created') this.#readFor(uid, this.#delayMs(uid, type, containerID));
  }

  #readFor(uid: string, delayMs: number): void {
    const former = this.#heard.get(uid);
    const isExpected = this.#expected.has(uid);
    const sinceMs = former?.sinceMs ?? this.#options.clock.elapsed();
    this.#known.hear(uid);
    this.#heard.set(uid, { sinceMs, isEnd: delayMs === 0 || former?.isEnd === true });
    // whoever waits for the first event waits no longer for the ones after it
    if (former === undefined || (delayMs === 0 && !isExpected)) this.#readLater(uid, isExpected ? expectedReadDelayMs : delayMs);
  }

  #readLater(uid: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.#readHeard(uid);
      return;
    }
    callGuarded(
      () => this.#readsToCome.set(uid, delayMs, () => this.#readHeard(uid)),
      () => this.#readHeard(uid),
    );
  }

  /**
   * So long the read for an event may wait. What starts, a sandbox that stops, and what is removed mostly does so for somebody here
   * who reads the pod right after that. A container that stops has its pod read at once.
   */
  #delayMs(podUID: string, type: RuntimeEvent['type'], containerID: string): number {
    if (type === 'deleted') return 500;
    return type === 'started' || this.#isSandbox(podUID, containerID) ? ownReadDelayMs : 0;
  }

  #readHeard(uid: string): void {
    this.#readOf(uid)
      .ask()
      .catch((err: unknown) => this.#readFailed(uid, err));
  }

  /** Lists the runtime now, and often for a while. */
  #hurry(): void {
    this.#listsToHurry = listsAfterLostEvents;
    this.#wait.wake();
  }

  /** Of each pod the first failure in a row is told. */
  #readFailed(podUID: string, err: unknown): void {
    if (this.#stopped.signal.aborted || this.#failing.has(podUID)) return;
    this.#failing.add(podUID);
    this.#options.logger.warn(
      { err, ...this.#fieldsOf(podUID) },
      'a pod could not be read from the container runtime, and is read again soon',
    );
  }

  #forget(pods: ReadonlyMap<string, ListedPod>): void {
    for (const [uid, read] of this.#reads) if (read.isIdle && !pods.has(uid)) this.#reads.delete(uid);
    for (const uid of this.#failing) if (!pods.has(uid)) this.#failing.delete(uid);
  }

  #isSandbox(podUID: string, id: string): boolean {
    return this.#known.listedPod(podUID)?.sandboxes.some((sandbox) => sandbox.id === id) === true;
  }

  #podOf(id: string): string | undefined {
    const isOf = ({ sandboxes, containers }: ListedPod) => [...sandboxes, ...containers].some((one) => one.id === id);
    return this.#known.existing().find(isOf)?.uid;
  }

  /** Of a pod that the runtime no longer has only the uid is known. */
  #fieldsOf(podUID: string): PodFields {
    return podFields({ ...this.#known.listedPod(podUID), uid: podUID });
  }

  #tell(podUID: string): void {
    const { podChanged, logger } = this.#options;
    const warn = (err: unknown): void =>
      logger.warn({ err, ...this.#fieldsOf(podUID) }, 'the listener to changes of pods has failed');
    callGuarded(() => podChanged(podUID), warn);
  }

  #bounded<T>(what: string, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, readTimeoutMs: timeoutMs = 120_000 } = this.#options;
    return boundedRead(what, read, { clock, timeoutMs, signal: this.#stopped.signal });
  }

  /** Waits a moment before the runtime is asked again. Rejects when the caller, or everybody, gives up. */
  async #pause(signal: AbortSignal): Promise<void> {
    const either = new LinkedAbort(signal, this.#stopped.signal);
    await sleep(this.#options.clock, retryMs, either.signal);
    either.release();
    either.signal.throwIfAborted();
  }
}

/** What is known of the events of a pod for which no read has begun yet. */
interface Heard {
  /** When the first one came, by the clock's elapsed time. */
  readonly sinceMs: number;
  /** True: a container has stopped. */
  readonly isEnd: boolean;
}

/** Whether the runtime is still looked at. */
interface LifecycleHealth {
  /** True: it is. */
  readonly ok: boolean;
  /** Why not; empty with `ok`. */
  readonly message: string;
}

/** In the words of the kubelet. `ageMs`: how old the last list is; undefined before the first one. */
function lifecycleHealth(ageMs: number | undefined, thresholdMs: number): LifecycleHealth {
  if (ageMs === undefined) return { ok: false, message: 'pleg has yet to be successful' };
  if (ageMs <= thresholdMs) return { ok: true, message: '' };
  const message = `pleg was last seen active ${durationText(ageMs)} ago; threshold is ${durationText(thresholdMs)}`;
  return { ok: false, message };
}
