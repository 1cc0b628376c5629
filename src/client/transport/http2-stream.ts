import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { ApiError, timedOut } from './api-error.ts';
import type { Abortable, HttpExchange } from './http-exchange.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

export interface Http2Route {
  readonly session: ClientHttp2Session;
  /** Host and port of the server, as `:authority` names them. */
  readonly authority: string;
  readonly liveness: Http2Liveness;
  /** Told when nothing of it is left on the session. `refused`: the server has not looked at it, and it may be sent again. */
  readonly onOver: (outcome: 'settled' | 'refused') => void;
  /** Why the session ended; undefined while it has not, or ended without an error. */
  readonly failure: () => Error | undefined;
}

/**
 * One exchange on its way over HTTP/2. What the server has refused without looking at it (REFUSED_STREAM, or a GOAWAY that
 * came first) is sent once more; a second refusal fails the exchange.
 */
export class Http2Stream implements Abortable {
  readonly request: PooledRequest;
  readonly exchange: HttpExchange;
  #stream: ClientHttp2Stream | undefined;
  /** Asks the connection for a sign of life where it has given none since the request was sent. */
  #doubt = (): void => {};
  #wasRefused = false;

  /** The path of the request is that on the server, with any prefix. */
  constructor(request: PooledRequest, exchange: HttpExchange) {
    this.request = request;
    this.exchange = exchange;
  }

  /** Sends the request. An exchange that has settled meanwhile, or that its guard refuses, sends nothing. */
  send(route: Http2Route): void {
    try {
      this.exchange.onRequestStart(this);
    } catch {
      route.onOver('settled');
      return;
    }
    const { liveness } = route;
    const { signs } = liveness;
    this.#doubt = () => {
      if (liveness.signs === signs) liveness.doubt();
    };
    const { method, path, headers, body } = this.request;
    const pseudo = { ':method': method, ':path': path, ':authority': route.authority };
    try {
      const stream = route.session.request({ ...headers, ...pseudo }, { endStream: body === null });
      this.#stream = stream;
      this.#listen(stream, route);
      if (body !== null) stream.end(body);
    } catch (error) {
      this.fail(error);
      route.onOver('settled');
    }
  }

  /** Ends this stream alone: the connection goes on. Nothing of the answer is handed on from now on. */
  abort(reason: Error): void {
    this.#stream?.close(NGHTTP2_CANCEL);
    if (this.#stream !== undefined && reason instanceof ApiError && reason.reason === 'Timeout') this.#doubt();
    this.fail(reason);
  }

  /** Settles the exchange with this error, unless it has settled. */
  fail(error: unknown): void {
    this.exchange.onResponseError(this, error instanceof Error ? error : new Error(String(error)));
  }

  #listen(stream: ClientHttp2Stream, route: Http2Route): void {
    const { exchange } = this;
    let [hasAnswer, hasEnded] = [false, false];
    let failure: Error | undefined;
    stream.on('response', ({ ':status': status = 0, ...headers }) => {
      route.liveness.heard();
      hasAnswer = true;
      if (!exchange.isSettled) exchange.onResponseStart(this, status, headers);
    });
    stream.on('data', (chunk: Buffer) => {
      route.liveness.heard();
      if (!exchange.isSettled) exchange.onResponseData(this, chunk);
    });
    stream.once('end', () => {
      hasEnded = true;
    });
    stream.on('error', (error: Error) => {
      failure ??= error;
    });
    stream.once('close', () => {
      this.#stream = undefined;
      const { rstCode } = stream;
      // Node.js gives this code, too, to a stream that a GOAWAY kept from being sent
      const isRefused = rstCode === NGHTTP2_REFUSED_STREAM && !hasAnswer;
      if (isRefused && !this.#wasRefused && !exchange.isSettled) {
        this.#wasRefused = true;
        return route.onOver('refused');
      }
      const isWhole = hasAnswer && hasEnded && failure === undefined && rstCode === NGHTTP2_NO_ERROR;
      if (isWhole && !exchange.isSettled) exchange.onResponseEnd();
      else this.fail(route.failure() ?? failure ?? resetError(rstCode));
      route.onOver('settled');
    });
  }
}

/** Node.js names no error for a stream that ends with CANCEL, also where the connection was closed under it. */
function resetError(code: number): Error {
  return Object.assign(new Error(`the stream was closed with code ${code}`), { code: 'ERR_HTTP2_STREAM_ERROR' });
}

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
      this.#onDead(timedOut(`no answer to a PING within ${answerMs} ms`));
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

/** One request as a connection carries it. */
export interface PooledRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's URL, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}
