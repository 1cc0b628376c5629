import { formatTime } from '../../api/json/time.ts';
import type { WirePod } from '../../api/json/types.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { resources } from '../../client/resources/api-resource.ts';
import type { DeleteRequest } from '../objects/deletion.ts';
import type { ObjectEvent, ObjectEventListener, ObjectsByResource } from '../objects/object-history.ts';
import type { ObjectPatchType } from '../objects/object-patches.ts';
import { ResourceStore } from '../objects/resource-store.ts';
import type { Selection } from '../objects/selectors.ts';
import type { ResourceObjects } from '../objects/store-types.ts';
import { boundPod, podRules } from './pod-object-rules.ts';

/** One change of a pod. */
export type PodEvent = ObjectEvent<WirePod>;
/** Is called with each change of a pod. */
export type PodEventListener = ObjectEventListener<WirePod>;
/** The patch formats of a pods API. */
export type PodPatchType = ObjectPatchType;
/** Which pods a list means. */
export type PodSelection = Selection;
/** What a DELETE of a pod asks for. */
export type DeletePodRequest = DeleteRequest;

/** What the constructor of `PodStore` takes. */
export interface PodStoreOptions {
  /** Refuse what a kube-apiserver refuses. Without it only uid and resourceVersion are checked. Default true. */
  readonly validate?: boolean;
  /** Fill in defaults and bring statuses into the server's form. Without it a pod is stored as it was given. Default true. */
  readonly fillIns?: boolean;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** At least so many of the last events can be replayed. Default 1000. */
  readonly historySize?: number;
}

/** What a PATCH of a pod asks for. */
export interface PodPatch {
  /** The format of the body. */
  readonly type: PodPatchType;
  /** An object, or the operations of a JSON Patch. */
  readonly body: unknown;
  /** Undefined: the pod itself. */
  readonly subresource?: 'status' | undefined;
}

/** What a DELETE of a pod has done. */
export interface DeletedPod {
  /** The pod in the server's answer, with its deletion times and its last resourceVersion. */
  readonly pod: WirePod;
  /** False while it waits for its grace period or its finalizers. */
  readonly gone: boolean;
}

/** The frozen state of a store that {@link PodStore.snapshot} returns. */
export interface PodStoreSnapshot {
  /** The resourceVersion of the newest change. */
  readonly resourceVersion: string;
  /** All pods. */
  readonly pods: readonly WirePod[];
  /** The objects of the server's other resources. Without it a restore leaves those as they are. */
  readonly others?: ObjectsByResource;
}

/**
 * The pods of an apiserver, in memory: JSON in, frozen JSON out. Every operation is synchronous and either takes
 * effect as a whole or throws a `StoreError` with the Status object a kube-apiserver answers.
 *
 * @example
 * ```ts
 * import { buildPod, PodStore } from 'pod-status-manager/testing';
 *
 * const store = new PodStore();
 * store.watch(({ type, object }) => console.log(type, object.metadata?.name)); // ADDED pod-1
 * store.create(buildPod());
 * ```
 */
export class PodStore {
  readonly #clock: Clock;
  #objects: ResourceStore<WirePod>;

  constructor(options: PodStoreOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#objects = new ResourceStore(resources.pods, podRules, options);
  }

  /** The same pods, as the objects of any resource are kept. */
  get objects(): ResourceObjects<WirePod> {
    return this.#objects;
  }

  /** The resourceVersion of the newest change. */
  get resourceVersion(): string {
    return this.#objects.resourceVersion;
  }

  /** POST. The server sets uid, times, generation and status. */
  create(pod: object): WirePod {
    return this.#objects.create(pod);
  }

  /** GET. */
  get(namespace: string, name: string): WirePod {
    return this.#objects.get({ namespace, name });
  }

  /**
   * LIST, in order of namespace and name; with a resourceVersion as the pods were then. Throws 410 Expired when some of
   * the changes since then are forgotten.
   */
  list(selection: PodSelection = {}, resourceVersion?: string): readonly WirePod[] {
    return this.#objects.list(selection, resourceVersion);
  }

  /** PUT of the pod: the stored status stays. */
  update(pod: object): WirePod {
    return this.#objects.update(pod);
  }

  /** PUT of the status subresource: the stored spec stays. */
  updateStatus(pod: object): WirePod {
    return this.#objects.updateStatus(pod);
  }

  /** PATCH of the pod or of its status subresource. One that changes nothing keeps the resourceVersion and makes no event. */
  patch(namespace: string, name: string, patch: PodPatch): WirePod {
    return this.#objects.patch({ namespace, name }, patch);
  }

  /** POST of a binding, as a scheduler sends it. Throws 409 when the pod is bound or deleting. */
  bind(namespace: string, name: string, nodeName: string): WirePod {
    const now = formatTime(this.#clock.now());
    return this.#objects.change({ namespace, name }, (pod) => boundPod(pod, nodeName, now));
  }

  /** DELETE, with the rules for grace periods and finalizers. */
  delete(namespace: string, name: string, request: DeletePodRequest = {}): DeletedPod {
    const { object: pod, gone } = this.#objects.delete({ namespace, name }, request);
    return { pod, gone };
  }

  /** A write that bypasses the API: stores the pod as given and checks nothing. It replaces a stored pod of another uid. */
  put(pod: object): WirePod {
    return this.#objects.put(pod);
  }

  /** Removes the pod at once, even with finalizers. Returns false when there is none. */
  remove(namespace: string, name: string): boolean {
    return this.#objects.remove({ namespace, name });
  }

  /**
   * Calls the listener with every change from now on, in order, before the changing method returns. A change that a
   * listener makes is told once every listener knows the one before. An error of a listener becomes a warning of the
   * process (`process.emitWarning`). Returns a function that ends the watch. `onCut` is called once when {@link restore} ends the watch; no more changes follow.
   */
  watch(listener: PodEventListener, onCut?: () => void): () => void {
    return this.#objects.watch(listener, onCut);
  }

  /**
   * A copy of the store for a request with `dryRun=All`: the same answers and refusals, but a write there keeps the
   * resourceVersion, and neither this store nor its listeners notice it.
   */
  trial(): PodStore {
    const copy = new PodStore({ clock: this.#clock });
    copy.#objects = this.#objects.trial();
    return copy;
  }

  /** The store as it is now, with the other resources of its server, for {@link restore}. */
  snapshot(): PodStoreSnapshot {
    const others = this.#objects.database.othersThan('pods');
    const state = { resourceVersion: this.resourceVersion, pods: Object.freeze(this.list()) };
    return Object.freeze(others.size === 0 ? state : { ...state, others });
  }

  /**
   * Sets the store back to the snapshot, as a restore of etcd from a backup does. Later writes are lost, resourceVersions
   * go on from the snapshot's (so numbers are used a second time), and every watch is cut. A watch from a future
   * resourceVersion is silent until the store reaches it; a watch from one before the snapshot is refused with 410. The
   * other resources of the same server are set back with it.
   */
  restore({ resourceVersion, pods, others }: PodStoreSnapshot): void {
    const { database } = this.#objects;
    database.restore(resourceVersion, new Map([...(others ?? database.othersThan('pods')), ['pods', pods]]));
  }

  /** The changes after `resourceVersion`. Throws 410 Expired when some of them are forgotten. */
  eventsSince(resourceVersion: string): readonly PodEvent[] {
    return this.#objects.eventsSince(resourceVersion);
  }

  /** Forgets all history: only a watch from the newest resourceVersion can still be answered. */
  compact(): void {
    this.#objects.compact();
  }
}
