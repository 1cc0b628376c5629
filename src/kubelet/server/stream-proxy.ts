import { type ClientRequest, type IncomingMessage, request as requestOver } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { type ApiExchange, KubeletApiRefusal } from '../../node/server/exchange.ts';

/** How long streams may take. */
export interface StreamLimits {
  readonly clock: Clock;
  /** A stream over which nothing moves for this long is ended. */
  readonly idleTimeoutMs: number;
}

/** Headers that are between the client and this server, or that would carry the client's credentials on. */
const ownHeaders: readonly string[] = ['host', 'authorization', 'cookie', 'content-length', 'transfer-encoding', 'expect'];
const answerWithinMs = 30_000;
const longestRefusal = 64 * 1024;

/**
 * Connects a client that switches to another protocol, such as SPDY or WebSocket, with the runtime's stream at `url`: the same method
 * and headers, and then every byte both ways. Resolves when both ends are closed. Rejects with a refusal where no stream comes about;
 * that is what the runtime said, if it said no.
 */
export async function proxyStream(exchange: ApiExchange, url: URL, limits: StreamLimits): Promise<void> {
  const { request, response, signal } = exchange;
  const { answer, backend, head } = await switchProtocols(exchange, url, limits);
  const client = request.socket;
  try {
    signal.throwIfAborted();
    response.detachSocket(client);
    const headers = pairsOf(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
    client.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('')}\r\n`, 'latin1');
    client.write(head);
    if (exchange.upgrade !== undefined) backend.write(exchange.upgrade);
    await bothWays(client, backend, signal, limits);
  } finally {
    client.destroy();
    backend.destroy();
  }
}

interface Switched {
  readonly answer: IncomingMessage;
  readonly backend: Socket;
  readonly head: Buffer;
}

function switchProtocols({ request, signal }: ApiExchange, url: URL, { clock }: StreamLimits): Promise<Switched> {
  const { promise, resolve, reject } = Promise.withResolvers<Switched>();
  if (url.protocol !== 'http:') throw new KubeletApiRefusal(500, 'the stream of the runtime is not served over http');
  const asked: ClientRequest = requestOver({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: url.pathname + url.search,
    method: request.method,
    signal,
    headers: forwardedHeaders(request, url.host),
    agent: false,
  });
  const cancel = clock.setTimer(() => asked.destroy(new Error('the runtime did not answer in time')), answerWithinMs);
  asked.once('upgrade', (answer, backend, head) => resolve({ answer, backend: backend as Socket, head }));
  asked.once('response', (answer) => void readRefusal(answer).then(reject));
  asked.once('error', (error) => reject(new KubeletApiRefusal(500, `the stream of the runtime failed: ${error.message}`)));
  asked.end();
  return promise.finally(cancel);
}

/** As `http.request` takes them: name, value, name, value. */
function forwardedHeaders({ rawHeaders }: IncomingMessage, host: string): string[] {
  const kept = pairsOf(rawHeaders).filter(([name]) => !ownHeaders.includes(name.toLowerCase()));
  return ['Host', host, 'Content-Length', '0', ...kept.flat()];
}

function pairsOf(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [rawHeaders[2 * at] ?? '', rawHeaders[2 * at + 1] ?? '']);
}

/** What the runtime says in place of a stream. */
async function readRefusal(answer: IncomingMessage): Promise<KubeletApiRefusal> {
  const { statusCode = 500 } = answer;
  let text = '';
  try {
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      if (text.length > longestRefusal) break;
    }
  } catch {
    // what has come is shown
  }
  answer.destroy();
  if (statusCode >= 400) return new KubeletApiRefusal(statusCode, text.slice(0, longestRefusal));
  return new KubeletApiRefusal(500, `invalid upgrade response: status code ${statusCode}`);
}

/** Passes bytes until both ends are closed, one of them fails, nothing moves any more, or the signal aborts. */
async function bothWays(client: Duplex, backend: Duplex, signal: AbortSignal, limits: StreamLimits): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const idle = new IdleWatch(limits, [client as Socket, backend as Socket], resolve);
  const ends = [client, backend];
  for (const end of ends) {
    // a broken end says so with an error and then closes: the close is what counts
    end.on('error', () => resolve());
    end.once('end', () => idle.noteEnd());
    end.once('close', () => resolve());
  }
  const leave = onAbort(signal, resolve);
  for (const socket of [client as Socket, backend as Socket]) socket.setNoDelay(true).setKeepAlive(true, 30_000);
  client.pipe(backend);
  backend.pipe(client);
  if (client.destroyed || backend.destroyed) resolve();
  await promise;
  leave();
  await flushed(client, idle);
  idle.close();
}

/** The client gets what the runtime has sent, also when the runtime's end is closed already. */
async function flushed(client: Duplex, idle: IdleWatch): Promise<void> {
  if (client.destroyed || client.writableFinished) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('close', () => resolve());
  idle.whenOver(resolve);
  client.end(() => resolve());
  await promise;
}

export interface IdleLimits {
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
}

/** Once one direction has ended, the other may be silent for so long. */
const halfClosedMs = 60_000;

/** Notices that no byte has moved over a pair of sockets for a time. */
class IdleWatch {
  readonly #limits: IdleLimits;
  readonly #sockets: readonly Socket[];
  #onOver: () => void;
  #isHalfClosed = false;
  #moved: number;
  #cancel: CancelTimer;

  constructor(limits: IdleLimits, sockets: readonly Socket[], onOver: () => void) {
    this.#limits = limits;
    this.#sockets = sockets;
    this.#onOver = onOver;
    this.#moved = this.#bytes();
    this.#cancel = this.#later();
  }

  /** One direction has ended. */
  noteEnd(): void {
    this.#isHalfClosed = true;
    this.#cancel();
    this.#cancel = this.#later();
  }

  /** Calls this in place of what was to be called before. */
  whenOver(onOver: () => void): void {
    this.#onOver = onOver;
    this.noteEnd();
  }

  close(): void {
    this.#cancel();
  }

  #later(): CancelTimer {
    const { clock, idleTimeoutMs } = this.#limits;
    return clock.setTimer(() => this.#look(), this.#isHalfClosed ? Math.min(halfClosedMs, idleTimeoutMs) : idleTimeoutMs);
  }

  #look(): void {
    const moved = this.#bytes();
    if (moved === this.#moved) {
      this.#onOver();
      return;
    }
    this.#moved = moved;
    this.#cancel = this.#later();
  }

  #bytes(): number {
    return this.#sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
  }
}
