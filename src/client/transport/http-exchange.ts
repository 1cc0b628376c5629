import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici/index.js';
import { HeldBytes } from '../../api/json/bytes.ts';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import {
  AnswerTooLongError,
  ApiError,
  abortedBy,
  BrokenOffError,
  causeText,
  maxMessageLength,
  networkCause,
} from './api-error.ts';
import { askGuard, type RequestGuard } from './request-guard.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The whole body; empty for a stream that was given to the stream's `onChunk`. */
  readonly body: Buffer;
}

export interface HttpExchangeOptions {
  /** How errors call this request: `PATCH /api/v1/…`. */
  readonly label: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** For a request from its start to the end of its answer; for a stream until its request is sent. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Asked right before the request is written, each time it is. */
  readonly guard?: RequestGuard | undefined;
  /** Makes this a stream. */
  readonly stream?: StreamOptions | undefined;
}

export interface StreamOptions {
  /** Takes the body of a 2xx answer as it comes. What it throws ends the exchange. */
  readonly onChunk: (chunk: Buffer) => void;
  /** The longest silence once the request is sent. */
  readonly idleTimeoutMs: number;
}

/** What carries an exchange. */
export interface Abortable {
  /** Ends it. The exchange is told of this error before the call returns. */
  abort(reason: Error): void;
}

/**
 * One request and its answer. `answer` settles once, and only when nothing more of this exchange can happen here:
 * a request that has not begun to be written never will be, whatever credentials or connection come for it later; any
 * other has its socket destroyed first, or its HTTP/2 stream reset.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<HttpAnswer>;
  readonly #options: HttpExchangeOptions;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #body = new HeldBytes();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #controller: Abortable | undefined;
  #failure: unknown;
  #cancelTimer: CancelTimer | undefined;
  #leave = (): void => {};
  #isSettled = false;
  #missing: 'credentials' | 'connection' | 'answer' = 'answer';
  /** How errors of the network call this request: with the server, once it is known. */
  #networkLabel: string;

  constructor(options: HttpExchangeOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    this.answer = promise;
    this.#options = options;
    this.#networkLabel = options.label;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#startTimer(options.timeoutMs);
    this.#leave = onAbort(options.signal, () => this.#abort());
  }

  get isStream(): boolean {
    return this.#options.stream !== undefined;
  }

  /** True once `answer` has settled. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Where the request goes, for the errors of the network: without a query, a user or a password. */
  goesTo(label: string): void {
    this.#networkLabel = label;
  }

  /** What the exchange needs before its request can be written; the error of a timeout names it. */
  waitsFor(what: 'credentials' | 'connection'): void {
    this.#missing = what;
  }

  /** Ends the exchange with this error, unless it has settled. The first of several counts. */
  fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#failure ??= error;
    if (this.#controller === undefined) this.#settle();
    else this.#controller.abort(error instanceof Error ? error : new Error('failed'));
  }

  /**
   * Right before the request is written, in the same turn. Throws for one that failed while it waited for a connection, or that
   * its guard refuses: nothing of it has been written yet, and nothing will be. undici drops a request whose start throws, and
   * keeps its socket for the next one; an abort would destroy that socket.
   */
  onRequestStart(controller: Abortable): void {
    try {
      if (!this.#isSettled) askGuard(this.#options.guard);
    } catch (error) {
      this.fail(error);
    }
    // the guard may have ended the exchange by itself
    if (this.#isSettled) throw new Error('settled');
    this.#controller = controller;
    this.#missing = 'answer';
    this.#heard();
  }

  onResponseStart(_controller: Abortable, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#heard();
  }

  onResponseData(_controller: Abortable, chunk: Buffer): void {
    const { stream, maxAnswerBytes, label } = this.#options;
    if (stream !== undefined && this.#status < 300) {
      this.#heard();
      try {
        stream.onChunk(chunk);
      } catch (error) {
        this.fail(error);
      }
      return;
    }
    if (this.#body.length + chunk.length <= maxAnswerBytes) this.#body.add(chunk);
    else this.fail(new AnswerTooLongError(label, maxAnswerBytes));
  }

  onResponseEnd(): void {
    this.#settle();
  }

  onResponseError(_controller: Abortable, error: Error): void {
    if (this.#isSettled) return;
    this.#failure ??= this.#networkError(error);
    this.#settle();
  }

  #settle(): void {
    this.#isSettled = true;
    this.#cancelTimer?.();
    this.#leave();
    if (this.#failure !== undefined) {
      this.#reject(this.#failure);
    } else {
      this.#resolve({ status: this.#status, headers: this.#headers, body: this.#body.take() });
    }
  }

  #startTimer(limitMs: number): void {
    const { clock, stream } = this.#options;
    this.#cancelTimer = clock.setTimer(
      () => {
        const waited = stream !== undefined && this.#status > 0 ? 'nothing heard' : `no ${this.#missing}`;
        this.fail(new ApiError({ reason: 'Timeout', message: `${this.#networkLabel}: ${waited} within ${limitMs} ms` }));
      },
      limitMs,
      { keepAlive: true },
    );
  }

  /** The request is sent, or the server gave a sign of life: a stream's timer starts again, with the limit of its silences. */
  #heard(): void {
    const { stream } = this.#options;
    if (stream === undefined) return;
    this.#cancelTimer?.();
    this.#startTimer(stream.idleTimeoutMs);
  }

  #abort(): void {
    const { signal, label } = this.#options;
    this.fail(abortedBy(signal, label));
  }

  /** A request whose status came has been acted upon: its answer is what is broken. A stream that breaks off has lost nothing yet. */
  #networkError(error: Error): ApiError {
    const { stream } = this.#options;
    const status = this.#status === 0 ? undefined : this.#status;
    const cause = networkCause(error);
    const message = `${this.#networkLabel}: ${causeText(cause)}`.slice(0, maxMessageLength);
    if (stream !== undefined && status !== undefined && status < 300) return new BrokenOffError({ message, cause });
    const reason = status === undefined || stream !== undefined ? 'Network' : 'BrokenAnswer';
    return new ApiError({ status, reason, message, cause });
  }
}

const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines. Whoever decodes one has all of it, so a character split over two chunks is whole. An unfinished
 * last line is never given out.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #pending = new HeldBytes();

  constructor({ maxLineBytes }: { maxLineBytes: number }) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines this chunk completes. Throws a `BrokenAnswer` once a line is too long to be kept. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      lines.push(this.#line(chunk, start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The line that ends here. One that lies whole in the chunk is a piece of it. */
  #line(chunk: Buffer, start: number, end: number): Buffer {
    if (this.#pending.length === 0 && end - start <= this.#maxLineBytes) return chunk.subarray(start, end);
    this.#keep(chunk.subarray(start, end));
    return this.#pending.take();
  }

  #keep(part: Buffer): void {
    if (this.#pending.length + part.length > this.#maxLineBytes) {
      throw new ApiError({ reason: 'BrokenAnswer', message: `A watch event is longer than ${this.#maxLineBytes} bytes` });
    }
    this.#pending.add(part);
  }
}
