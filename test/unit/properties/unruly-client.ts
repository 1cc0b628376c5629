import type { WirePod } from '../../../src/api/json/types.ts';
import type { PodStatusPatch } from '../../../src/api/patch/pod-status-patch.ts';
import type { DeletePodOptions, PodClient, PodMetadata, RequestOptions } from '../../../src/client/resources/kube-pod-client.ts';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { FakePodClient, type PodVerb } from '../../../src/testing/fakes/fake-pod-client.ts';
import type { PodStore } from '../../../src/testing/pods-api/pod-store.ts';

/** `lost`: the request took effect and its answer was lost. A number: the server refused it with this HTTP status. */
export type Trouble = { readonly verb: PodVerb; readonly how: number | 'network' | 'lost' };

interface LateWrite {
  readonly namespace: string;
  readonly name: string;
  readonly patch: PodStatusPatch;
  readonly noted: () => void;
}

/**
 * A client over a {@link PodStore}. Its requests can be held or refused, its answers can be lost, and its aborted writes
 * can still take effect later.
 */
export class UnrulyClient implements PodClient {
  readonly #inner: FakePodClient;
  readonly #store: PodStore;
  readonly #onPatch: (name: string) => () => void;
  #troubles: Trouble[] = [];
  #lateWrites: LateWrite[] = [];
  readonly #patching = new Set<string>();
  /** Pods that had two writes in flight at once. */
  readonly crossed: string[] = [];

  /** Calls `onPatch` for every patch when it is sent. Calls the function that it returns when that patch runs late. */
  constructor(store: PodStore, onPatch: (name: string) => () => void) {
    this.#store = store;
    this.#inner = new FakePodClient({ store });
    this.#onPatch = onPatch;
  }

  get requests(): number {
    return this.#inner.actions.length;
  }

  hold(verb: PodVerb): void {
    this.#inner.hold(verb);
  }

  release(verb?: PodVerb): void {
    this.#inner.release(verb);
  }

  trouble(trouble: Trouble): void {
    this.#troubles.push(trouble);
  }

  calm(): void {
    this.#troubles = [];
    this.release();
  }

  /** The server now handles the aborted writes. It may refuse them. */
  runLateWrites(): void {
    for (const { namespace, name, patch, noted } of this.#lateWrites.splice(0)) {
      noted();
      try {
        this.#store.patch(namespace, name, { ...patch, subresource: 'status' });
      } catch {}
    }
  }

  getPod(namespace: string, name: string, options: RequestOptions): Promise<WirePod> {
    return this.#request('get', () => this.#inner.getPod(namespace, name, options));
  }

  async patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata> {
    const noted = this.#onPatch(name);
    // both patch formats name the uid: two pods may have the same name
    const uid = /"(uid-\d+)"/.exec(JSON.stringify(patch.body))?.[1] ?? name;
    if (this.#patching.has(uid)) this.crossed.push(uid);
    this.#patching.add(uid);
    try {
      return await this.#request('patch', () => this.#inner.patchPodStatus(namespace, name, patch, options));
    } catch (error) {
      if (options.signal.aborted) this.#lateWrites.push({ namespace, name, patch, noted });
      throw error;
    } finally {
      this.#patching.delete(uid);
    }
  }

  deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata> {
    return this.#request('delete', async () => (await this.#inner.deletePod(namespace, name, options)) as PodMetadata);
  }

  async #request<T>(verb: PodVerb, run: () => Promise<T>): Promise<T> {
    const index = this.#troubles.findIndex((trouble) => trouble.verb === verb);
    const how = this.#troubles[index]?.how;
    if (how !== undefined) this.#troubles.splice(index, 1);
    if (typeof how === 'number') throw new ApiError({ status: how, reason: 'OnDemand', message: `${verb} fails on demand` });
    const answer = how === 'network' ? undefined : await run();
    if (answer === undefined || how === 'lost') throw new ApiError({ reason: 'Network', message: `${verb} got no answer` });
    return answer;
  }
}
