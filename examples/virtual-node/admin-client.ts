import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici';
import type { WirePod, WirePodCondition } from '../../src/index.ts';

export interface Answer {
  readonly status: number;
  /** The JSON object of the answer; empty when there is none. */
  readonly body: { readonly message?: string; readonly reason?: string; readonly metadata?: { readonly uid?: string } };
}

export type AdminVerb = 'create' | 'get' | 'list' | 'patch' | 'delete';

interface Send {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Everybody else at the apiserver: who makes and deletes pods and namespaces, and writes conditions that are not the node's. */
export class AdminClient {
  /** Requests on pods, by verb. */
  readonly requests: Record<AdminVerb, number> = { create: 0, get: 0, list: 0, patch: 0, delete: 0 };
  readonly #kubeConfig: KubeConfig;
  readonly #server: URL;
  #dispatcher: Dispatcher | undefined;

  constructor(kubeConfig: KubeConfig) {
    this.#kubeConfig = kubeConfig;
    this.#server = new URL(kubeConfig.getCurrentCluster()?.server ?? '');
  }

  createPod(namespace: string, pod: WirePod): Promise<Answer> {
    this.requests.create++;
    return this.#send({ method: 'POST', path: podsPath(namespace), body: pod });
  }

  /** Without `gracePeriodSeconds` the pod's own; 0 is what `--force` does. */
  deletePod(namespace: string, name: string, uid: string, gracePeriodSeconds?: number): Promise<Answer> {
    this.requests.delete++;
    const body = { preconditions: { uid }, gracePeriodSeconds };
    return this.#send({ method: 'DELETE', path: `${podsPath(namespace)}/${name}`, body });
  }

  /** Every pod with the label, at once and with force. */
  deletePods(namespace: string, labelSelector: string): Promise<Answer> {
    this.requests.delete++;
    const path = `${podsPath(namespace)}?labelSelector=${encodeURIComponent(labelSelector)}`;
    return this.#send({ method: 'DELETE', path, body: { gracePeriodSeconds: 0 } });
  }

  async listPods(namespace: string, labelSelector: string): Promise<WirePod[]> {
    this.requests.list++;
    const path = `${podsPath(namespace)}?labelSelector=${encodeURIComponent(labelSelector)}`;
    const answer = await this.#send({ method: 'GET', path });
    if (answer.status !== 200) throw refused('Listing the pods', answer);
    return (answer.body as { items?: WirePod[] }).items ?? [];
  }

  /** Writes one condition of the pod with this uid, and touches nothing else of its status. */
  patchCondition(namespace: string, name: string, uid: string, condition: WirePodCondition): Promise<Answer> {
    this.requests.patch++;
    return this.#send({
      method: 'PATCH',
      path: `${podsPath(namespace)}/${name}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata: { uid }, status: { conditions: [condition] } },
    });
  }

  createNamespace(name: string): Promise<Answer> {
    return this.#send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }

  deleteNamespace(name: string): Promise<Answer> {
    return this.#send({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
  }

  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  async #send({ method, path, body, contentType = 'application/json' }: Send): Promise<Answer> {
    const { headers, dispatcher } = await this.#access();
    const { statusCode, body: answer } = await request(new URL(this.#server.pathname.replace(/\/$/, '') + path, this.#server), {
      method,
      dispatcher,
      headersTimeout: 30_000,
      headers: { ...headers, accept: 'application/json', ...(body !== undefined && { 'content-type': contentType }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: statusCode, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  /** Credentials are asked for each time, since they may expire; connections are made once. */
  async #access(): Promise<{ headers: Record<string, string>; dispatcher: Dispatcher }> {
    const given: RequestOptions = {};
    // client-node has credentials for https alone; the apiserver in memory speaks plain http and needs none
    if (this.#server.protocol === 'https:') await this.#kubeConfig.applyToHTTPSOptions(given);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given.headers ?? {})) headers[name] = String(value);
    if (typeof given.auth === 'string') headers.authorization = `Basic ${Buffer.from(given.auth).toString('base64')}`;
    this.#dispatcher ??= this.#connect(given);
    return { headers, dispatcher: this.#dispatcher };
  }

  #connect({ ca, cert, key, passphrase, servername, rejectUnauthorized }: RequestOptions): Dispatcher {
    const tls = { ca, cert, key, passphrase, servername, rejectUnauthorized: rejectUnauthorized !== false };
    const proxyUrl = this.#kubeConfig.getCurrentCluster()?.proxyUrl;
    if (proxyUrl !== undefined) return new ProxyAgent({ uri: proxyUrl, requestTls: tls });
    return new Agent({ connections: 8, connect: tls });
  }
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

/** What the server said instead, in one line. */
export function refused(what: string, { status, body }: Answer): Error {
  return new Error(`${what} was answered ${status}${body.message === undefined ? '' : `: ${body.message}`}`);
}
