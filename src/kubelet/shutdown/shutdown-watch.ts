// Behaviour of start in pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go, v1.36.3.

import { membersOf } from '../../api/json/json.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin, settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import type { MachineShutdown, ShutdownHandle, ShutdownSignals } from './shutdown-signals.ts';

export interface ShutdownWatchOptions {
  readonly signals: ShutdownSignals;
  /** So long the machine is to wait, in milliseconds. */
  readonly wantedMs: number;
  /** Told when a shutdown begins, and when it is called off: each once. */
  readonly told: (isShuttingDown: boolean) => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How long a call of the seam may take. */
const patienceMs = 10_000;
/** After a failure all is tried again. */
const retryDelay = { firstMs: 1000, longestMs: 30_000 };
/** How often the machine is asked whether it waits longer now. */
const raiseWaitsMs = [100, 200, 400, 800, 1600];
/** Asked for beside the pods' own time: their statuses are written once they have ended. */
export const statusMarginMs = 5000;
/** While the machine does not wait long enough, it is asked again so often. */
const raiseAgainMs = 60_000;

/** Hears of shutdowns of the machine, and delays them, again and again until it is stopped. */
export class ShutdownWatch {
  readonly #options: ShutdownWatchOptions;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  readonly #shortage: FailureRun;
  #delay: ShutdownHandle | undefined;
  #longestDelayMs: number | undefined;
  #isShuttingDown = false;
  #retryAt: number | undefined;
  /** Begins all of it anew. */
  #again = (): void => {};
  #run: Promise<void> = Promise.resolve();

  constructor(options: ShutdownWatchOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#failures = new FailureRun(clock, (ended) => logger.info(ended, 'a shutdown of the machine is heard of again'));
    this.#shortage = new FailureRun(clock, (ended) => logger.info(ended, 'the machine waits long enough for its pods again'));
  }

  /** True while the machine would wait for this agent. */
  get isDelaying(): boolean {
    return this.#delay !== undefined;
  }

  /** How long the machine waits at most, in milliseconds; undefined until it has said so. */
  get longestDelayMs(): number | undefined {
    return this.#longestDelayMs;
  }

  /** Why nothing is heard, or delayed; undefined while all is well. `retryAt`: when it is tried next. */
  get failing(): (Failing & { readonly retryAt: number | undefined }) | undefined {
    const { failing } = this.#failures;
    return failing && { ...failing, retryAt: this.#retryAt };
  }

  /** Why the machine does not wait long enough; undefined where it does. */
  get shortage(): Failing | undefined {
    return this.#shortage.failing;
  }

  start(): void {
    this.#run = this.#watchOnAndOn();
  }

  /** Lets the machine go on. Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.release();
    await this.#run;
  }

  /** The machine may shut down now. */
  release(): void {
    const delay = this.#delay;
    this.#delay = undefined;
    if (delay !== undefined) end(delay);
  }

  async #watchOnAndOn(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#watch();
      } catch (err) {
        if (signal.aborted) return;
        const failing = this.#failures.failed(err);
        const waitMs = nthDelayMs(failing.attempt, retryDelay);
        this.#retryAt = clock.now() + waitMs;
        const problem = problemFields({ ...failing, ...helped('shutdown-unseen') }, clock.now());
        logger.warn(
          { err, ...problem, retryInMs: waitMs },
          'a shutdown of the machine would not be heard of, or not wait for the pods',
        );
        await sleep(clock, waitMs, signal);
      }
    }
  }

  /** Resolves when all of it is to be done again at once. Rejects when it fails, or is lost. */
  async #watch(): Promise<void> {
    const { signals, clock } = this.#options;
    const over = Promise.withResolvers<void>();
    // where one of the calls fails, nobody waits for it
    over.promise.catch(ignoreFailure);
    this.#again = over.resolve;
    // first it listens, and then it asks: nothing is missed between the two
    let isHeard = false;
    const tell = (value: unknown): void => {
      isHeard = true;
      this.#tell(value);
    };
    const listening = await this.#handle('listen', (signal) => signals.listen(tell, signal));
    try {
      onEnd(listening, () => over.reject(new Error('nothing is heard of shutdowns any more')));
      const machine = await this.#raised(await this.#read());
      this.#longestDelayMs = machine.longestDelayMs;
      // what was heard meanwhile is newer than the answer
      if (!isHeard) this.#tell(machine.isShuttingDown);
      if (!this.#isShuttingDown) this.#hold(await this.#handle('delay', (signal) => signals.delay(signal)), over.reject);
      this.#failures.succeeded();
      this.#retryAt = undefined;
      const { signal } = this.#stopping;
      // a limit that is too short may be raised later
      const isShort = this.shortage !== undefined;
      if (isShort && !(await settlesWithin(over.promise, { clock, timeoutMs: raiseAgainMs, signal }))) return;
      await untilAborted(over.promise, signal);
    } finally {
      end(listening);
    }
  }

  /** The new one is there before the old one goes. */
  #hold(delay: ShutdownHandle, lost: (reason: Error) => void): void {
    const former = this.#delay;
    this.#delay = delay;
    if (former !== undefined) end(former);
    if (this.#stopping.signal.aborted) this.release();
    onEnd(delay, () => {
      if (this.#delay !== delay) return;
      this.#delay = undefined;
      lost(new Error('the delay of shutdowns has ended by itself'));
    });
  }

  #tell(value: unknown): void {
    if (typeof value !== 'boolean' || value === this.#isShuttingDown || this.#stopping.signal.aborted) return;
    this.#isShuttingDown = value;
    this.#options.told(value);
    // the delay is over, or soon will be: the next shutdown needs another one
    if (!value) this.#again();
  }

  async #read(): Promise<MachineShutdown> {
    const answer: unknown = await this.#limited('read', (signal) => this.#options.signals.read(signal));
    const { longestDelayMs, isShuttingDown } = membersOf(answer);
    if (typeof longestDelayMs !== 'number' || !(longestDelayMs >= 0) || typeof isShuttingDown !== 'boolean') {
      throw new TypeError('read() must answer { longestDelayMs, isShuttingDown }');
    }
    return { longestDelayMs, isShuttingDown };
  }

  /** Where the machine cannot be made to wait long enough, it is told, and what there is counts. */
  async #raised(machine: MachineShutdown): Promise<MachineShutdown> {
    const { signals, wantedMs, clock, logger } = this.#options;
    const { signal } = this.#stopping;
    let now = machine;
    if (now.longestDelayMs >= wantedMs) {
      this.#shortage.succeeded();
      return now;
    }
    try {
      await this.#limited('allowDelay', (call) => signals.allowDelay(wantedMs + statusMarginMs, call));
      for (const waitMs of raiseWaitsMs) {
        await sleep(clock, waitMs, signal);
        now = await this.#read();
        if (now.longestDelayMs < wantedMs) continue;
        this.#shortage.succeeded();
        return now;
      }
      throw new Error(`it was asked to wait ${wantedMs / 1000} s, and waits ${now.longestDelayMs / 1000} s`);
    } catch (err) {
      signal.throwIfAborted();
      const problem = problemFields({ ...this.#shortage.failed(err), ...helped('shutdown-delay') }, clock.now());
      logger.warn(
        { err, ...problem, retryInMs: raiseAgainMs },
        'the machine does not wait long enough for its pods at a shutdown: they get less time',
      );
    }
    return now;
  }

  async #handle(what: string, call: (signal: AbortSignal) => Promise<ShutdownHandle>): Promise<ShutdownHandle> {
    return this.#limited(what, async (signal) => {
      const handle: unknown = await call(signal);
      const { ended, end: ends } = membersOf(handle);
      if (!isThenable(ended) || typeof ends !== 'function') throw new TypeError(`${what}() must answer { ended, end }`);
      // nobody waits for it any more
      if (signal.aborted) end(handle as ShutdownHandle);
      return handle as ShutdownHandle;
    });
  }

  #limited<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const late = (): Error => new Error(`${what}() gave no answer within ${patienceMs / 1000} s`);
    return callWithin(call, { clock, timeoutMs: patienceMs, signal: this.#stopping.signal, late });
  }
}

function onEnd({ ended }: ShutdownHandle, tell: () => void): void {
  ended.then(tell, tell);
}

function end(handle: ShutdownHandle): void {
  callGuarded(() => handle.end(), ignoreFailure);
}
