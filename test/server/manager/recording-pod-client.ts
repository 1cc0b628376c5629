import type { WirePod } from '../../../src/api/json/types.ts';
import type { PodStatusPatch } from '../../../src/api/patch/pod-status-patch.ts';
import type { DeletePodOptions, PodClient, PodMetadata, RequestOptions } from '../../../src/client/resources/kube-pod-client.ts';

type PodVerb = 'get' | 'patch' | 'delete';

interface RecordedRequest {
  readonly pod: string;
  /** `get`, `patch` or `delete`; a refused one with its HTTP status: `patch 409`. */
  readonly request: string;
}

/** Records every request, in the order of the answers. */
export class RecordingPodClient implements PodClient {
  /** Every patch that was sent, also refused ones. */
  readonly patches: PodStatusPatch[] = [];
  /** Runs before each request. */
  before: ((verb: PodVerb) => Promise<void>) | undefined;
  readonly #inner: PodClient;
  readonly #onAnswer: () => void;
  #requests: RecordedRequest[] = [];
  #sent = 0;

  constructor(inner: PodClient, onAnswer: () => void) {
    this.#inner = inner;
    this.#onAnswer = onAnswer;
  }

  /** How many requests have been sent, answered or not. */
  get sent(): number {
    return this.#sent;
  }

  /** The requests for this pod so far. */
  requests(pod: string): string[] {
    return this.#requests.filter((request) => request.pod === pod).map(({ request }) => request);
  }

  /** Returns the requests for this pod and drops them. */
  take(pod: string): string[] {
    const taken = this.requests(pod);
    this.#requests = this.#requests.filter((request) => request.pod !== pod);
    return taken;
  }

  getPod(namespace: string, name: string, options: RequestOptions): Promise<WirePod> {
    return this.#send('get', name, () => this.#inner.getPod(namespace, name, options));
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata> {
    this.patches.push(patch);
    return this.#send('patch', name, () => this.#inner.patchPodStatus(namespace, name, patch, options));
  }

  deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined> {
    return this.#send('delete', name, () => this.#inner.deletePod(namespace, name, options));
  }

  async #send<T>(verb: PodVerb, pod: string, send: () => Promise<T>): Promise<T> {
    this.#sent++;
    await this.before?.(verb);
    try {
      const answer = await send();
      this.#requests.push({ pod, request: verb });
      return answer;
    } catch (error) {
      const status = error instanceof Error && 'status' in error ? error.status : 'failed';
      this.#requests.push({ pod, request: `${verb} ${status}` });
      throw error;
    } finally {
      this.#onAnswer();
    }
  }
}
