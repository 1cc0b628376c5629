import { once } from 'node:events';
import { onAbort, untilAborted } from '../../base/concurrency/aborts.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { type ApiExchange, KubeletApiRefusal } from '../server/exchange.ts';
import { readLogQuery } from '../server/log-query.ts';
import { hasContainer } from '../server/named-containers.ts';
import type { ContainerTarget } from '../server/routes.ts';
import { type ClientCalls, clientError } from './client-calls.ts';
import type { ContainerLogRequest } from './pod-provider.ts';

/**
 * Sends the log that the provider has of a container as it comes: what the client does not take is not asked for. Rejects with a
 * refusal until then.
 */
export async function answerProviderLogs(
  exchange: ApiExchange,
  target: ContainerTarget,
  query: URLSearchParams,
  calls: ClientCalls,
): Promise<void> {
  calls.require('getContainerLogs');
  const { since, ...asked } = readLogQuery(query, calls.clock.now());
  const request: ContainerLogRequest = { ...asked, sinceTime: since && new Date(since.ms) };
  const { podName, container } = target;
  const pod = calls.pod(target, `pod ${JSON.stringify(podName)} does not exist`);
  if (!hasContainer(pod, container)) {
    throw new KubeletApiRefusal(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(podName)}`);
  }
  const { signal } = exchange;
  const words = `unable to read the log of container ${JSON.stringify(container)}: `;
  const opening = Promise.resolve().then(() => calls.provider.getContainerLogs?.(pod, container, request, { signal }));
  // one that comes when nobody waits for it any more is closed
  opening.then((log) => signal.aborted && new LogPieces(log).close(), ignoreFailure);
  let pieces: LogPieces | undefined;
  try {
    pieces = new LogPieces(await calls.answer('getContainerLogs', pod, () => opening, signal));
    pieces.requireLog();
    await sendLog(exchange, pieces, request);
  } catch (error) {
    throw exchange.response.headersSent || signal.aborted ? error : clientError(error, words);
  } finally {
    pieces?.close();
  }
}

async function sendLog({ response, signal }: ApiExchange, pieces: LogPieces, request: ContainerLogRequest): Promise<void> {
  let bytesLeft = request.limitBytes ?? Number.POSITIVE_INFINITY;
  // a text goes out in one write with its head; of a log in pieces, what has come must go out though the next one fails
  const isHeadFirst = request.follow || !pieces.isWhole;
  // a log that cannot be read is refused; but who follows one is to know at once that it is there
  let piece = request.follow ? Buffer.of() : await pieces.next(signal);
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  if (isHeadFirst) response.flushHeaders();
  for (; piece !== undefined; piece = await pieces.next(signal)) {
    const shown = piece.length > bytesLeft ? piece.subarray(0, bytesLeft) : piece;
    bytesLeft -= shown.length;
    if (shown.length > 0 && !response.write(shown)) await once(response, 'drain', { signal });
    if (bytesLeft === 0) break;
  }
  response.end();
}

/** A log that a provider has given, whatever it is, a piece after another. */
class LogPieces {
  readonly #log: unknown;
  readonly #iterator: AsyncIterator<unknown> | undefined;
  #text: string | Uint8Array | undefined;

  constructor(log: unknown) {
    this.#log = log;
    if (isPiece(log)) this.#text = log;
    else if (isAsyncIterable(log)) this.#iterator = callGuarded(() => log[Symbol.asyncIterator](), ignoreFailure);
    // a stream that fails when nobody reads it any more would end the process
    if (hasMethod(log, 'on')) callGuarded(() => log.on('error', ignoreFailure), ignoreFailure);
  }

  /** True: the first piece is all of it. */
  get isWhole(): boolean {
    return isPiece(this.#log);
  }

  /** Throws for what is no log. */
  requireLog(): void {
    if (this.#text !== undefined || this.#iterator !== undefined) return;
    throw new TypeError('getContainerLogs() of the provider must answer with a text or with pieces of it as they come');
  }

  /** Undefined at the end. Rejects as the log does, and with the signal's reason once that aborts. */
  async next(signal: AbortSignal): Promise<Buffer | undefined> {
    const text = this.#text;
    if (text !== undefined || this.#iterator === undefined) {
      this.#text = undefined;
      return text === undefined ? undefined : bytesOf(text);
    }
    const leave = onAbort(signal, () => this.close());
    try {
      const { done, value } = await untilAborted(this.#iterator.next(), signal);
      if (done === true) return undefined;
      if (!isPiece(value)) throw new TypeError('a piece of the log is neither text nor bytes');
      return bytesOf(value);
    } finally {
      leave();
    }
  }

  /** Nothing more is wanted. Does not wait for a piece that is being made. Never throws. */
  close(): void {
    const log = this.#log;
    // a stream that waits for its next bytes would not hear of the end of its iterator
    if (hasMethod(log, 'destroy')) callGuarded(() => log.destroy(), ignoreFailure);
    callGuarded(() => this.#iterator?.return?.(), ignoreFailure);
  }
}

function bytesOf(piece: string | Uint8Array): Buffer {
  return typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}

function isPiece(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return hasMethod(value, Symbol.asyncIterator);
}

function hasMethod<Name extends PropertyKey>(value: unknown, name: Name): value is Record<Name, (...args: unknown[]) => unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}
