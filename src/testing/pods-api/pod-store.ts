import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../seams/clock.ts';
import { formatTime } from '../../wire/time.ts';
import type { Json, JsonObject, WirePod } from '../../wire/types.ts';
import { alreadyExists, badRequest, invalidPatch, invalidPod, notFound, type StatusCause } from './api-status.ts';
import { copyJson, deepFreeze, equalJson, objectAt, textAt } from './json-fields.ts';
import { initialStatus, newMetadata, withSpecDefaults } from './pod-defaults.ts';
import { type DeletePodRequest, decideDeletion, isReleased } from './pod-deletion.ts';
import { type PodEvent, type PodEventListener, PodHistory } from './pod-history.ts';
import { keyOf, nameOf, namespaceOf, requireName, withIdentity } from './pod-keys.ts';
import { applyPatch, type PodPatchType } from './pod-patches.ts';
import { type PodSelection, podFilter } from './pod-selectors.ts';
import { ShapeError } from './pod-status-fields.ts';
import { checkTarget, checkUID, checkUnversioned } from './pod-target.ts';
import { boundPod, updatedPod, updatedStatus } from './pod-updates.ts';
import { validatePodCreate } from './pod-validation.ts';

export interface PodStoreOptions {
  /** Refuse what a kube-apiserver refuses. Without it only uid and resourceVersion are checked. Default true. */
  readonly validate?: boolean;
  /** Fill in defaults and bring statuses into the server's form. Without it a pod is stored as it was given. Default true. */
  readonly fillIns?: boolean;
  readonly clock?: Clock;
  /** At least so many of the last events can be replayed. Default 1000. */
  readonly historySize?: number;
}

export interface PodPatch {
  readonly type: PodPatchType;
  /** An object, or the operations of a JSON Patch. */
  readonly body: unknown;
  readonly subresource?: 'status' | undefined;
}

export interface DeletedPod {
  /** The pod in the server's answer, with its deletion times and its last resourceVersion. */
  readonly pod: WirePod;
  /** False while it waits for its grace period or its finalizers. */
  readonly gone: boolean;
}

/** The frozen state of a store that {@link PodStore.snapshot} returns. */
export interface PodStoreSnapshot {
  readonly resourceVersion: string;
  readonly pods: readonly WirePod[];
}

/**
 * The pods of an apiserver, in memory: JSON in, frozen JSON out. Every operation is synchronous and either takes
 * effect as a whole or throws a `StoreError` with the Status object a kube-apiserver answers.
 */
export class PodStore {
  readonly #validate: boolean;
  readonly #fillIns: boolean;
  readonly #clock: Clock;
  readonly #history: PodHistory;
  readonly #pods = new Map<string, JsonObject>();
  #version = 0;
  #isTrial = false;

  constructor({ validate = true, fillIns = true, clock = systemClock, historySize = 1000 }: PodStoreOptions = {}) {
    this.#validate = validate;
    this.#fillIns = fillIns;
    this.#clock = clock;
    this.#history = new PodHistory(historySize);
  }

  /** The resourceVersion of the newest change. */
  get resourceVersion(): string {
    return String(this.#version);
  }

  /** POST. The server sets uid, times, generation and status. */
  create(pod: object): WirePod {
    const given = copyJson(pod);
    const metadata = objectAt(given, 'metadata');
    const name = nameOf(metadata);
    const namespace = namespaceOf(metadata);
    if (this.#validate) checkUnversioned(metadata);
    const created = this.#fillIns ? decoding(() => this.#filledIn(given, namespace, name)) : withIdentity(given, namespace, name);
    if (this.#validate) refuse(name, validatePodCreate(created));
    else requireName(name);
    if (this.#pods.has(`${namespace}/${name}`)) throw alreadyExists(name);
    return asPod(this.#store(created, undefined));
  }

  /** GET. */
  get(namespace: string, name: string): WirePod {
    return asPod(this.#find(namespace, name));
  }

  /**
   * LIST, in order of namespace and name; with a resourceVersion as the pods were then. Throws 410 Expired when some of
   * the changes since then are forgotten.
   */
  list(selection: PodSelection = {}, resourceVersion = this.resourceVersion): readonly WirePod[] {
    const pods = resourceVersion === this.resourceVersion ? this.#pods : this.#podsAt(resourceVersion);
    const matches = podFilter(selection);
    const found = [...pods].filter(([, pod]) => matches(pod));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => asPod(pod));
  }

  /** PUT of the pod: the stored status stays. */
  update(pod: object): WirePod {
    return this.#put(pod, undefined);
  }

  /** PUT of the status subresource: the stored spec stays. */
  updateStatus(pod: object): WirePod {
    return this.#put(pod, 'status');
  }

  /** PATCH of the pod or of its status subresource. One that changes nothing keeps the resourceVersion and makes no event. */
  patch(namespace: string, name: string, { type, body, subresource }: PodPatch): WirePod {
    const old = this.#find(namespace, name);
    try {
      return this.#write(old, applyPatch(old, type, body as Json), subresource);
    } catch (error) {
      throw error instanceof ShapeError ? invalidPatch(body, error.message) : error;
    }
  }

  /** POST of a binding, as a scheduler sends it. Throws 409 when the pod is bound or deleting. */
  bind(namespace: string, name: string, nodeName: string): WirePod {
    const old = this.#find(namespace, name);
    return asPod(this.#store(boundPod(old, nodeName, formatTime(this.#clock.now())), old));
  }

  /** DELETE, with the rules for grace periods and finalizers. */
  delete(namespace: string, name: string, request: DeletePodRequest = {}): DeletedPod {
    const old = this.#find(namespace, name);
    const { marked, gone } = decideDeletion(old, request, this.#clock.now());
    const current = marked === undefined ? old : this.#store(marked, old);
    return { pod: asPod(gone ? this.#drop(current) : current), gone };
  }

  /** A write that bypasses the API: stores the pod as given and checks nothing. It replaces a stored pod of another uid. */
  put(pod: object): WirePod {
    const given = copyJson(pod);
    const metadata = objectAt(given, 'metadata');
    const next = withIdentity(given, namespaceOf(metadata), requireName(nameOf(metadata)));
    const old = this.#pods.get(keyOf(next));
    const isSame = old !== undefined && objectAt(old, 'metadata').uid === objectAt(next, 'metadata').uid;
    if (old !== undefined && !isSame) this.#drop(old);
    return asPod(this.#store(next, isSame ? old : undefined));
  }

  /** Removes the pod at once, even with finalizers. Returns false when there is none. */
  remove(namespace: string, name: string): boolean {
    const pod = this.#pods.get(`${namespace}/${name}`);
    if (pod !== undefined) this.#drop(pod);
    return pod !== undefined;
  }

  /**
   * Calls the listener with every change from now on, in order, before the changing method returns. A change that a
   * listener makes is told once every listener knows the one before. An error of a listener becomes a warning of the
   * process (`process.emitWarning`). Returns a function that ends the watch. `onCut` is called once when {@link restore} ends the watch; no more changes follow.
   */
  watch(listener: PodEventListener, onCut?: () => void): () => void {
    return this.#history.listen(listener, onCut);
  }

  /**
   * A copy of the store for a request with `dryRun=All`: the same answers and refusals, but a write there keeps the
   * resourceVersion, and neither this store nor its listeners notice it.
   */
  trial(): PodStore {
    const copy = new PodStore({ validate: this.#validate, fillIns: this.#fillIns, clock: this.#clock });
    for (const [key, pod] of this.#pods) copy.#pods.set(key, pod);
    copy.#version = this.#version;
    copy.#isTrial = true;
    return copy;
  }

  /** The store as it is now, for {@link restore}. */
  snapshot(): PodStoreSnapshot {
    return Object.freeze({ resourceVersion: this.resourceVersion, pods: Object.freeze(this.list()) });
  }

  /**
   * Sets the store back to the snapshot, as a restore of etcd from a backup does. Later writes are lost, resourceVersions
   * go on from the snapshot's (so numbers are used a second time), and every watch is cut. A watch from a future
   * resourceVersion is silent until the store reaches it; a watch from one before the snapshot is refused with 410.
   */
  restore({ resourceVersion, pods }: PodStoreSnapshot): void {
    this.#pods.clear();
    for (const pod of pods.map(asJson)) this.#pods.set(keyOf(pod), pod);
    this.#version = Number(resourceVersion);
    this.#history.cut(this.#version);
  }

  /** The changes after `resourceVersion`. Throws 410 Expired when some of them are forgotten. */
  eventsSince(resourceVersion: string): readonly PodEvent[] {
    return this.#history.since(resourceVersion);
  }

  /** Forgets all history: only a watch from the newest resourceVersion can still be answered. */
  compact(): void {
    this.#history.compact(this.#version);
  }

  #filledIn(given: JsonObject, namespace: string, name: string): JsonObject {
    const spec = withSpecDefaults(objectAt(given, 'spec'));
    const creationTimestamp = formatTime(this.#clock.now());
    const identity = { namespace, name, uid: randomUUID(), creationTimestamp, generation: 1 };
    const metadata = { ...newMetadata(objectAt(given, 'metadata')), ...identity };
    return { kind: 'Pod', apiVersion: 'v1', metadata, spec, status: initialStatus(spec) };
  }

  #put(pod: object, subresource: 'status' | undefined): WirePod {
    const given = copyJson(pod);
    const metadata = objectAt(given, 'metadata');
    const old = this.#find(namespaceOf(metadata), nameOf(metadata));
    checkUID(metadata, old);
    return decoding(() => this.#write(old, given, subresource));
  }

  #write(old: JsonObject, given: JsonObject, subresource: 'status' | undefined): WirePod {
    const name = textAt(objectAt(old, 'metadata'), 'name');
    checkTarget(objectAt(given, 'metadata'), objectAt(old, 'metadata'));
    const update = subresource === 'status' ? updatedStatus : updatedPod;
    const { pod, causes } = update(given, old, { fillIns: this.#fillIns, validate: this.#validate });
    refuse(name, causes);
    if (equalJson(pod, old)) return asPod(old);
    if (!isReleased(old, pod)) return asPod(this.#store(pod, old));
    // The last finalizer is gone: the update is not stored, but the answer shows it.
    this.#drop(old);
    return asPod(deepFreeze(pod));
  }

  /** The pods as they were at a resourceVersion. Throws 410 Expired when the history does not reach back so far. */
  #podsAt(resourceVersion: string): ReadonlyMap<string, JsonObject> {
    const pods = new Map(this.#pods);
    for (const { object, previous } of this.#history.since(resourceVersion).toReversed()) {
      if (previous === undefined) pods.delete(keyOf(asJson(object)));
      else pods.set(keyOf(asJson(previous)), asJson(previous));
    }
    return pods;
  }

  #find(namespace: string, name: string): JsonObject {
    const pod = this.#pods.get(`${namespace}/${name}`);
    if (pod === undefined) throw notFound(name);
    return pod;
  }

  #store(pod: JsonObject, previous: JsonObject | undefined): JsonObject {
    const stored = this.#versioned(pod);
    this.#pods.set(keyOf(stored), stored);
    this.#announce(previous === undefined ? 'ADDED' : 'MODIFIED', stored, previous);
    return stored;
  }

  #drop(pod: JsonObject): JsonObject {
    const last = this.#versioned(pod);
    this.#pods.delete(keyOf(pod));
    this.#announce('DELETED', last, pod);
    return last;
  }

  #versioned(pod: JsonObject): JsonObject {
    if (this.#isTrial) return deepFreeze(pod);
    this.#version += 1;
    return deepFreeze({ ...pod, metadata: { ...objectAt(pod, 'metadata'), resourceVersion: this.resourceVersion } });
  }

  #announce(type: PodEvent['type'], pod: JsonObject, previous: JsonObject | undefined): void {
    const before = previous === undefined ? undefined : asPod(previous);
    this.#history.add({ type, object: asPod(pod), resourceVersion: this.resourceVersion, previous: before });
  }
}

/** Runs what brings a client's pod into the server's form. Throws 400 for a member of the wrong type. */
function decoding<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof ShapeError ? badRequest(`Pod in version "v1" cannot be handled as a Pod: ${error.message}`) : error;
  }
}

function refuse(name: string, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalidPod(name, causes);
}

/** The only place where JSON becomes a typed pod. The members are not checked. */
function asPod(pod: JsonObject): WirePod {
  return pod as unknown as WirePod;
}

function asJson(pod: WirePod): JsonObject {
  return pod as unknown as JsonObject;
}
