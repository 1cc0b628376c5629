import type { KubeConfig } from '@kubernetes/client-node';
import { ApiError, KubeTransport, type WirePod, type WirePodCondition } from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';

/**
 * The client of users and of other controllers: it creates and deletes pods and namespaces, and writes their conditions. Each
 * method rejects with an `ApiError` when the server refuses.
 */
export class AdminClient {
  readonly #transport: KubeTransport;
  readonly #pods: ResourceClient<WirePod>;

  constructor(kubeConfig: KubeConfig) {
    this.#transport = new KubeTransport(kubeConfig);
    this.#pods = new ResourceClient(this.#transport, resources.pods);
  }

  createPod(namespace: string, pod: WirePod): Promise<WirePod> {
    return this.#pods.create(pod, { namespace });
  }

  /** Without `gracePeriodSeconds` the pod's own grace period counts; 0 deletes by force. */
  async deletePod(namespace: string, name: string, uid: string, gracePeriodSeconds?: number): Promise<void> {
    await this.#pods.delete({ namespace, name }, { uid, gracePeriodSeconds });
  }

  /** Deletes every pod with the label, at once and by force. */
  async deletePods(namespace: string, labelSelector: string): Promise<void> {
    await this.#pods.deleteCollection({ namespace, labelSelector, gracePeriodSeconds: 0 });
  }

  async listPods(namespace: string, labelSelector: string): Promise<readonly WirePod[]> {
    return (await this.#pods.list({ namespace, labelSelector })).items;
  }

  /** Writes one condition of the pod with this uid, and touches nothing else of its status. */
  async patchCondition(namespace: string, name: string, uid: string, condition: WirePodCondition): Promise<void> {
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const target = { namespace, name, subresource: 'status' };
    await this.#pods.patch(target, { type: 'application/strategic-merge-patch+json', body });
  }

  /** Merges `body` into the pod. */
  async patchPod(namespace: string, name: string, body: object): Promise<void> {
    await this.#pods.patch({ namespace, name }, { type: 'application/merge-patch+json', body });
  }

  async createNamespace(name: string): Promise<void> {
    await new ResourceClient(this.#transport, resources.namespaces).create({ metadata: { name } });
  }

  async deleteNamespace(name: string): Promise<void> {
    await new ResourceClient(this.#transport, resources.namespaces).delete({ name });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** The HTTP status of a refusal; undefined where no answer came. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined;
}
