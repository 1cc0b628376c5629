import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, createSecureServer, Http2ServerResponse } from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Agent, request as send } from 'undici';
import type { WirePod } from '../../../src/index.ts';
import type { CertificateAuthority } from '../../support/certificate-authority.ts';
import { markOf } from '../chaos/said/plain-status.ts';
import type { Fault, FaultPlan, WatchFault } from './fault-plan.ts';

export interface FaultProxyOptions {
  readonly upstream: string;
  /** Signs the proxy's certificates, and the server's where it has any. */
  readonly authority: CertificateAuthority;
  readonly plan: FaultPlan;
  /** Offers HTTP/2 as well. Default false. */
  readonly http2?: boolean;
}

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

interface LateWrite {
  /** By `performance.now()`. */
  readonly at: number;
  readonly mark: number | undefined;
}

/** A watch that a client has open. */
interface WatchLine {
  readonly url: string;
  /** Nothing comes through any more. */
  isSilent: boolean;
  readonly expire: () => void;
}

/** A watch brings nothing for so long before its version has expired: what changes meanwhile is not told. */
const silenceBeforeExpiryMs = 500;
const expiredEvent = '{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}}\n';

/** Stands between the manager and its apiserver, in TLS, and does to each request what the plan says. */
export class FaultProxy {
  readonly #server: Server;
  readonly #options: FaultProxyOptions;
  readonly #rawSockets = new Map<number, Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #upstream: Agent;
  /** What a bearer token must be; undefined: the server behind decides alone. */
  expectedToken: string | undefined;
  /** Requests that came in, watches included. */
  requests = 0;
  /** Of these, those over HTTP/2. */
  overHttp2 = 0;
  /** Requests that met a fault and may still take effect. */
  underWay = 0;
  readonly #watches = new Set<WatchLine>();
  #isSilent = false;
  /** By the pod's uid: when a PATCH landed last that its client no longer waited for, and the mark of the status that it wrote. */
  readonly #lateWrites = new Map<string, LateWrite>();

  private constructor(server: Server, options: FaultProxyOptions) {
    this.#server = server;
    this.#options = options;
    this.#upstream = this.#newAgent();
    // Only the socket below TLS can be reset.
    server.on('connection', (socket: Socket) => {
      const { remotePort = 0 } = socket;
      this.#rawSockets.set(remotePort, socket);
      socket.once('close', () => this.#rawSockets.delete(remotePort));
    });
    server.on('request', (incoming, response) => {
      let isOver = false;
      response.once('close', () => {
        isOver = true;
      });
      // the server behind is away, or its connection broke: the client's is reset, too
      this.#handle(incoming, response, () => !isOver).catch(() => {
        if (!isOver) this.#reset(incoming);
      });
    });
  }

  /** The PATCH that landed last on this pod after its client had stopped waiting for it. */
  lateWriteOn(uid: string): LateWrite | undefined {
    return this.#lateWrites.get(uid);
  }

  static async start(options: FaultProxyOptions): Promise<FaultProxy> {
    const tls = { ...options.authority.issue(), keepAliveTimeout: 0, requestTimeout: 0, noDelay: true };
    // its requests and responses have what is used here of those of HTTP/1.1
    const server =
      options.http2 === true ? (createSecureServer({ ...tls, allowHTTP1: true }) as unknown as Server) : createServer(tls);
    const proxy = new FaultProxy(server, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The URLs of the watches that clients have open. */
  get openWatches(): readonly string[] {
    return [...this.#watches].map(({ url }) => url);
  }

  /** From now on the watches bring nothing, also those to come. */
  silenceWatches(): void {
    this.#isSilent = true;
    for (const watch of this.#watches) watch.isSilent = true;
  }

  /** The watches that bring nothing end with a 410. */
  expireWatches(): void {
    this.#isSilent = false;
    for (const { isSilent, expire } of [...this.#watches]) if (isSilent) expire();
  }

  /** Connections that clients have open. */
  get connections(): number {
    return this.#rawSockets.size;
  }

  /** Another certificate of the same authority; every connection, on both sides, has to be made anew. */
  rotateCertificate(): void {
    this.#server.setSecureContext(this.#options.authority.issue());
    this.resetAll();
    void this.#upstream.destroy();
    this.#upstream = this.#newAgent();
  }

  /** Every connection of a client breaks. */
  resetAll(): void {
    for (const socket of this.#rawSockets.values()) socket.destroy();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.close();
    this.resetAll();
    await this.#upstream.destroy();
  }

  #newAgent(): Agent {
    return new Agent({ allowH2: false, connections: 64, connect: { ca: this.#options.authority.cert } });
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse, isAwaited: () => boolean): Promise<void> {
    this.requests++;
    if (incoming.httpVersionMajor === 2) this.overHttp2++;
    const received = await receive(incoming);
    if (this.expectedToken !== undefined && received.headers.authorization !== `Bearer ${this.expectedToken}`) {
      return answer(response, refusal(401, 'Unauthorized'));
    }
    const { plan } = this.#options;
    const [path = ''] = received.url.split('?');
    if (/[?&]watch=/.test(received.url)) return this.#watch(received, incoming, response, plan.takeForWatch(path));
    const fault = plan.take(received.method, path);
    const forward = async (): Promise<Reply> => {
      const reply = await this.#forward(received);
      if (!isAwaited() && received.method === 'PATCH' && reply.status === 200) this.#noteLateWrite(reply);
      return reply;
    };
    if (fault === undefined) return answer(response, await forward());
    plan.count(fault.kind);
    this.underWay++;
    await this.#fail(fault, forward, incoming, response).finally(() => this.underWay--);
  }

  async #fail(fault: Fault, forward: () => Promise<Reply>, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (fault.kind) {
      case 'hang':
        return;
      case 'reset':
        return this.#reset(incoming);
      case 'reset after effect':
        await forward();
        return this.#reset(incoming);
      case 'cut':
        return cut(response, await forward());
      case 'late':
        await this.#pause(fault.ms);
        await forward();
        return;
      case 'delay':
        await this.#pause(fault.ms);
        return answer(response, await forward());
      case 'slow answer': {
        const reply = await forward();
        await this.#pause(fault.ms);
        return answer(response, reply);
      }
      case '504 after effect':
        await forward();
        return answer(response, refusal(504, 'Timeout'));
      default:
        return answer(response, refusal(Number(fault.kind), 'Injected', fault.retryAfterSeconds));
    }
  }

  #noteLateWrite({ body }: Reply): void {
    const pod = JSON.parse(body.toString()) as WirePod;
    this.#lateWrites.set(pod.metadata?.uid ?? '', { at: performance.now(), mark: markOf(pod.status) });
  }

  async #forward({ method, url, headers, body }: Received): Promise<Reply> {
    const target = new URL(url, this.#options.upstream);
    const dispatcher = this.#upstream;
    const reply = await send(target, { method, headers, body: body ?? null, dispatcher, headersTimeout: 0, bodyTimeout: 0 });
    return { status: reply.statusCode, headers: texts(reply.headers), body: Buffer.from(await reply.body.arrayBuffer()) };
  }

  async #watch(received: Received, incoming: IncomingMessage, response: ServerResponse, fault: WatchFault | undefined) {
    const { method, url, headers } = received;
    const target = new URL(url, this.#options.upstream);
    const gone = new AbortController();
    const watch: WatchLine = { url, isSilent: this.#isSilent, expire: () => response.end(expiredEvent) };
    this.#watches.add(watch);
    response.once('close', () => {
      this.#watches.delete(watch);
      gone.abort();
    });
    const options = { method, headers, dispatcher: this.#upstream, signal: gone.signal, headersTimeout: 0, bodyTimeout: 0 };
    const { statusCode, headers: given, body } = await send(target, options);
    response.writeHead(statusCode, { 'content-type': texts(given)['content-type'] ?? 'application/json' });
    response.flushHeaders();
    if (fault !== undefined) {
      void this.#pause(fault.ms).then(() => {
        if (gone.signal.aborted || !this.#options.plan.active) return;
        this.#options.plan.count(fault.kind);
        if (fault.kind === 'watch hung' || fault.kind === 'watch expired') watch.isSilent = true;
        if (fault.kind === 'watch ended') response.end();
        else if (fault.kind === 'watch reset') this.#reset(incoming);
        else if (fault.kind === 'watch cut') response.write('{"type":"MODIFIED","object":{"kin', () => breakOff(response));
        else if (fault.kind === 'watch expired') void this.#pause(silenceBeforeExpiryMs).then(watch.expire);
      });
    }
    for await (const chunk of body) if (!watch.isSilent && !response.writableEnded) response.write(chunk);
    response.end();
  }

  #reset({ socket }: IncomingMessage): void {
    this.#rawSockets.get(socket.remotePort ?? 0)?.resetAndDestroy();
    socket.destroy();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }
}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = texts(incoming.headers);
  const body = chunks.length === 0 ? undefined : Buffer.concat(chunks);
  return { method: incoming.method ?? 'GET', url: incoming.url ?? '/', headers, body };
}

function texts(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  // HTTP/2 has method and path among the headers
  const named = Object.entries(headers).filter(([name]) => !name.startsWith(':'));
  return Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
}

function refusal(code: number, reason: string, retryAfterSeconds?: number): Reply {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `injected ${code}` };
  return { status: code, headers, body: Buffer.from(JSON.stringify(status)) };
}

function headOf({ headers, body }: Reply): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => ['content-type', 'retry-after'].includes(name));
  return { ...Object.fromEntries(kept), 'content-length': String(body.length) };
}

function answer(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, headOf(reply));
  response.end(reply.body);
}

/** Ends an answer before its end: over HTTP/2 the stream alone, else the connection. */
function breakOff(response: ServerResponse): void {
  const either: unknown = response;
  if (either instanceof Http2ServerResponse) either.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

function cut(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, headOf(reply));
  response.write(reply.body.subarray(0, reply.body.length / 2), () => breakOff(response));
}
