import { randomBytes } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import type { JsonObject } from '../../src/api/json/types.ts';
import type { Answer } from './answers.ts';
import { ApiConnection, type ApiRequest } from './api-connection.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

export type PatchFormat = 'strategic' | 'merge' | 'json';

const patchTypes: Readonly<Record<PatchFormat, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

export type SendOptions = Omit<ApiRequest, 'method' | 'path'>;

/** Sends raw requests for tests. It returns every answer, refusals too, and retries and caches nothing. */
export class AdminClient {
  readonly #connection: ApiConnection;

  constructor(kubeConfig: KubeConfig) {
    // HTTP/1.1 for both servers: over HTTP/2 a server that refuses to read a body resets the stream and sends no answer.
    this.#connection = new ApiConnection(kubeConfig, { allowH2: false });
  }

  async send(method: Dispatcher.HttpMethod, path: string, options: SendOptions = {}): Promise<Answer> {
    const { statusCode, headers, body } = await this.#connection.send({ method, path, ...options });
    const text = await body.text();
    const json = `${headers['content-type'] ?? ''}`.startsWith('application/json') && text !== '';
    return { status: statusCode, body: json ? JSON.parse(text) : text, headers };
  }

  /** PATCH of the object at a path. */
  patch(path: string, body: unknown, format: PatchFormat = 'strategic', query = {}): Promise<Answer> {
    return this.send('PATCH', path, { body, query, headers: { 'content-type': patchTypes[format] } });
  }

  createPod(namespace: string, pod: unknown): Promise<Answer> {
    return this.send('POST', podsPath(namespace), { body: pod });
  }

  getPod(namespace: string, name: string): Promise<Answer> {
    return this.send('GET', podsPath(namespace, name));
  }

  /** Without a namespace: the pods of all namespaces. */
  listPods(namespace?: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('GET', namespace === undefined ? '/api/v1/pods' : podsPath(namespace), { query });
  }

  /** PUT of the whole pod. */
  replacePod(namespace: string, name: string, pod: unknown): Promise<Answer> {
    return this.send('PUT', podsPath(namespace, name), { body: pod });
  }

  replacePodStatus(namespace: string, name: string, pod: unknown): Promise<Answer> {
    return this.send('PUT', `${podsPath(namespace, name)}/status`, { body: pod });
  }

  patchPod(namespace: string, name: string, body: unknown, format: PatchFormat = 'strategic', headers = {}): Promise<Answer> {
    return this.send('PATCH', podsPath(namespace, name), { body, headers: { 'content-type': patchTypes[format], ...headers } });
  }

  patchPodStatus(
    namespace: string,
    name: string,
    body: unknown,
    format: PatchFormat = 'strategic',
    headers = {},
  ): Promise<Answer> {
    const path = `${podsPath(namespace, name)}/status`;
    return this.send('PATCH', path, { body, headers: { 'content-type': patchTypes[format], ...headers } });
  }

  /** `options` are the DeleteOptions: `{ gracePeriodSeconds, preconditions, … }`. */
  deletePod(namespace: string, name: string, options: JsonObject = {}): Promise<Answer> {
    return this.send('DELETE', podsPath(namespace, name), { body: options });
  }

  /** Creates a namespace with a new name; each test file works in its own. */
  async createNamespace(prefix = 'test'): Promise<string> {
    const name = `${prefix}-${randomBytes(5).toString('hex')}`;
    const { status, body } = await this.send('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
    if (status !== 201) throw new Error(`Creating namespace ${name} answered ${status}: ${JSON.stringify(body)}`);
    return name;
  }

  /** The events of a pod watch; see {@link watch}. */
  watchPods(namespace: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<WatchEvent> {
    return this.watch(podsPath(namespace), query);
  }

  /** The events of a watch, until the server ends it or the caller leaves the loop. Rejects when the server refuses it. */
  async *watch<T>(path: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<WatchEvent<T>> {
    const watch: ApiRequest = { method: 'GET', path, query: { ...query, watch: 'true' } };
    const { statusCode, body } = await this.#connection.send(watch);
    if (statusCode !== 200) throw new Error(`The watch was answered ${statusCode}: ${await body.text()}`);
    yield* readWatch<T>(body);
  }

  /** Ends its connections, also open watches. */
  close(): Promise<void> {
    return this.#connection.close();
  }
}

function podsPath(namespace: string, name?: string): string {
  const pods = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  return name === undefined ? pods : `${pods}/${encodeURIComponent(name)}`;
}
