import type { PodClient, PodStatusPatch, RequestOptions } from '../../../src/index.ts';
import type { Found } from './rules.ts';

/**
 * A client that checks what is in flight: no more requests than allowed, never two writes of one pod, and each write names its
 * pod. A mutant's client goes on top of it.
 */
export class WatchedClient implements PodClient {
  readonly #client: PodClient;
  readonly #concurrency: number;
  readonly #found: Found;
  readonly #writing = new Map<string, number>();
  /** The signals of the requests in flight. A request that was given up no longer counts, however long it takes to settle. */
  readonly #signals = new Set<AbortSignal>();
  #inFlight = 0;

  constructor(client: PodClient, concurrency: number, found: Found) {
    this.#client = client;
    this.#concurrency = concurrency;
    this.#found = found;
  }

  get requestsInFlight(): number {
    return this.#inFlight;
  }

  getPod(...request: Parameters<PodClient['getPod']>): ReturnType<PodClient['getPod']> {
    return this.#count(request[2], () => this.#client.getPod(...request));
  }

  patchPodStatus(...request: Parameters<PodClient['patchPodStatus']>): ReturnType<PodClient['patchPodStatus']> {
    const uid = uidInPatch(request[2]);
    return this.#countWrite(`patch of ${request[1]}`, uid, request[3], () => this.#client.patchPodStatus(...request));
  }

  deletePod(...request: Parameters<PodClient['deletePod']>): ReturnType<PodClient['deletePod']> {
    return this.#countWrite(`delete of ${request[1]}`, request[2].uid ?? '', request[2], () =>
      this.#client.deletePod(...request),
    );
  }

  async #countWrite<T>(what: string, uid: string, options: RequestOptions, send: () => Promise<T>): Promise<T> {
    if (uid === '') this.#found('every write names its pod', what);
    const writing = (this.#writing.get(uid) ?? 0) + 1;
    this.#writing.set(uid, writing);
    if (writing > 1) this.#found('one write of a pod at a time', `${what} (${uid}) while another is in flight`);
    try {
      return await this.#count(options, send);
    } finally {
      const left = (this.#writing.get(uid) ?? 1) - 1;
      if (left === 0) this.#writing.delete(uid);
      else this.#writing.set(uid, left);
    }
  }

  async #count<T>({ signal }: RequestOptions, send: () => Promise<T>): Promise<T> {
    this.#signals.add(signal);
    this.#inFlight++;
    const awaited = [...this.#signals].filter(({ aborted }) => !aborted).length;
    if (awaited > this.#concurrency)
      this.#found('requests in flight are bounded', `${awaited} at once, ${this.#concurrency} allowed`);
    try {
      return await send();
    } finally {
      this.#inFlight--;
      this.#signals.delete(signal);
    }
  }
}

/** The uid a patch of either format is held against; empty when it names none. */
export function uidInPatch({ body }: PodStatusPatch): string {
  if (Array.isArray(body)) {
    const test = body.find((operation) => operation.op === 'test' && operation.path === '/metadata/uid');
    return typeof test?.value === 'string' ? test.value : '';
  }
  const uid = (body as { metadata?: { uid?: unknown } }).metadata?.uid;
  return typeof uid === 'string' ? uid : '';
}
