import type { ClientHttp2Session } from 'node:http2';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';

/** As client-go has them: a PING goes out after this long a silence, and the connection is given up after this much more. */
const silenceMs = 30_000;
const answerMs = 15_000;

/** Watches over one session. `onDead` is called once, when the other side has answered neither with data nor to a PING. */
export class Http2Liveness {
  readonly #session: ClientHttp2Session;
  readonly #clock: SteadyClock;
  readonly #onDead: (error: Error) => void;
  #heardAt: number;
  #isAsked = false;
  #isDoubted = false;
  #isStopped = false;
  #signs = 0;
  #cancelTimer: CancelTimer;

  constructor(session: ClientHttp2Session, clock: SteadyClock, onDead: (error: Error) => void) {
    this.#session = session;
    this.#clock = clock;
    this.#onDead = onDead;
    this.#heardAt = clock.elapsed();
    this.#cancelTimer = clock.setTimer(this.#look, silenceMs);
  }

  /** How many signs of life there were. */
  get signs(): number {
    return this.#signs;
  }

  /** True while a PING is under way because of a request that nothing answered. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** The other side gave a sign of life. */
  heard(): void {
    this.#heardAt = this.#clock.elapsed();
    this.#signs += 1;
    this.#isAsked = false;
    this.#isDoubted = false;
  }

  /** Nothing came while a request waited for its answer: sends a PING now, unless one is under way. */
  doubt(): void {
    this.#isDoubted = true;
    if (this.#isAsked || this.#isStopped) return;
    this.#ask();
    this.#cancelTimer();
    this.#cancelTimer = this.#clock.setTimer(this.#look, answerMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  readonly #look = (): void => {
    if (this.#isAsked) {
      this.#onDead(Object.assign(new Error(`no answer to a PING within ${answerMs} ms`), { code: 'ETIMEDOUT' }));
      return;
    }
    const leftMs = this.#heardAt + silenceMs - this.#clock.elapsed();
    if (leftMs <= 0) this.#ask();
    this.#cancelTimer = this.#clock.setTimer(this.#look, leftMs <= 0 ? answerMs : leftMs);
  };

  #ask(): void {
    if (this.#session.destroyed) return;
    this.#isAsked = true;
    this.#session.ping((error) => {
      if (error === null) this.heard();
    });
  }
}
