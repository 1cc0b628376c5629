import type { DeletePodOptions, PodClient, PodMetadata, PodStatusPatch, RequestOptions, WirePod } from 'pod-status-manager';
import { ApiError } from 'pod-status-manager';

export type Verb = 'get' | 'patch' | 'delete';

/** A decorator of another {@link PodClient}: counts its requests, and the refusals by HTTP status. */
export class CountingPodClient implements PodClient {
  readonly requests: Record<Verb, number> = { get: 0, patch: 0, delete: 0 };
  /** The number of refusals by HTTP status, or by reason where no answer came. */
  readonly refusals = new Map<number | string, number>();
  readonly #next: PodClient;

  constructor(next: PodClient) {
    this.#next = next;
  }

  get total(): number {
    return this.requests.get + this.requests.patch + this.requests.delete;
  }

  getPod(namespace: string, name: string, options: RequestOptions): Promise<WirePod> {
    return this.#count('get', this.#next.getPod(namespace, name, options));
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata> {
    return this.#count('patch', this.#next.patchPodStatus(namespace, name, patch, options));
  }

  deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined> {
    return this.#count('delete', this.#next.deletePod(namespace, name, options));
  }

  async #count<T>(verb: Verb, answer: Promise<T>): Promise<T> {
    this.requests[verb]++;
    try {
      return await answer;
    } catch (error) {
      const what = error instanceof ApiError ? (error.status ?? error.reason) : 'unknown';
      this.refusals.set(what, (this.refusals.get(what) ?? 0) + 1);
      throw error;
    }
  }
}
