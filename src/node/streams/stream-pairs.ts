import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { NewConnection } from './forwarded-connections.ts';
import type { SpdyStream } from './spdy-stream.ts';

export interface PairOptions {
  readonly clock: Clock;
  /** So long the first stream of a pair waits for the second, in milliseconds. */
  readonly timeoutMs: number;
  readonly onPair: (pair: NewConnection) => void;
}

interface Pair {
  readonly port: number;
  readonly cancel: CancelTimer;
  data?: { readonly stream: SpdyStream; readonly duplex: Duplex };
  error?: SpdyStream;
}

/** Puts the two streams together that a client opens for each connection: one for its bytes, one for errors. */
export class StreamPairs {
  readonly #options: PairOptions;
  /** Those that lack a stream, by the id of the client's request. */
  readonly #halves = new Map<string, Pair>();

  constructor(options: PairOptions) {
    this.#options = options;
  }

  /** See `SpdyOptions`. */
  offer(stream: SpdyStream): (() => void) | undefined {
    const type = stream.headers.get('streamtype');
    const port = readPort(stream.headers.get('port') ?? '');
    if ((type !== 'data' && type !== 'error') || port === undefined) return undefined;
    // an old client gives no id, and opens the stream for errors just before the other one
    const requestID = stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2);
    const half = this.#halves.get(requestID);
    if (half !== undefined && (half[type] !== undefined || half.port !== port)) return undefined;
    return () => {
      const pair = half ?? this.#newHalf(requestID, port);
      if (type === 'error') pair.error = stream;
      else pair.data = { stream, duplex: stream.duplex(() => pair.error?.finish()) };
      this.#lookAt(requestID, pair);
    };
  }

  /** No pair is waited for any more. */
  close(): void {
    for (const { cancel } of this.#halves.values()) cancel();
    this.#halves.clear();
  }

  #newHalf(requestID: string, port: number): Pair {
    const { clock, timeoutMs } = this.#options;
    const cancel = clock.setTimer(() => this.#giveUp(requestID), timeoutMs);
    const half: Pair = { port, cancel };
    this.#halves.set(requestID, half);
    return half;
  }

  #lookAt(requestID: string, { port, cancel, data, error }: Pair): void {
    if (data === undefined || error === undefined) return;
    cancel();
    this.#halves.delete(requestID);
    this.#options.onPair({ port, stream: data.duplex, sendError: (text, sent) => error.send(text, sent) });
  }

  #giveUp(requestID: string): void {
    const half = this.#halves.get(requestID);
    this.#halves.delete(requestID);
    half?.error?.reset();
    half?.data?.duplex.destroy();
  }
}

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
