import type { DebugChanges, DebugSnapshot } from '../../../../src/observe/debug/debug-api.ts';

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** The reader has stopped it. */
  | { readonly kind: 'paused' }
  /** The server cannot be reached: the next attempt is made at `at`, milliseconds since the epoch. */
  | { readonly kind: 'waiting'; readonly at: number };

/** What a stream of events tells. After `onEnd` it tells nothing more. */
export interface StreamListener {
  onSnapshot(snapshot: DebugSnapshot): void;
  onChanges(changes: DebugChanges): void;
  onEnd(): void;
}

export interface ConnectionOptions {
  /** Opens the stream of changes, which begins with a snapshot. Returns a function that closes it. */
  readonly openStream: (listener: StreamListener) => () => void;
  /** Calls back later. Returns a function that prevents it. */
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly now: () => number;
  readonly onState: (state: ConnectionState) => void;
  readonly onSnapshot: (snapshot: DebugSnapshot) => void;
  readonly onChanges: (changes: DebugChanges) => void;
}

const shortestWaitMs = 500;
const longestWaitMs = 8_000;
/** The server tells something every 15 seconds at least. A stream that is silent for longer is dead. */
const silentAtMostMs = 40_000;

/**
 * Keeps one stream of changes open. When it ends, it is opened again after a wait that doubles with each failure in a row,
 * and everything starts from a new snapshot: nothing is ever missed.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Closes the stream, or prevents the next attempt. */
  #cancel = (): void => {};
  #cancelSilence = (): void => {};
  #failures = 0;
  #state: ConnectionState = { kind: 'connecting' };

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Connects at once, whatever went on. */
  start(): void {
    this.#failures = 0;
    this.#connect();
  }

  pause(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#enter({ kind: 'paused' });
  }

  /** Makes the next attempt now; nothing when there is none to make. */
  hurry(): void {
    if (this.#state.kind === 'waiting') this.#connect();
  }

  #connect(): void {
    this.#cancel();
    this.#enter({ kind: 'connecting' });
    // What a stream says once another has taken its place must not count.
    let isCurrent = true;
    let close = (): void => {};
    this.#cancel = () => {
      isCurrent = false;
      this.#cancelSilence();
      close();
    };
    this.#watchSilence();
    close = this.#options.openStream({
      onSnapshot: (snapshot) => {
        if (isCurrent) this.#begin(snapshot);
      },
      onChanges: (changes) => {
        if (!isCurrent || this.#state.kind !== 'live') return;
        this.#watchSilence();
        this.#options.onChanges(changes);
      },
      onEnd: () => {
        if (isCurrent) this.#waitAndRetry();
      },
    });
    // It may have ended before there was anything to close.
    if (!isCurrent) close();
  }

  #begin(snapshot: DebugSnapshot): void {
    this.#failures = 0;
    this.#watchSilence();
    this.#options.onSnapshot(snapshot);
    this.#enter({ kind: 'live' });
  }

  #watchSilence(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#options.setTimer(() => this.#waitAndRetry(), silentAtMostMs);
  }

  #waitAndRetry(): void {
    this.#cancel();
    const waitMs = Math.min(longestWaitMs, shortestWaitMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#cancel = this.#options.setTimer(() => this.#connect(), waitMs);
    this.#enter({ kind: 'waiting', at: this.#options.now() + waitMs });
  }

  #enter(state: ConnectionState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
