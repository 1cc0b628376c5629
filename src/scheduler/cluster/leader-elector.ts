// Behaviour of client-go tools/leaderelection, v0.36.3.
import type { WireLease } from '../../api/json/types.ts';
import { type CancelTimer, sleep } from '../../base/clock.ts';
import { type LastFailure, RunState } from '../../base/concurrency/run-state.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { heldLease, ObservedLease, releasedLease } from '../../client/leases/observed-lease.ts';
import { LimitedTransport } from '../../client/reflector/limited-transport.ts';
import { retriedError } from '../../client/resources/api-problem.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError, type ErrorClass, type RetriedError, unlessGone } from '../../client/resources/error-class.ts';
import { ResourceClient } from '../../client/resources/resource-client.ts';
import { requestProblem } from '../reports/request-words.ts';
import { type CheckedLeaderOptions, checkedLeaderOptions, jitterFactor, type LeaderElectorOptions } from './leader-options.ts';

/**
 * Contends for a Lease, so that of several processes one works. The leader renews it every `retryPeriodMs`. One that cannot
 * renew for `renewDeadlineMs` counts itself as leader no more, whatever the server and the network do, before any other candidate may
 * take the Lease; it goes on contending. The deadline counts from before the request that renewed was sent. `stop()` gives the Lease up.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { LeaderElector } from 'pod-status-manager/scheduler';
 *
 * const transport = new KubeTransport(kubeConfig);
 * const { promise: elected, resolve } = Promise.withResolvers<void>();
 * const elector = new LeaderElector({ transport, name: 'my-scheduler', identity: 'host-1', onStarted: resolve });
 * elector.start();
 * await elected;
 * console.log(elector.isLeader(), elector.holder); // true host-1
 * await elector.stop(); // another candidate takes over at once
 * await transport.close();
 * ```
 */
export class LeaderElector {
  readonly #options: CheckedLeaderOptions;
  readonly #leases: ResourceClient<WireLease>;
  readonly #observed = new ObservedLease();
  readonly #failures: LeaseFailures;
  readonly #stopping = new AbortController();
  readonly #runState = new RunState('leader elector');
  #isLeading = false;
  /** When the request that renewed last was sent: by what passes, and by the wall clock. */
  #renewed = { elapsedMs: 0, at: 0 };
  #cancelDeadline: CancelTimer = () => {};
  #loop: Promise<void> = Promise.resolve();

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: LeaderElectorOptions) {
    this.#options = checkedLeaderOptions(options);
    const { transport, clock } = this.#options;
    this.#failures = new LeaseFailures(this.#options);
    this.#leases = new ResourceClient<WireLease>(new LimitedTransport(transport, clock), resources.leases);
  }

  /** Who holds the Lease, as far as it was seen; undefined where nobody does. */
  get holder(): string | undefined {
    return this.#observed.holder === '' ? undefined : this.#observed.holder;
  }

  /** True while no other candidate can have taken the Lease. */
  isLeader(): boolean {
    const { clock, renewDeadlineMs } = this.#options;
    const passedMs = clock.elapsed() - this.#renewed.elapsedMs;
    // of a machine that slept only the wall clock may tell
    const sleptMs = clock.now() - this.#renewed.at;
    return this.#isLeading && Math.max(passedMs, sleptMs) < renewDeadlineMs;
  }

  /** Why the Lease could not be read, taken or renewed, while no try has succeeded since; undefined otherwise. */
  lastFailure(): RetriedError | undefined {
    const { last } = this.#failures;
    return last && retriedError(last);
  }

  /** The same as a problem, with what would help; undefined where the last try has not failed. Another holder is no failure. */
  problem(): Problem | undefined {
    return this.#failures.problem();
  }

  /** Begins to contend. Throws ERR_ALREADY_STARTED, and ERR_STOPPED after `stop()`. */
  start(): void {
    this.#runState.start();
    this.#loop = this.#contend();
  }

  /** Ends the term and gives the Lease up, so that another candidate need not wait for it to run out. Never rejects. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#endTerm();
      this.#stopping.abort();
      await this.#loop;
      await this.#release();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #contend(): Promise<void> {
    const { clock, retryPeriodMs, random } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const failure = await this.#try();
      if (signal.aborted) return;
      // a leader's tries are one period apart, those of the others are spread
      const waitMs = this.#isLeading ? retryPeriodMs : retryPeriodMs * (1 + random() * jitterFactor);
      if (failure === undefined) this.#failures.end();
      else this.#failures.add(failure.error, waitMs);
      await sleep(clock, waitMs, signal);
    }
  }

  /** One try to take or renew the Lease, unless another one holds it. */
  async #try(): Promise<{ readonly error: unknown } | undefined> {
    const { clock, identity } = this.#options;
    const sent = { elapsedMs: clock.elapsed(), at: clock.now() };
    try {
      if (this.#observed.holder !== identity) await this.#read();
      if (this.#observed.isHeldByAnother(identity, clock.elapsed())) {
        this.#endTerm();
        return undefined;
      }
      await this.#write(sent.at);
      if (!this.#stopping.signal.aborted) this.#hasRenewed(sent);
      return undefined;
    } catch (error) {
      // what is there now is read before the next write
      this.#observed.forget();
      return { error };
    }
  }

  get #leaseName(): { readonly namespace: string; readonly name: string } {
    const { namespace, name } = this.#options;
    return { namespace, name };
  }

  async #read(): Promise<void> {
    const lease = await unlessGone(this.#leases.get(this.#leaseName, this.#call()));
    if (lease === undefined) this.#observed.forget();
    else this.#observed.read(lease, this.#options.clock.elapsed());
  }

  async #write(now: number): Promise<void> {
    const base = this.#observed.lease;
    const lease = heldLease(base, this.#options, now);
    const written = await (base === undefined
      ? this.#leases.create(lease, this.#call())
      : this.#leases.update(lease, this.#call()));
    this.#observed.written(written, this.#options.clock.elapsed());
  }

  #call(): { readonly signal: AbortSignal; readonly timeoutMs: number } {
    return { signal: this.#stopping.signal, timeoutMs: this.#options.renewDeadlineMs / 2 };
  }

  /** The term counts from the moment when the request was sent: the others count from there, too. */
  #hasRenewed(sent: { readonly elapsedMs: number; readonly at: number }): void {
    const { clock, renewDeadlineMs, logger, onStarted } = this.#options;
    const leftMs = sent.elapsedMs + renewDeadlineMs - clock.elapsed();
    // an answer that came too late: the next try reads
    if (leftMs <= 0) {
      this.#observed.forget();
      return;
    }
    this.#renewed = sent;
    this.#cancelDeadline();
    this.#cancelDeadline = clock.setTimer(() => this.#endTerm(), leftMs);
    if (this.#isLeading) return;
    this.#isLeading = true;
    logger.info({ ...this.#leaseName, identity: this.#options.identity }, 'became the leader');
    callGuarded(onStarted, (err) => logger.error({ err }, 'a callback of the leader elector failed'));
  }

  #endTerm(): void {
    this.#cancelDeadline();
    if (!this.#isLeading) return;
    this.#isLeading = false;
    const { logger, onStopped } = this.#options;
    callGuarded(onStopped, (err) => logger.error({ err }, 'a callback of the leader elector failed'));
    const { holder } = this;
    const fields = {
      ...this.#leaseName,
      identity: this.#options.identity,
      ...(holder !== undefined && { holderIdentity: holder }),
    };
    if (!this.#stopping.signal.aborted && this.#runState.name === 'running') logger.warn(fields, 'is the leader no more');
  }

  /** One try: a Lease that is not given up runs out. */
  async #release(): Promise<void> {
    const { clock, identity, logger, renewDeadlineMs } = this.#options;
    const base = this.#observed.lease;
    if (base === undefined || this.#observed.holder !== identity) return;
    try {
      await this.#leases.update(releasedLease(base, clock.now()), { timeoutMs: renewDeadlineMs / 2 });
      this.#observed.forget();
    } catch (err) {
      logger.debug({ err, ...this.#leaseName }, 'the Lease of the leader was not given up');
    }
  }
}

/** Only a person can help here. */
const lasting: readonly ErrorClass[] = ['forbidden', 'unauthorized', 'invalid'];
/** What goes on failing is told again after so long, in milliseconds. */
const tellAgainMs = 300_000;

/**
 * The tries for a Lease that failed one after another. A process that may not have the Lease does nothing for ever, so people are
 * told: at once where trying again cannot help, and otherwise when the failures last for longer than a leader may go on.
 */
class LeaseFailures {
  readonly #options: CheckedLeaderOptions;
  #last: LastFailure | undefined;
  #sinceMs: number | undefined;
  #toldMs: number | undefined;
  /** The log has told of one of those that failed in a row at the level of errors. */
  #isTold = false;
  /** From the first failure to the last one, and how many there are. */
  #lastedMs = 0;
  #attempt = 0;

  constructor(options: CheckedLeaderOptions) {
    this.#options = options;
  }

  /** The last one, while no success has followed. */
  get last(): LastFailure | undefined {
    return this.#last;
  }

  problem(): Problem | undefined {
    if (this.#last === undefined) return undefined;
    const { error, retryAt, since } = this.#last;
    const { namespace, name } = this.#options;
    const what = `the Lease ${namespace}/${name} can be neither taken nor renewed`;
    return requestProblem(what, error, { since, attempt: this.#attempt, retryAt });
  }

  add(error: unknown, retryInMs: number): void {
    const { clock, logger, namespace, name, identity } = this.#options;
    const at = clock.now();
    const elapsedMs = clock.elapsed();
    this.#sinceMs ??= elapsedMs;
    this.#lastedMs = elapsedMs - this.#sinceMs;
    this.#attempt += 1;
    const since = Math.round(at - this.#lastedMs);
    this.#last = { error, at, retryAt: Math.round(at + retryInMs), since, attempt: this.#attempt };
    const problem = this.problem();
    const more = problem === undefined ? {} : problemFields(problem, at);
    const fields = { err: error, errorClass: classifyApiError(error), namespace, name, identity, ...more };
    if (!this.#isToBeTold(error, this.#lastedMs, elapsedMs)) {
      logger.debug(fields, 'the Lease of the leader was not renewed');
      return;
    }
    this.#toldMs = elapsedMs;
    this.#isTold = true;
    logger.error(fields, 'the Lease of the leader can be neither taken nor renewed: without it this process does nothing');
  }

  /** A try has not failed. */
  end(): void {
    const { clock, logger, namespace, name, identity } = this.#options;
    if (this.#isTold && this.#sinceMs !== undefined) {
      const ended = endedFailures({ attempt: this.#attempt, since: this.#sinceMs }, clock.elapsed());
      logger.info({ namespace, name, identity, ...ended }, 'the Lease of the leader can be taken and renewed again');
    }
    this.#isTold = false;
    this.#last = undefined;
    this.#sinceMs = undefined;
    this.#attempt = 0;
  }

  #isToBeTold(error: unknown, lastedMs: number, elapsedMs: number): boolean {
    if (this.#toldMs !== undefined && elapsedMs - this.#toldMs < tellAgainMs) return false;
    return lasting.includes(classifyApiError(error)) || lastedMs >= this.#options.renewDeadlineMs;
  }
}
