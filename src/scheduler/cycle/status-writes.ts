import type { WirePod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { endedFailures } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { frozenProblem, type Problem, problemFields } from '../../base/problem.ts';
import type { PodStatusChange, SchedulerClient } from '../framework/scheduler-client.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { FailureWords } from '../reports/last-attempts.ts';
import { errorFields, wordsOfRequest } from '../reports/request-words.ts';

export interface StatusWritesOptions {
  readonly client: Pick<SchedulerClient, 'patchStatus'>;
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly logger: Logger;
  readonly recoveries: RecoveryLines;
}

interface Write {
  readonly pod: WirePod;
  readonly change: PodStatusChange;
}

/** So many writes are under way at once. */
const mostAtOnce = 16;
/** How long one may take, in milliseconds. */
const timeoutMs = 30_000;

/**
 * What the scheduler writes into the statuses of pods that it could not place, or whose node they have to wait for. Of one pod there
 * is one write at a time, and of several that wait only the newest is written. Nobody waits for a write but the binding of the same
 * pod: a status that says "not scheduled" must not come after it.
 */
export class StatusWrites {
  readonly #client: Pick<SchedulerClient, 'patchStatus'>;
  readonly #clock: Clock;
  readonly #time: SteadyTime;
  readonly #logger: Logger;
  readonly #recoveries: RecoveryLines;
  readonly #failures = new WriteFailures();
  readonly #waiting = new Map<string, Write>();
  /** By uid, the writes under way. */
  readonly #writing = new Map<string, Promise<void>>();
  /** The uids that were forgotten while a write of theirs was under way: how it ends is of no interest. */
  readonly #forgotten = new Set<string>();
  /** By uid, the node that a pod was promised by a write of ours; the watch may not have told of it yet. */
  readonly #promised = new Map<string, string>();
  #giveUp = new AbortController();
  #isStopped = false;

  constructor({ client, clock, time, logger, recoveries }: StatusWritesOptions) {
    this.#recoveries = recoveries;
    this.#client = client;
    this.#clock = clock;
    this.#time = time;
    this.#logger = logger;
  }

  write(pod: WirePod, change: PodStatusChange): void {
    if (this.#isStopped) return;
    const uid = pod.metadata?.uid ?? '';
    const before = this.#waiting.get(uid);
    // what only the earlier one says is not lost
    this.#waiting.set(uid, { pod: this.#asPromised(uid, pod, change), change: { ...before?.change, ...change } });
    this.#begin();
  }

  /** Drops what waits for the pod, and resolves once the write under way has ended. */
  async finish(uid: string): Promise<void> {
    this.#waiting.delete(uid);
    await this.#writing.get(uid);
  }

  /** The pod is bound, or gone: what waits is dropped, and a write under way that fails is no failure. */
  forget(uid: string): void {
    this.#waiting.delete(uid);
    if (this.#writing.has(uid)) this.#forgotten.add(uid);
    this.#promised.delete(uid);
    this.#failures.delete(uid);
  }

  /** What is wrong with the writes: the last one that failed, of a pod of which no later one has succeeded. */
  problem(): Problem | undefined {
    return this.#failures.problem(this.#time);
  }

  /** Drops what waits, and gives up what is under way. */
  abort(): void {
    this.#waiting.clear();
    this.#failures.clear();
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
  }

  /** How many writes wait or are under way. */
  get size(): number {
    return this.#waiting.size + this.#writing.size;
  }

  /** True where a write of the pod waits or is under way. */
  has(uid: string): boolean {
    return this.#waiting.has(uid) || this.#writing.has(uid);
  }

  /** Resolves once nothing waits and nothing is under way. */
  async flush(): Promise<void> {
    while (this.#writing.size > 0) await Promise.all(this.#writing.values());
  }

  /** Drops what waits, and gives up what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.abort();
    await this.flush();
  }

  /** The pod with the node that it was promised, where that promise is taken back: a copy that lacks it would look as if nothing were to be done. */
  #asPromised(uid: string, pod: WirePod, { nominatedNodeName }: PodStatusChange): WirePod {
    if (nominatedNodeName === undefined) return pod;
    const promised = this.#promised.get(uid);
    if (nominatedNodeName === '') this.#promised.delete(uid);
    else this.#promised.set(uid, nominatedNodeName);
    const isUnseen = nominatedNodeName === '' && promised !== undefined && (pod.status?.nominatedNodeName ?? '') === '';
    return isUnseen ? { ...pod, status: { ...pod.status, nominatedNodeName: promised } } : pod;
  }

  #begin(): void {
    for (const [uid, write] of this.#waiting) {
      if (this.#writing.size >= mostAtOnce) return;
      if (this.#writing.has(uid)) continue;
      this.#waiting.delete(uid);
      const written = this.#write(write).finally(() => {
        this.#writing.delete(uid);
        this.#forgotten.delete(uid);
        this.#begin();
      });
      this.#writing.set(uid, written);
    }
  }

  async #write({ pod, change }: Write): Promise<void> {
    const { signal } = this.#giveUp;
    const late = (): Error => new Error(`no answer within ${timeoutMs} ms`);
    try {
      await callWithin((over) => this.#client.patchStatus(pod, change, over), { clock: this.#clock, timeoutMs, signal, late });
      this.#succeeded(pod);
    } catch (err) {
      if (!signal.aborted) this.#failed(pod, err);
    }
  }

  #succeeded({ metadata }: WirePod): void {
    const failed = this.#failures.delete(metadata?.uid ?? '');
    if (failed === undefined || !this.#recoveries.take()) return;
    const fields = { ...podFields(metadata), ...endedFailures(failed, this.#time.time()) };
    this.#logger.info(fields, 'the status of a pod is written again');
  }

  #failed({ metadata }: WirePod, err: unknown): void {
    const { namespace = '', name = '', uid = '' } = metadata ?? {};
    const told = errorFields(err);
    const isGone = this.#forgotten.has(uid) || told.errorClass === 'gone';
    // the watch will tell of it, or has
    if (isGone) this.#failures.delete(uid);
    const now = this.#time.time();
    const problem = isGone ? {} : problemFields(this.#failures.add({ namespace, name, uid }, err, now), now);
    const fields = { err, ...told, ...podFields({ namespace, name, uid }), ...problem };
    this.#logger[isGone ? 'debug' : 'warn'](fields, 'the status of a pod could not be written');
  }
}

/** So many pods whose status could not be written are remembered. */
const mostFailures = 1000;

interface WriteFailure extends FailureWords {
  /** By the time of the queue. */
  readonly since: number;
  readonly attempt: number;
}

/** By pod, the writes that failed and that none has followed which succeeded. */
class WriteFailures {
  /** The one that failed last comes last. */
  readonly #failures = new Map<string, WriteFailure>();

  /** Returns what is known of the pod's failures in a row. */
  add({ uid, namespace, name }: Pick<PodInfo, 'uid' | 'namespace' | 'name'>, error: unknown, now: number): WriteFailure {
    const { since = now, attempt = 0 } = this.#failures.get(uid) ?? {};
    this.#failures.delete(uid);
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined && this.#failures.size >= mostFailures) this.#failures.delete(oldest);
    const words = wordsOfRequest(`the status of the pod ${namespace}/${name} could not be written`, error);
    const failure = { ...words, since, attempt: attempt + 1 };
    this.#failures.set(uid, failure);
    return failure;
  }

  /** Returns what had failed of the pod. */
  delete(uid: string): WriteFailure | undefined {
    const failure = this.#failures.get(uid);
    this.#failures.delete(uid);
    return failure;
  }

  clear(): void {
    this.#failures.clear();
  }

  problem(time: SteadyTime): Problem | undefined {
    const last = [...this.#failures.values()].at(-1);
    if (last === undefined) return undefined;
    const others = this.#failures.size - 1;
    const message = others === 0 ? last.message : `${last.message} (it is so with ${others} more pod${others === 1 ? '' : 's'})`;
    return frozenProblem({ ...last, message, since: time.wallTime(last.since) });
  }
}
