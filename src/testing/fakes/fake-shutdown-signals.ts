import type { MachineShutdown, ShutdownHandle, ShutdownSignals } from '../../kubelet/shutdown/shutdown-signals.ts';

/** How a {@link FakeShutdownSignals} begins. */
export interface FakeShutdownSignalsOptions {
  /** How long the machine waits at most, in milliseconds. Default 5000, as systemd-logind. */
  readonly longestDelayMs?: number;
  /** False: the machine cannot be made to wait longer. Default true. */
  readonly canWaitLonger?: boolean;
}

/**
 * A machine that a test shuts down.
 *
 * @example
 * ```ts
 * import { FakeShutdownSignals } from 'pod-status-manager/testing';
 *
 * const machine = new FakeShutdownSignals();
 * const { signal } = new AbortController();
 * const delay = await machine.delay(signal);
 * machine.shutDown();
 * console.log(machine.isShuttingDown, machine.isDelayed); // true true
 * delay.end();
 * console.log(machine.isDelayed); // false
 * ```
 */
export class FakeShutdownSignals implements ShutdownSignals {
  /** Every call rejects with it, while it is there. */
  failure: Error | undefined;
  readonly #canWaitLonger: boolean;
  readonly #listeners = new Set<(isShuttingDown: boolean) => void>();
  readonly #handles = new Set<() => void>();
  #delays = 0;
  #longestDelayMs: number;
  #isShuttingDown = false;

  constructor(options: FakeShutdownSignalsOptions = {}) {
    this.#longestDelayMs = options.longestDelayMs ?? 5000;
    this.#canWaitLonger = options.canWaitLonger ?? true;
  }

  /** True while somebody delays the machine's shutdown. */
  get isDelayed(): boolean {
    return this.#delays > 0;
  }

  /** True from `shutDown` until `callOff`. */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  /** How long the machine waits at most, in milliseconds. */
  get longestDelayMs(): number {
    return this.#longestDelayMs;
  }

  /** The machine is about to shut down, and tells those who listen. */
  shutDown(): void {
    this.#say(true);
  }

  /** The shutdown is called off. */
  callOff(): void {
    this.#say(false);
  }

  /** As when systemd-logind or D-Bus are started anew: nobody listens any more, and nothing is delayed. */
  startAnew(): void {
    for (const end of this.#handles) end();
  }

  /** What the machine says of itself. */
  async read(): Promise<MachineShutdown> {
    this.#failIfAsked();
    return { longestDelayMs: this.#longestDelayMs, isShuttingDown: this.#isShuttingDown };
  }

  /** The machine waits so long from now on, unless it was made otherwise. */
  async allowDelay(delayMs: number): Promise<void> {
    this.#failIfAsked();
    if (this.#canWaitLonger) this.#longestDelayMs = delayMs;
  }

  /** Counts until its handle is ended. */
  async delay(_signal: AbortSignal): Promise<ShutdownHandle> {
    this.#failIfAsked();
    this.#delays += 1;
    return this.#handle(() => {
      this.#delays -= 1;
    });
  }

  /** Told until its handle is ended. */
  async listen(tell: (isShuttingDown: boolean) => void, _signal: AbortSignal): Promise<ShutdownHandle> {
    this.#failIfAsked();
    this.#listeners.add(tell);
    return this.#handle(() => this.#listeners.delete(tell));
  }

  #say(isShuttingDown: boolean): void {
    this.#isShuttingDown = isShuttingDown;
    for (const tell of this.#listeners) tell(isShuttingDown);
  }

  #handle(onEnd: () => void): ShutdownHandle {
    const ended = Promise.withResolvers<void>();
    const end = (): void => {
      if (!this.#handles.delete(end)) return;
      onEnd();
      ended.resolve();
    };
    this.#handles.add(end);
    return { ended: ended.promise, end };
  }

  #failIfAsked(): void {
    if (this.failure !== undefined) throw this.failure;
  }
}
