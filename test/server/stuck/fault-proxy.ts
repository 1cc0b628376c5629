import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { ApiConnection } from '../../support/api-connection.ts';

/** What a request gets in place of the server's answer. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason: string;
      readonly message: string;
      readonly retryAfter?: number;
    }
  | { readonly kind: 'html'; readonly code: number }
  | { readonly kind: 'silence' };

interface Rule {
  readonly fits: RegExp;
  readonly fault: Fault;
}

/** Stands on loopback in front of a server, with that server's credentials, and answers some requests itself. */
export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #connection: ApiConnection;
  #rules: Rule[] = [];

  private constructor(kubeConfig: KubeConfig) {
    this.#connection = new ApiConnection(kubeConfig, { allowH2: false });
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
  }

  static async start(kubeConfig: KubeConfig): Promise<FaultProxy> {
    const proxy = new FaultProxy(kubeConfig);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  kubeConfig(): KubeConfig {
    return kubeConfigOf({ name: 'proxy', server: this.url });
  }

  /** Requests whose `METHOD path?query` fits get this fault, until `heal`. Those that came first count. */
  fail(fits: RegExp, fault: Fault): void {
    this.#rules.push({ fits, fault });
  }

  heal(): void {
    this.#rules = [];
  }

  /** Ends every connection: watches begin anew. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#connection.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const rule = this.#rules.find(({ fits }) => fits.test(`${method} ${url}`));
    if (rule !== undefined) return refuse(response, rule.fault);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { 'content-type': type, accept } = request.headers;
    const { statusCode, headers, body } = await this.#connection.send({
      method: method as Dispatcher.HttpMethod,
      path: url,
      headers: { ...(type && { 'content-type': type }), ...(accept && { accept }) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks).toString() }),
    });
    const { 'content-type': answered } = headers;
    response.writeHead(statusCode, answered === undefined ? {} : { 'content-type': String(answered) });
    response.flushHeaders();
    response.on('close', () => body.destroy());
    await pipeline(body, response);
  }
}

function refuse(response: ServerResponse, fault: Fault): void {
  if (fault.kind === 'silence') return;
  if (fault.kind === 'html') {
    response.writeHead(fault.code, { 'content-type': 'text/html' }).end('<html><body>Welcome</body></html>');
    return;
  }
  const { code, reason, message, retryAfter } = fault;
  const headers = { 'content-type': 'application/json', ...(retryAfter !== undefined && { 'retry-after': `${retryAfter}` }) };
  response.writeHead(code, headers).end(JSON.stringify({ kind: 'Status', status: 'Failure', code, reason, message }));
}

/** A kubeconfig of one cluster, without credentials. */
export function kubeConfigOf(cluster: {
  readonly name: string;
  readonly server: string;
  readonly caData?: string;
  readonly proxyUrl?: string;
}): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ skipTLSVerify: false, ...cluster }, { name: 'nobody' });
  return config;
}
