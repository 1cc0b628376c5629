import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';

export interface ApiRequest {
  readonly method: Dispatcher.HttpMethod;
  /** From the root of the API: `/api/v1/…`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** Plain requests to the apiserver of a KubeConfig, with its credentials. Each answer is returned; nothing is retried. */
export class ApiConnection {
  readonly #kubeConfig: KubeConfig;
  readonly #server: URL;
  readonly #agentOptions: Agent.Options;
  #dispatcher: Dispatcher | undefined;

  constructor(kubeConfig: KubeConfig, agentOptions: Agent.Options = {}) {
    const cluster = kubeConfig.getCurrentCluster();
    if (cluster === null) throw new Error('The KubeConfig has no current cluster');
    this.#kubeConfig = kubeConfig;
    this.#server = new URL(cluster.server);
    this.#agentOptions = agentOptions;
  }

  async send({ method, path, query = {}, headers = {}, body }: ApiRequest): Promise<Dispatcher.ResponseData> {
    const access = await this.#access();
    const url = new URL(this.#server.pathname.replace(/\/$/, '') + path, this.#server);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return request(url, {
      method,
      dispatcher: access.dispatcher,
      headers: {
        ...access.headers,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** Ends the connections, also those with an unfinished answer. */
  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  /** Gets credentials for each request, since they may expire; makes the dispatcher once. */
  async #access(): Promise<{ headers: Record<string, string>; dispatcher: Dispatcher }> {
    const given: RequestOptions = {};
    // client-node has credentials for https alone; the apiserver in memory speaks plain http and needs none
    if (this.#server.protocol === 'https:') await this.#kubeConfig.applyToHTTPSOptions(given);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given.headers ?? {})) headers[name.toLowerCase()] = String(value);
    if (typeof given.auth === 'string') headers.authorization = `Basic ${Buffer.from(given.auth).toString('base64')}`;
    this.#dispatcher ??= this.#connect(given);
    return { headers, dispatcher: this.#dispatcher };
  }

  #connect({ ca, cert, key, passphrase, servername, rejectUnauthorized }: RequestOptions): Dispatcher {
    const tls = { ca, cert, key, passphrase, servername, rejectUnauthorized: rejectUnauthorized !== false };
    const proxyUrl = this.#kubeConfig.getCurrentCluster()?.proxyUrl;
    if (proxyUrl !== undefined) return new ProxyAgent({ ...this.#agentOptions, uri: proxyUrl, requestTls: tls });
    return new Agent({ ...this.#agentOptions, connect: tls });
  }
}
