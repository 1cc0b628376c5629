import type { Writable } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { ContainerStreams } from '../streams/container-streams.ts';
import type { OutputName } from './kept-log.ts';

export interface AttachedClientOptions {
  readonly streams: ContainerStreams;
  readonly clock: Clock;
  /** Called when the client takes what it waited for. */
  readonly drained: () => void;
  /** Called when nothing more goes to the client, with the reason. */
  readonly failed: (error: unknown) => void;
}

/** How long a container waits for a client that takes nothing. */
const longestWaitMs = 10_000;
/** What waits for a client at most, before what is written then, of a container that does not wait. */
const mostWaitingBytes = 1024 * 1024;

/** A client that sees what a run of a container writes. One that is too slow is let go, with words. */
export class AttachedClient {
  readonly #options: AttachedClientOptions;
  readonly #full = new Set<Writable>();
  #cancel: CancelTimer = () => {};
  #isOver = false;

  constructor(options: AttachedClientOptions) {
    this.#options = options;
    const { stdout, stderr } = options.streams;
    for (const stream of [stdout, stderr]) stream?.on('error', ignoreFailure);
  }

  /** True: the client has not taken yet what it got. */
  get isFull(): boolean {
    return this.#full.size > 0;
  }

  take(output: OutputName, bytes: Buffer): void {
    const stream = this.#streamOf(output);
    if (this.#isOver || stream === undefined || !stream.writable) return;
    if (stream.writableLength > mostWaitingBytes) {
      this.#fail(`the client reads too slowly: more than ${mostWaitingBytes} bytes wait for it`);
    } else if (callGuarded(() => stream.write(bytes), this.#options.failed) === false) this.#waitFor(stream);
  }

  /** Nothing more goes to the client. */
  close(): void {
    this.#isOver = true;
    this.#full.clear();
    this.#cancel();
  }

  /** A terminal has one output. */
  #streamOf(output: OutputName): Writable | undefined {
    const { tty, stdout, stderr } = this.#options.streams;
    return output === 'stdout' || tty ? stdout : stderr;
  }

  #waitFor(stream: Writable): void {
    if (this.#full.has(stream)) return;
    const late = (): void => this.#fail(`the client reads too slowly: it has taken nothing for ${longestWaitMs / 1000} s`);
    if (!this.isFull) this.#cancel = this.#options.clock.setTimer(late, longestWaitMs);
    this.#full.add(stream);
    const goOn = (): void => {
      stream.off('drain', goOn).off('close', goOn);
      this.#full.delete(stream);
      if (this.isFull || this.#isOver) return;
      this.#cancel();
      this.#options.drained();
    };
    stream.on('drain', goOn).on('close', goOn);
  }

  #fail(message: string): void {
    if (this.#isOver) return;
    this.close();
    this.#options.failed(new Error(message));
  }
}
