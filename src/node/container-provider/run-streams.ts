import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { LinkedAbort, onAbort } from '../../base/concurrency/aborts.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { ContainerStreams, TerminalSize } from '../streams/container-streams.ts';
import { AttachedClient } from './attached-client.ts';
import type { KeptLog, OutputName } from './kept-log.ts';
import { RunInput } from './run-input.ts';
import { runOutput } from './run-output.ts';

export interface RunStreamsOptions {
  readonly log: KeptLog;
  readonly clock: Clock;
  /** True: the container reads what clients type. */
  readonly stdin: boolean;
  /** True: its input ends with that of the first client that has one. */
  readonly stdinOnce: boolean;
}

/** What a run of a container writes and reads: between its function, its log, and the clients that are attached. */
export class RunStreams {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly #input = new RunInput();
  readonly #options: RunStreamsOptions;
  readonly #clients = new Set<AttachedClient>();
  readonly #listeners = new Set<(size: TerminalSize) => void>();
  readonly #over = new AbortController();
  #size: TerminalSize | undefined;
  #isWaitedFor = false;

  constructor(options: RunStreamsOptions) {
    this.#options = options;
    this.stdout = runOutput((bytes) => this.#write('stdout', bytes));
    this.stderr = runOutput((bytes) => this.#write('stderr', bytes));
    if (!options.stdin) this.#input.end();
  }

  get stdin(): Readable {
    return this.#input.stream;
  }

  /** The listener gets the size of the terminal of whoever is attached, as often as that changes. */
  onResize(listener: (size: TerminalSize) => void): void {
    if (typeof listener !== 'function') return;
    this.#listeners.add(listener);
    const size = this.#size;
    if (size !== undefined) callGuarded(() => listener(size), ignoreFailure);
  }

  /** Connects a client until the run is over or the signal aborts. Rejects when the client is too slow, or its streams throw. */
  async attach(streams: ContainerStreams, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { clock, stdin } = this.#options;
    const client = new AttachedClient({ streams, clock, failed: reject, drained: () => this.#drained() });
    const linked = new LinkedAbort(signal, this.#over.signal);
    const leave = onAbort(linked.signal, resolve);
    this.#clients.add(client);
    const resized = (size: TerminalSize): void => {
      if (!linked.signal.aborted) this.#resized(size);
    };
    callGuarded(() => streams.onResize(resized), ignoreFailure);
    if (stdin && streams.stdin !== undefined) void this.#take(streams.stdin, linked.signal);
    try {
      await promise;
    } finally {
      leave();
      linked.abort();
      linked.release();
      this.#clients.delete(client);
      client.close();
      this.#drained();
    }
  }

  /** The run is over. What is written later goes nowhere. */
  end(): void {
    this.#over.abort();
    this.#options.log.end();
    this.#input.end();
    this.#listeners.clear();
  }

  async #take(typed: Readable, signal: AbortSignal): Promise<void> {
    await this.#input.take(typed, signal);
    if (this.#options.stdinOnce) this.#input.end();
  }

  #write(output: OutputName, bytes: Buffer): boolean {
    if (this.#over.signal.aborted || bytes.length === 0) return true;
    this.#options.log.write(output, bytes);
    if (this.#clients.size === 0) return true;
    // whoever wrote may use the bytes for something else
    const copy = Buffer.from(bytes);
    for (const client of this.#clients) client.take(output, copy);
    this.#isWaitedFor = [...this.#clients].some(({ isFull }) => isFull);
    return !this.#isWaitedFor;
  }

  #drained(): void {
    if (!this.#isWaitedFor || [...this.#clients].some(({ isFull }) => isFull)) return;
    this.#isWaitedFor = false;
    for (const output of [this.stdout, this.stderr]) callGuarded(() => output.emit('drain'), ignoreFailure);
  }

  #resized(size: TerminalSize): void {
    this.#size = size;
    for (const listener of this.#listeners) callGuarded(() => listener(size), ignoreFailure);
  }
}
