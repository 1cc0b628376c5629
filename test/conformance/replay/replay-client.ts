import { isDeepStrictEqual } from 'node:util';
import type {
  Clock,
  DeletePodOptions,
  PodClient,
  PodMetadata,
  PodStatusPatch,
  WirePod,
  WirePodStatus,
} from '../../../src/index.ts';
import { ApiError, applyPodStatusPatch } from '../../../src/index.ts';
import type { PodStore } from '../../../src/testing.ts';

type Verb = 'get' | 'patch' | 'delete';

/** A request that has arrived at the server. */
export interface Arrived {
  readonly verb: Verb;
  /** "namespace/name". */
  readonly pod: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The status code of the answer. */
  readonly code: number;
  /** The server failed it on demand. */
  readonly injected: boolean;
  /** The resourceVersion that the answer shows. */
  readonly resourceVersion?: string | undefined;
  /** What a PATCH that was taken found, brought and left. */
  readonly patched?: Patched;
  /** What a DELETE that was taken named, and the pod it found. */
  readonly deletion?: Deletion;
}

export interface Patched {
  readonly before: WirePod;
  readonly after: WirePod;
  readonly patch: PodStatusPatch;
  /** The manager's newest status of the pod when the PATCH arrived. */
  readonly cached: WirePodStatus | undefined;
}

export interface Deletion {
  readonly before: WirePod;
  /** The manager's newest status of the pod when the DELETE arrived. */
  readonly cached: WirePodStatus | undefined;
  readonly uid: string;
  readonly gracePeriodSeconds: number;
}

export interface ReplayClientOptions {
  readonly store: PodStore;
  readonly clock: Clock;
  /** The manager's newest status of the pod with this uid on the server. */
  readonly cachedStatus: (apiUID: string) => WirePodStatus | undefined;
}

/** The pod client of a replay: over the store, with failures on demand, and a list of all that arrived. */
export class ReplayClient implements PodClient {
  readonly arrived: Arrived[] = [];
  readonly #options: ReplayClientOptions;
  readonly #failures = new Map<string, number[]>();

  constructor(options: ReplayClientOptions) {
    this.#options = options;
  }

  fail(verb: Verb, pod: string, code: number, times: number): void {
    const key = `${verb} ${pod}`;
    this.#failures.set(key, [...(this.#failures.get(key) ?? []), ...Array<number>(times).fill(code)]);
  }

  getPod(namespace: string, name: string): Promise<WirePod> {
    return this.#answer('get', `${namespace}/${name}`, (failIfAsked) => {
      const pod = this.#options.store.get(namespace, name);
      failIfAsked();
      return { answer: pod, resourceVersion: pod.metadata?.resourceVersion };
    });
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch): Promise<PodMetadata> {
    return this.#answer('patch', `${namespace}/${name}`, (failIfAsked) => {
      const { store, cachedStatus } = this.#options;
      const before = store.get(namespace, name);
      // a failure hits the next request that has an effect: one the store refuses, or that changes nothing, uses none up
      if (hasEffect(before, patch)) failIfAsked();
      const after = store.patch(namespace, name, { ...patch, subresource: 'status' });
      const cached = cachedStatus(before.metadata?.uid ?? '');
      const { resourceVersion } = after.metadata ?? {};
      return { answer: metadataOf(after), resourceVersion, patched: { before, after, patch, cached } };
    });
  }

  deletePod(namespace: string, name: string, { uid, gracePeriodSeconds }: DeletePodOptions): Promise<PodMetadata> {
    return this.#answer('delete', `${namespace}/${name}`, (failIfAsked) => {
      const { store } = this.#options;
      const before = store.get(namespace, name);
      if (before.metadata?.uid === uid) failIfAsked();
      const cached = this.#options.cachedStatus(before.metadata?.uid ?? '');
      const { pod } = store.delete(namespace, name, { gracePeriodSeconds, preconditions: { uid } });
      return { answer: metadataOf(pod), deletion: { before, cached, uid, gracePeriodSeconds } };
    });
  }

  async #answer<T>(
    verb: Verb,
    pod: string,
    run: (failIfAsked: () => void) => { readonly answer: T } & Pick<Arrived, 'resourceVersion' | 'patched' | 'deletion'>,
  ): Promise<T> {
    await Promise.resolve();
    const at = this.#options.clock.now();
    let injected = false;
    const failIfAsked = (): void => {
      const code = this.#failures.get(`${verb} ${pod}`)?.shift();
      if (code === undefined) return;
      injected = true;
      throw apiError(code);
    };
    try {
      const { answer, ...rest } = run(failIfAsked);
      this.arrived.push({ verb, pod, at, code: 200, injected, ...rest });
      return answer;
    } catch (error) {
      this.arrived.push({ verb, pod, at, code: codeOf(error), injected });
      throw error;
    }
  }
}

function codeOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 0;
}

function hasEffect({ metadata, status = {} }: WirePod, patch: PodStatusPatch): boolean {
  const { uid, resourceVersion } = preconditions(patch.body);
  if (uid !== metadata?.uid || (resourceVersion !== undefined && resourceVersion !== metadata?.resourceVersion)) return false;
  return !isDeepStrictEqual(applyPodStatusPatch(status, patch), status);
}

/** The uid and the resourceVersion that a patch names. */
export function preconditions(body: unknown): { uid?: unknown; resourceVersion?: unknown } {
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
