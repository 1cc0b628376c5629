import { isDeepStrictEqual } from 'node:util';
import type { DeletePodOptions, PodClient, PodMetadata, PodStatusPatch, WirePod, WirePodStatus } from '../../../src/index.ts';
import { ApiError, applyPodStatusPatch } from '../../../src/index.ts';
import type { PodStore } from '../../../src/testing.ts';

/** A write that changed something on the server. */
export type Write =
  | { readonly verb: 'patch'; readonly pod: string; readonly status: WirePodStatus }
  | { readonly verb: 'delete'; readonly pod: string; readonly uid: string; readonly gracePeriodSeconds: number };

type Verb = 'get' | 'patch' | 'delete';

/** The pod client of a replay: over the store, with failures on demand, and a list of the writes that had an effect. */
export class ReplayClient implements PodClient {
  readonly writes: Write[] = [];
  /** Pods ("namespace/name") whose requests were failed on demand since the list was emptied last. */
  readonly failed = new Set<string>();
  /** How many requests were answered 429. */
  throttled = 0;
  readonly #store: PodStore;
  readonly #failures = new Map<string, number[]>();

  constructor(store: PodStore) {
    this.#store = store;
  }

  fail(verb: Verb, pod: string, code: number, times: number): void {
    const key = `${verb} ${pod}`;
    this.#failures.set(key, [...(this.#failures.get(key) ?? []), ...Array<number>(times).fill(code)]);
  }

  /** True while failures for the pod are still to come. */
  hasFailuresLeft(pod: string): boolean {
    return [...this.#failures].some(([key, codes]) => codes.length > 0 && key.endsWith(` ${pod}`));
  }

  getPod(namespace: string, name: string): Promise<WirePod> {
    return this.#answer(() => {
      const pod = this.#store.get(namespace, name);
      this.#failIfAsked('get', `${namespace}/${name}`);
      return pod;
    });
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch): Promise<PodMetadata> {
    return this.#answer(() => {
      const pod = `${namespace}/${name}`;
      const before = this.#store.get(namespace, name);
      // a failure hits the next request that has an effect: one the store refuses, or that changes nothing, uses none up
      if (this.#failures.get(`patch ${pod}`)?.length && hasEffect(before, patch)) this.#failIfAsked('patch', pod);
      const after = this.#store.patch(namespace, name, { ...patch, subresource: 'status' });
      if (after !== before) this.writes.push({ verb: 'patch', pod, status: after.status ?? {} });
      return metadataOf(after);
    });
  }

  deletePod(namespace: string, name: string, { uid, gracePeriodSeconds }: DeletePodOptions): Promise<PodMetadata> {
    return this.#answer(() => {
      const pod = `${namespace}/${name}`;
      const before = this.#store.get(namespace, name);
      if (before.metadata?.uid === uid) this.#failIfAsked('delete', pod);
      const { pod: deleted } = this.#store.delete(namespace, name, { gracePeriodSeconds, preconditions: { uid } });
      this.writes.push({ verb: 'delete', pod, uid, gracePeriodSeconds });
      return metadataOf(deleted);
    });
  }

  #failIfAsked(verb: Verb, pod: string): void {
    const code = this.#failures.get(`${verb} ${pod}`)?.shift();
    if (code === undefined) return;
    this.failed.add(pod);
    if (code === 429) this.throttled++;
    throw apiError(code);
  }

  async #answer<T>(run: () => T): Promise<T> {
    await Promise.resolve();
    return run();
  }
}

function hasEffect({ metadata, status = {} }: WirePod, patch: PodStatusPatch): boolean {
  const { uid, resourceVersion } = preconditions(patch.body);
  if (uid !== metadata?.uid || (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion)) return false;
  return !isDeepStrictEqual(applyPodStatusPatch(status, patch), status);
}

function preconditions(body: unknown): { uid?: unknown; resourceVersion?: unknown } {
  if (!Array.isArray(body)) return (body as { metadata: object }).metadata;
  const tested = (path: string): unknown => body.find((operation) => operation.op === 'test' && operation.path === path)?.value;
  return { uid: tested('/metadata/uid'), resourceVersion: tested('/metadata/resourceVersion') };
}

function apiError(status: number): ApiError {
  const retryAfterMs = status === 429 ? 1000 : undefined;
  return new ApiError({ status, reason: 'Injected', message: `the server answered ${status}`, retryAfterMs });
}

function metadataOf({ metadata }: WirePod): PodMetadata {
  const { uid = '', resourceVersion = '', deletionTimestamp, finalizers } = metadata ?? {};
  return { uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }), ...(finalizers && { finalizers }) };
}
