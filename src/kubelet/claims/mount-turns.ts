import type { SteadyClock } from '../../base/clock.ts';
import { LinkedAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { ProgramFailure } from '../../base/run-program.ts';
import { type AnswerTime, answerInTime } from './claim-usage.ts';
import { FileSystemProbes } from './file-system-probes.ts';

/** What is mounted somewhere does not answer, or keeps others from their turns. */
export class MountHangs extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MountHangs';
  }
}

export interface MountTurnsOptions {
  readonly clock: SteadyClock;
  /** Asks the file system at a folder. Default: programs of its own. */
  readonly ask?: ((folder: string, signal: AbortSignal, time: AnswerTime) => Promise<unknown>) | undefined;
  /** So many calls go on at once. Default 2. */
  readonly mostOverall?: number;
  readonly logger: Pick<Logger, 'warn'>;
}

const mostOfOne = 1;
/** So long a call waits for its turn, and then for its end. What goes on within them is that of one file. */
const longestWaitMs = 60_000;
const longestCallMs = 90_000;
/** An answer counts for so long: many containers of a pod begin at once. */
const answerCountsMs = 2000;
/** What does not answer is asked again after a wait that grows. */
const askDelays = { firstMs: 10_000, longestMs: 120_000 };
/** Nothing is kept of a folder that nobody has asked about for so long. */
const keptMs = 600_000;

const never = new AbortController().signal;

interface Turns {
  readonly semaphore: Semaphore;
  calls: number;
}

/** A call that has its turn. */
interface Running {
  readonly name: string;
  /** By the clock's elapsed time. */
  readonly sinceMs: number;
  /** True: the log says already that it keeps others waiting. */
  isTold: boolean;
}

/** What is known of the mount at a folder. Times are by the clock's elapsed time. */
interface Answers {
  asking: Promise<void> | undefined;
  /** From then on it is asked again. */
  dueMs: number;
  /** In a row. */
  failures: number;
  failure: string;
}

/**
 * Turns for what touches files in mounts that are not the agent's. A mount may hang, and each call in it holds a thread of the process then: few
 * of these calls go on at once, and those of one driver, or of one volume, leave room for others. Whoever begins in a mount asks first whether it
 * answers, so that one which hangs takes no turn.
 */
export class MountTurns {
  readonly #clock: SteadyClock;
  readonly #ask: NonNullable<MountTurnsOptions['ask']>;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #overall: Semaphore;
  readonly #ofEach = new Map<string, Turns>();
  readonly #running = new Set<Running>();
  readonly #answers = new Map<string, Answers>();

  constructor({ clock, mostOverall = 2, logger, ask = new FileSystemProbes({ logger }).ask }: MountTurnsOptions) {
    this.#clock = clock;
    this.#ask = ask;
    this.#logger = logger;
    // below the number of threads that a Node.js process has for files, which is four
    this.#overall = new Semaphore(mostOverall);
  }

  /**
   * Rejects with {@link MountHangs} where what is mounted at the folder does not answer a program within 10 s, and then at once until it is asked again. Whatever it
   * answers is right, also that nothing is there. Rejects with another error where the program could not be started: the next call asks anew. Rejects
   * with the signal's reason once that aborts.
   */
  async requireAnswer(folder: string, signal: AbortSignal): Promise<void> {
    await untilAborted(this.#answer(folder), signal);
  }

  async #answer(folder: string): Promise<void> {
    const now = this.#clock.elapsed();
    const known: Answers = this.#answers.get(folder) ?? { asking: undefined, dueMs: now, failures: 0, failure: '' };
    if (known.asking !== undefined) return known.asking;
    if (known.dueMs > now && known.failures > 0) throw notAnswered(known);
    if (known.dueMs > now) return;
    this.#forgetOld(now);
    this.#answers.set(folder, known);
    known.asking = this.#askAt(folder, known);
    return known.asking;
  }

  /**
   * Makes the call when it is its turn among those with the same name. Rejects with the signal's reason when that aborts before, and with
   * {@link MountHangs} where it waits for longer than a minute or the call takes longer than 90 s. The signal of the call aborts then, and its turn
   * stays with it until it has ended.
   */
  async run<T>(name: string, call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiting = new LinkedAbort(signal);
    const cancel = this.#clock.setTimer(() => waiting.abort(this.#lateTurn()), longestWaitMs, { keepAlive: true });
    const endWait = (): void => {
      cancel();
      waiting.release();
    };
    const begin = async (): Promise<void> => {
      endWait();
      await this.#call(name, call, signal, reject).then(resolve, reject);
    };
    void this.#inTurn(name, begin, waiting.signal).catch(reject).finally(endWait);
    return promise;
  }

  async #inTurn(name: string, call: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const turns = this.#ofEach.get(name) ?? { semaphore: new Semaphore(mostOfOne), calls: 0 };
    this.#ofEach.set(name, turns);
    turns.calls += 1;
    try {
      await turns.semaphore.run(() => this.#overall.run(call, signal), signal);
    } finally {
      turns.calls -= 1;
      if (turns.calls === 0) this.#ofEach.delete(name);
    }
  }

  /** Settles with the call itself. */
  async #call<T>(
    name: string,
    call: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    giveUp: (error: MountHangs) => void,
  ): Promise<T> {
    const own = new LinkedAbort(signal);
    const running = { name, sinceMs: this.#clock.elapsed(), isTold: false };
    const onLate = (): void => {
      this.#tell(running);
      const late = new MountHangs(`a call in ${name} has not ended for ${longestCallMs / 1000} s; what is mounted there hangs`);
      own.abort(late);
      giveUp(late);
    };
    const cancel = this.#clock.setTimer(onLate, longestCallMs, { keepAlive: true });
    this.#running.add(running);
    try {
      return await call(own.signal);
    } finally {
      this.#running.delete(running);
      cancel();
      own.release();
    }
  }

  /** Who waits may be another tenant's pod: the log alone names what holds the turns. */
  #lateTurn(): MountHangs {
    for (const running of this.#running) this.#tell(running);
    return new MountHangs(
      `no turn came for ${longestWaitMs / 1000} s: calls in other volumes of this node hold the turns; the agent's log names them`,
    );
  }

  #tell(running: Running): void {
    if (running.isTold) return;
    running.isTold = true;
    const durationMs = Math.round(this.#clock.elapsed() - running.sinceMs);
    this.#logger.warn(
      { name: running.name, durationMs },
      'a call in a mounted volume has not ended and holds a turn that others wait for; look at the server, the driver or the disk there',
    );
  }

  async #askAt(folder: string, known: Answers): Promise<void> {
    try {
      await answerInTime((call, time) => this.#ask(folder, call, time), this.#clock, never).catch(ifAnswered);
      known.failures = 0;
      known.dueMs = this.#clock.elapsed() + answerCountsMs;
    } catch (error) {
      if (error instanceof ProgramFailure)
        throw new Error(`nobody could ask whether it answers: ${error.message}`, { cause: error });
      known.failures += 1;
      known.failure = errorText(error);
      known.dueMs = this.#clock.elapsed() + nthDelayMs(known.failures, askDelays);
      throw notAnswered(known);
    } finally {
      known.asking = undefined;
    }
  }

  #forgetOld(now: number): void {
    for (const [folder, { asking, dueMs }] of this.#answers) {
      if (asking === undefined && now - dueMs > keptMs) this.#answers.delete(folder);
    }
  }
}

/** The same words until it is asked again: they are told in events and statuses. */
function notAnswered({ failure, failures }: Answers): MountHangs {
  const restMs = nthDelayMs(failures, askDelays);
  return new MountHangs(`it does not answer: ${failure}; it is asked again ${restMs / 1000} s later, at the pod's next sync`);
}

/** A program that has ended has got an answer, whatever it was. */
function ifAnswered(error: unknown): void {
  if (!(error instanceof ProgramFailure) || error.code !== undefined) throw error;
}
