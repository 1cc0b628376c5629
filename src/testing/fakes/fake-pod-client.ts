import type { WirePod } from '../../api/json/types.ts';
import type { PodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import type { DeletePodOptions, PodClient, PodMetadata, RequestOptions } from '../../client/resources/kube-pod-client.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import { reasonOfCode } from '../objects/api-status.ts';
import { PodStore } from '../pods-api/pod-store.ts';
import { podMetadataOf } from './builders.ts';

/** The requests that a `PodClient` can make. */
export type PodVerb = 'get' | 'patch' | 'delete';

/** One request the client was asked to make. */
export interface PodAction {
  /** What the request asked for. */
  readonly verb: PodVerb;
  /** The namespace of the pod. */
  readonly namespace: string;
  /** The name of the pod. */
  readonly name: string;
  /** The body of a patch. */
  readonly patch?: unknown;
  /** The uid precondition of a delete. */
  readonly uid?: string;
  /** The grace period of a delete, in seconds. */
  readonly gracePeriodSeconds?: number;
  /** The HTTP status of a failure; 0 when it came without an answer. Absent while the request is open, and on success. */
  readonly error?: number;
}

/** Which requests of a {@link FakePodClient} fail, and how. */
export interface FakeFailure {
  /** The namespace of the pod. Default: any. */
  readonly namespace?: string;
  /** The name of the pod. Default: any. */
  readonly name?: string;
  /** HTTP status; leave it out for a request that gets no answer, and give a `reason` (`Network`, `Timeout`). */
  readonly code?: number;
  /** How many matching requests fail. Default 1. */
  readonly times?: number;
  /** What the server asks the client to wait. Default: nothing. */
  readonly retryAfterMs?: number;
  /** The `reason` of the error. Default: the one that belongs to the code, or `Network` without a code. */
  readonly reason?: string;
}

/** What the constructor of `FakePodClient` takes. */
export interface FakePodClientOptions {
  /** The store of the pods. Default: a store that validates nothing and fills in nothing. */
  readonly store?: PodStore;
  /** True: an aborted held request settles only when it is released, as on a slow connection. Default false. */
  readonly settleAbortsLate?: boolean;
}

interface Gate {
  readonly verb: PodVerb;
  readonly open: () => void;
}

type Recorded = { -readonly [K in keyof PodAction]: PodAction[K] };

/**
 * A `PodClient` over a {@link PodStore}: no network, no timer; every answer comes in microtasks.
 *
 * @example
 * ```ts
 * import { buildPod, FakePodClient } from 'pod-status-manager/testing';
 *
 * const client = new FakePodClient();
 * client.store.create(buildPod());
 * client.failNext('get', { code: 503 });
 * const { signal } = new AbortController();
 * await client.getPod('default', 'pod-1', { signal }).catch(() => {});
 * await client.getPod('default', 'pod-1', { signal });
 * console.log(client.actions.map(({ verb, error }) => `${verb} ${error ?? 'ok'}`)); // [ 'get 503', 'get ok' ]
 * ```
 */
export class FakePodClient implements PodClient {
  /** The pods: to seed them, to change them and to look at them. */
  readonly store: PodStore;
  readonly #settleAbortsLate: boolean;
  readonly #actions: Recorded[] = [];
  readonly #failures: { verb: PodVerb; failure: FakeFailure; left: number }[] = [];
  readonly #heldVerbs = new Set<PodVerb>();
  readonly #gates = new Set<Gate>();

  constructor({
    store = new PodStore({ validate: false, fillIns: false }),
    settleAbortsLate = false,
  }: FakePodClientOptions = {}) {
    this.store = store;
    this.#settleAbortsLate = settleAbortsLate;
  }

  /** Every request so far, in order. */
  get actions(): readonly PodAction[] {
    return this.#actions;
  }

  /** The verbs of {@link actions}, in order. */
  verbs(): PodVerb[] {
    return this.#actions.map(({ verb }) => verb);
  }

  /** Forgets the requests so far. Requests that are open go on. */
  clearActions(): void {
    this.#actions.length = 0;
  }

  /** The number of requests that wait for {@link release}. */
  get heldRequests(): number {
    return this.#gates.size;
  }

  /** Fails the next matching requests before they reach the store. The failures of several calls come in order of the calls. */
  failNext(verb: PodVerb, failure: FakeFailure): void {
    this.#failures.push({ verb, failure, left: failure.times ?? 1 });
  }

  /** Keeps requests of `verb` (default: any verb) from reaching the store until {@link release}. */
  hold(verb?: PodVerb): void {
    for (const each of verbsOf(verb)) this.#heldVerbs.add(each);
  }

  /** Lets the held requests of `verb` (default: any verb) go on, in order, and holds no more of them. */
  release(verb?: PodVerb): void {
    for (const each of verbsOf(verb)) this.#heldVerbs.delete(each);
    for (const gate of [...this.#gates]) {
      if (!this.#heldVerbs.has(gate.verb)) gate.open();
    }
  }

  /** The answer is a copy, as from a server: changing it changes nothing in the store. */
  getPod(namespace: string, name: string, { signal }: RequestOptions): Promise<WirePod> {
    return this.#request({ verb: 'get', namespace, name }, signal, () => structuredClone(this.store.get(namespace, name)));
  }

  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, { signal }: RequestOptions): Promise<PodMetadata> {
    return this.#request({ verb: 'patch', namespace, name, patch: patch.body }, signal, () =>
      podMetadataOf(this.store.patch(namespace, name, { ...patch, subresource: 'status' })),
    );
  }

  deletePod(namespace: string, name: string, { gracePeriodSeconds, uid, signal }: DeletePodOptions): Promise<PodMetadata> {
    return this.#request({ verb: 'delete', namespace, name, uid, gracePeriodSeconds }, signal, () =>
      podMetadataOf(this.store.delete(namespace, name, { gracePeriodSeconds, preconditions: { uid } }).pod),
    );
  }

  /** Records the request, holds it or fails it on demand, and then runs it against the store. */
  async #request<T>(action: Recorded, signal: AbortSignal, run: () => T): Promise<T> {
    // A request aborted before it was sent is no request.
    if (signal.aborted) throw aborted();
    this.#actions.push(action);
    try {
      await this.#reached(action.verb, signal);
      const failure = this.#takeFailure(action);
      if (failure !== undefined) throw errorOf(failure, action);
      return run();
    } catch (error) {
      action.error = error instanceof ApiError ? (error.status ?? 0) : 0;
      throw error;
    }
  }

  /** Resolves when the request may reach the store; rejects when it was aborted before. */
  #reached(verb: PodVerb, signal: AbortSignal): Promise<void> {
    if (!this.#heldVerbs.has(verb)) return Promise.resolve().then(() => (signal.aborted ? Promise.reject(aborted()) : undefined));
    return new Promise((resolve, reject) => {
      const open = (): void => {
        this.#gates.delete(gate);
        leave();
        if (signal.aborted) reject(aborted());
        else resolve();
      };
      const gate: Gate = { verb, open };
      this.#gates.add(gate);
      const leave = onAbort(signal, () => {
        if (!this.#settleAbortsLate) open();
      });
    });
  }

  #takeFailure({ verb, namespace, name }: PodAction): FakeFailure | undefined {
    const rule = this.#failures.find(
      ({ verb: failing, failure, left }) =>
        left > 0 && failing === verb && (failure.namespace ?? namespace) === namespace && (failure.name ?? name) === name,
    );
    if (rule === undefined) return undefined;
    rule.left -= 1;
    if (rule.left === 0) this.#failures.splice(this.#failures.indexOf(rule), 1);
    return rule.failure;
  }
}

/**
 * The action that a get records, for expected lists: `expect(client.actions).toMatchObject([getAction('a'), patchAction('a')])`.
 *
 * @example
 * ```ts
 * import { getAction } from 'pod-status-manager/testing';
 *
 * console.log(getAction('web')); // { verb: 'get', namespace: 'default', name: 'web' }
 * ```
 */
export function getAction(name: string, namespace = 'default'): PodAction {
  return { verb: 'get', namespace, name };
}

/**
 * The action that a patch of a status records, without the patch.
 *
 * @example
 * ```ts
 * import { patchAction } from 'pod-status-manager/testing';
 *
 * console.log(patchAction('web')); // { verb: 'patch', namespace: 'default', name: 'web' }
 * ```
 */
export function patchAction(name: string, namespace = 'default'): PodAction {
  return { verb: 'patch', namespace, name };
}

/**
 * The action that a deletion records, without its precondition and grace period.
 *
 * @example
 * ```ts
 * import { deleteAction } from 'pod-status-manager/testing';
 *
 * console.log(deleteAction('web')); // { verb: 'delete', namespace: 'default', name: 'web' }
 * ```
 */
export function deleteAction(name: string, namespace = 'default'): PodAction {
  return { verb: 'delete', namespace, name };
}

const verbsOf = (verb: PodVerb | undefined): readonly PodVerb[] => (verb === undefined ? ['get', 'patch', 'delete'] : [verb]);

function aborted(): ApiError {
  return new ApiError({ reason: 'Aborted', message: 'The request was aborted' });
}

function errorOf({ code, reason, retryAfterMs }: FakeFailure, { verb, namespace, name }: PodAction): ApiError {
  const message = `${verb} of pod ${namespace}/${name} fails on demand`;
  return new ApiError({
    status: code,
    reason: reason ?? (code === undefined ? 'Network' : reasonOfCode(code)),
    message,
    retryAfterMs,
  });
}
