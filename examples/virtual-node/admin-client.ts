import type { KubeConfig } from '@kubernetes/client-node';
import type { WirePod, WirePodCondition } from 'pod-status-manager';
import { ApiConnection, type ApiRequest } from './api-connection.ts';

export interface Answer {
  readonly status: number;
  /** The JSON object of the answer; empty when there is none. */
  readonly body: { readonly message?: string; readonly reason?: string; readonly metadata?: { readonly uid?: string } };
}

export type AdminVerb = 'create' | 'get' | 'list' | 'patch' | 'delete';

/** The client of users and of other controllers: it creates and deletes pods and namespaces, and writes their conditions. */
export class AdminClient {
  /** Requests on pods, by verb. */
  readonly requests: Record<AdminVerb, number> = { create: 0, get: 0, list: 0, patch: 0, delete: 0 };
  readonly #connection: ApiConnection;

  constructor(kubeConfig: KubeConfig) {
    this.#connection = new ApiConnection(kubeConfig, { connections: 8, headersTimeout: 30_000 });
  }

  createPod(namespace: string, pod: WirePod): Promise<Answer> {
    this.requests.create++;
    return this.#send({ method: 'POST', path: podsPath(namespace), body: pod });
  }

  /** Without `gracePeriodSeconds` the pod's own grace period counts; 0 deletes by force. */
  deletePod(namespace: string, name: string, uid: string, gracePeriodSeconds?: number): Promise<Answer> {
    this.requests.delete++;
    const body = { preconditions: { uid }, gracePeriodSeconds };
    return this.#send({ method: 'DELETE', path: `${podsPath(namespace)}/${name}`, body });
  }

  /** Deletes every pod with the label, at once and by force. */
  deletePods(namespace: string, labelSelector: string): Promise<Answer> {
    this.requests.delete++;
    return this.#send({
      method: 'DELETE',
      path: podsPath(namespace),
      query: { labelSelector },
      body: { gracePeriodSeconds: 0 },
    });
  }

  async listPods(namespace: string, labelSelector: string): Promise<WirePod[]> {
    this.requests.list++;
    const answer = await this.#send({ method: 'GET', path: podsPath(namespace), query: { labelSelector } });
    if (answer.status !== 200) throw refused('Listing the pods', answer);
    return (answer.body as { items?: WirePod[] }).items ?? [];
  }

  /** Writes one condition of the pod with this uid, and touches nothing else of its status. */
  patchCondition(namespace: string, name: string, uid: string, condition: WirePodCondition): Promise<Answer> {
    this.requests.patch++;
    return this.#send({
      method: 'PATCH',
      path: `${podsPath(namespace)}/${name}/status`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { metadata: { uid }, status: { conditions: [condition] } },
    });
  }

  createNamespace(name: string): Promise<Answer> {
    return this.#send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }

  deleteNamespace(name: string): Promise<Answer> {
    return this.#send({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #send(asked: ApiRequest): Promise<Answer> {
    const { statusCode, body } = await this.#connection.send(asked);
    const text = await body.text();
    return { status: statusCode, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

/** The error for an unexpected answer, in one line. */
export function refused(what: string, { status, body }: Answer): Error {
  return new Error(`${what} was answered ${status}${body.message === undefined ? '' : `: ${body.message}`}`);
}
