import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { RateLimiter } from '../../base/concurrency/rate-limiter.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { isStatusManagerError } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import { classOf, readApiFailure } from '../../client/resources/error-class.ts';
import type { MirrorPair } from './mirror-pods.ts';
import { MirrorRecord, mirrorFields } from './mirror-record.ts';
import { type MirrorRequest, MirrorRequests, type RequestOutcome } from './mirror-requests.ts';
import { type MirrorStep, mirrorStep } from './mirror-step.ts';
import type { ResolvedReconcilerOptions } from './reconciler-options.ts';

const backoffLimits = { baseMs: 250, capMs: 10_000 };
/** Whoever fights with the reconciler over one pod gets so many requests at once, and so many a second in the long run. */
const fightLimits = { qps: 10, burst: 100 };
/** How long the pod manager may take to show what the server has told, before the server is asked again. It doubles each time. */
const verifyAfter = { firstMs: 1000, longestMs: 30_000 };
/** How long `stop` waits for calls that do not heed their signal. */
const stopWaitsMs = 1000;
/** How long after its answer was given up a call may take to settle, before its outcome counts as in doubt. */
const settleWaitsMs = 1000;
/** Failures that say something about the server rather than about the pod. */
const serverFailures: readonly string[] = ['unavailable', 'timeout', 'broken-answer'];
/** The longest wait for a node that is not known: a node that registers gets its mirror pods soon. */
const noNodeRetryMs = 1000;

interface Entry {
  readonly record: MirrorRecord;
  readonly limiter: RateLimiter;
  readonly failures: FailureRun;
}

/**
 * Does for each full name what is to be done: one request of a pod at a time, `concurrency` pods at once. A pod that fails
 * waits for a backoff of its own, and delays no other.
 */
export class MirrorWorker {
  readonly #options: ResolvedReconcilerOptions;
  readonly #agent: AgentAnswers;
  readonly #requests: MirrorRequests;
  readonly #recoveries: RecoveryLines;
  readonly #entries = new LateMap<string, Entry>();
  readonly #ready = new FifoSet<string>();
  readonly #retries: KeyedTimers<string>;
  readonly #verifications: KeyedTimers<string>;
  /** The calls that have not settled. */
  readonly #underWay = new LateSet<Promise<void>>();
  readonly #waiting = new LateSet<string>();
  #slots: number;
  #running = true;

  constructor(options: ResolvedReconcilerOptions) {
    this.#options = options;
    this.#agent = new AgentAnswers(options);
    this.#requests = new MirrorRequests(options);
    this.#recoveries = new RecoveryLines(options);
    this.#retries = new KeyedTimers(options.clock);
    this.#verifications = new KeyedTimers(options.clock);
    this.#slots = options.concurrency;
  }

  /** True while something is to be done that the agent does not permit yet. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** What the pod manager shows now. Looks at every pod. */
  update(pairs: ReadonlyMap<string, MirrorPair>): void {
    if (!this.#running) return;
    for (const [fullName, pair] of pairs) {
      const { record } = this.#entry(fullName);
      // another static pod may be one that the server takes
      if (record.show(pair)) this.#endWait(fullName, record);
    }
    for (const [fullName, { record }] of this.#entries) {
      if (!pairs.has(fullName) && record.show()) this.#endWait(fullName, record);
      this.#look(fullName);
    }
    this.#pump();
  }

  /** The pod manager shows this mirror pod at this moment. */
  noteShown(fullName: string, uid: string): void {
    this.#entries.get(fullName)?.record.noteShown(uid);
  }

  /** Looks at this pod, or at every pod, at once, whatever it waits for. */
  lookNow(fullName?: string): void {
    for (const [name, { record }] of this.#entries) {
      if (fullName !== undefined && name !== fullName) continue;
      this.#endWait(name, record);
      if (record.isUnverified) record.inDoubt = true;
      this.#look(name);
    }
    this.#pump();
  }

  /** Gives up what is under way. Resolves when every call has settled, at the latest after a second. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#retries.cancelAll();
    this.#verifications.cancelAll();
    for (const { limiter } of this.#entries.values()) limiter.release();
    this.#ready.clear();
    this.#waiting.clear();
    this.#requests.abort();
    this.#recoveries.stop();
    const { clock } = this.#options;
    if (!(await settlesWithin(Promise.all(this.#underWay), { clock, timeoutMs: stopWaitsMs }))) {
      this.#options.logger.warn({ calls: this.#underWay.size }, 'stopped before every call of the mirror pod client had settled');
    }
  }

  #entry(fullName: string): Entry {
    let entry = this.#entries.get(fullName);
    if (entry === undefined) {
      const { clock, random, logger } = this.#options;
      const limiter = new RateLimiter(fightLimits, clock, () => {
        this.#look(fullName);
        this.#pump();
      });
      const record = new MirrorRecord({ ...backoffLimits, random });
      const failures = new FailureRun(clock, (ended) => {
        if (this.#recoveries.take())
          logger.info({ ...mirrorFields(fullName, record), ...ended }, 'a mirror pod is kept in step again');
      });
      entry = { record, limiter, failures };
      this.#entries.set(fullName, entry);
    }
    return entry;
  }

  /** Puts the pod among those that wait for a slot, if something is to be done for it. */
  #look(fullName: string): void {
    const entry = this.#entries.get(fullName);
    if (entry === undefined || !this.#running) return;
    this.#ready.delete(fullName);
    const { record } = entry;
    if (record.underWay) return;
    const step = this.#step(fullName, record);
    if (step.kind === 'wait') this.#waiting.add(fullName);
    else this.#waiting.delete(fullName);
    if (step.kind === 'nothing') this.#settleDown(fullName, entry);
    else if (step.kind !== 'wait' && record.waitsFor === undefined) this.#ready.add(fullName);
  }

  #step(fullName: string, record: MirrorRecord): MirrorStep {
    const { staticPod, mirrorPod, inDoubt, heldUID } = record;
    const mayDeleteOrphan = (): boolean => this.#agent.mayDeleteOrphan(fullName);
    return mirrorStep({ staticPod, mirrorPod, inDoubt, heldUID, isListed: this.#agent.isListed(), mayDeleteOrphan });
  }

  /** Nothing is to be done for the pod. */
  #settleDown(fullName: string, { record, limiter }: Entry): void {
    if (record.isUnverified) this.#verifyLater(fullName, record);
    else record.verifications = 0;
    if (!record.isEmpty) return;
    this.#endWait(fullName, record);
    this.#verifications.cancel(fullName);
    limiter.release();
    this.#entries.delete(fullName);
  }

  #verifyLater(fullName: string, record: MirrorRecord): void {
    const delayMs = Math.ceil(nthDelayMs(record.verifications + 1, verifyAfter) * (0.5 + this.#options.random() / 2));
    this.#verifications.set(fullName, delayMs, () => {
      if (record.isUnverified) record.inDoubt = true;
      record.verifications += 1;
      this.#look(fullName);
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#running && this.#slots > 0) {
      const fullName = this.#ready.take();
      if (fullName === undefined) return;
      const entry = this.#entries.get(fullName);
      if (entry !== undefined) this.#begin(fullName, entry);
    }
  }

  #begin(fullName: string, { record, limiter }: Entry): void {
    // while the pod waited for a slot, the agent may have changed its mind
    const step = this.#step(fullName, record);
    if (step.kind === 'nothing' || step.kind === 'wait') {
      this.#look(fullName);
      return;
    }
    if (!limiter.tryTake()) return;
    this.#slots -= 1;
    record.begin();
    this.#verifications.cancel(fullName);
    void this.#perform(fullName, record, step);
  }

  /** Never rejects. */
  async #perform(fullName: string, record: MirrorRecord, request: MirrorRequest): Promise<void> {
    const { answer, settled } = this.#requests.send(fullName, request);
    this.#underWay.add(settled);
    // at once, for a stop that comes before the rest of this has run
    void settled.then(() => this.#underWay.delete(settled));
    const outcome = await this.#requests.settle(fullName, record, request, answer);
    this.#slots += 1;
    try {
      this.#conclude(fullName, record, outcome);
      this.#pump();
      // a call whose answer was given up may still settle; one that does not is in doubt, and the pod is read next
      if (!(await this.#settlesSoon(settled))) record.inDoubt = true;
    } catch (err) {
      this.#options.logger.error(
        { err, ...mirrorFields(fullName, record) },
        'the clock set no timer; the pod is looked at when the next change comes',
      );
    }
    this.#underWay.delete(settled);
    record.underWay = false;
    this.#look(fullName);
    this.#pump();
  }

  #settlesSoon(settled: Promise<void>): Promise<boolean> {
    const { clock } = this.#options;
    // a clock that sets no timer leaves the call without a limit
    return settlesWithin(settled, { clock, timeoutMs: settleWaitsMs }).catch(() => settled.then(() => true));
  }

  #conclude(fullName: string, record: MirrorRecord, outcome: RequestOutcome): void {
    if (!this.#running) return;
    if (outcome.kind === 'failed') {
      this.#fail(fullName, record, outcome);
    } else if (outcome.kind === 'no-client') {
      this.#options.logger.info({}, 'the mirror pod client has no apiserver: no mirror pods are kept');
      this.#running = false;
    } else {
      if (outcome.kind === 'done') {
        record.succeed();
        this.#entry(fullName).failures.succeeded();
      }
      this.#releaseThoseWaitingForServer(record);
    }
  }

  #fail(fullName: string, record: MirrorRecord, { verb, error }: RequestOutcome & { kind: 'failed' }): void {
    const { clock, handlers, logger } = this.#options;
    const failure = readApiFailure(error, clock.now());
    const errorClass = classOf(failure);
    const { attempt } = this.#entry(fullName).failures.failed(error);
    const waitMs = record.fail(serverFailures.includes(errorClass) ? 'server' : 'pod', failure.retryAfterMs);
    const retryInMs = isStatusManagerError(error, 'ERR_NO_NODE') ? Math.min(waitMs, noNodeRetryMs) : waitMs;
    this.#retries.set(fullName, retryInMs, () => {
      record.waitsFor = undefined;
      this.#look(fullName);
      this.#pump();
    });
    const fields = mirrorFields(fullName, record);
    const failed = { err: error, errorClass, ...fields, verb, attempt, retryInMs };
    logger.warn(failed, 'a mirror pod could not be kept in step');
    callGuarded(
      () => handlers.failed?.({ podFullName: fullName, verb, errorClass, error, attempt, retryInMs }),
      (err) => logger.error({ err, method: 'failed', ...fields }, 'a handler of the mirror pod reconciler failed'),
    );
  }

  #endWait(fullName: string, record: MirrorRecord): void {
    this.#retries.cancel(fullName);
    record.waitsFor = undefined;
  }

  /** The server answers: the pods that waited for that need not wait longer, once. */
  #releaseThoseWaitingForServer(except: MirrorRecord): void {
    for (const [fullName, { record }] of this.#entries) {
      if (record === except || record.waitsFor !== 'server' || record.releasedByOthers) continue;
      record.releasedByOthers = true;
      this.#endWait(fullName, record);
      this.#look(fullName);
    }
  }
}

/** What the agent's own functions permit. Whatever else they answer, and what they throw, permits nothing. */
class AgentAnswers {
  readonly #options: ResolvedReconcilerOptions;

  constructor(options: ResolvedReconcilerOptions) {
    this.#options = options;
  }

  /** True once the apiserver's pods of this node have been listed. */
  isListed(): boolean {
    const listedAt = this.#ask('podSource.lastListedAt', () => this.#options.podSource.lastListedAt());
    return typeof listedAt === 'number' && Number.isFinite(listedAt);
  }

  /** True when the static pod of this full name, which the pod manager does not show, is certainly gone. */
  mayDeleteOrphan(podFullName: string): boolean {
    const { staticPodsReady, isPodTerminating } = this.#options;
    if (this.#ask('staticPodsReady', () => staticPodsReady()) !== true) return false;
    return this.#ask('isPodTerminating', () => isPodTerminating(podFullName)) === false;
  }

  #ask(name: string, ask: () => unknown): unknown {
    return callGuarded(ask, (err) => this.#options.logger.error({ err, method: name }, 'a function of the agent failed'));
  }
}
