import { shareEqualParts } from '../../api/json/equal-parts.ts';
import { compareResourceVersions } from '../../api/json/resource-version.ts';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { isMirrorPod } from '../../api/pod/pod-identity.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import type { PodMetadata } from '../../client/resources/kube-pod-client.ts';
import { canonicalPodStatus, normalizedOf } from '../canonical/canonical-status.ts';
import type { Moment, PodSourceView } from './pod-source-view.ts';

/** What is known of a pod on the apiserver. */
export interface ApiPod {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  /** Canonical, with lists in the server's order: what a patch is computed against. */
  readonly status: WirePodStatus;
  /** The same, normalised: what the cached status is compared with. */
  readonly normalized: WirePodStatus;
  readonly deleting: boolean;
  readonly isMirrorPod: boolean;
  readonly generation: number | undefined;
  /** The cached status that was last found to say the same; undefined where none was. {@link noteInStep} alone sets it. */
  inStepWith?: WirePodStatus | undefined;
}

/**
 * The copy says what this cached status says. The two need not be compared again, for neither ever changes, and what is equal in them is
 * kept once.
 */
export function noteInStep(copy: ApiPod, cached: WirePodStatus): void {
  copy.inStepWith = cached;
  shareEqualParts(copy.status, cached);
  if (copy.normalized !== copy.status) shareEqualParts(copy.normalized, cached);
}

/** Reads an API object. Throws ERR_INVALID_ARGUMENT when its status is none. */
export function apiPodOf(pod: Pod): ApiPod {
  const metadata = pod.metadata;
  const status = canonicalPodStatus(pod.status ?? {});
  return {
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion || undefined,
    status,
    // usually the same object, since we write normalised statuses
    normalized: normalizedOf(pod, status),
    deleting: Boolean(metadata?.deletionTimestamp),
    isMirrorPod: isMirrorPod(pod),
    generation: metadata?.generation,
    inStepWith: undefined,
  };
}

/** The copy as an acknowledged patch left it. */
export function patchedApiPod(copy: ApiPod, status: WirePodStatus, metadata: PodMetadata): ApiPod {
  return {
    ...copy,
    uid: metadata.uid || copy.uid,
    resourceVersion: metadata.resourceVersion || undefined,
    status,
    normalized: status,
    deleting: copy.deleting || Boolean(metadata.deletionTimestamp),
    inStepWith: undefined,
  };
}

/** A copy that came in answer to a request of ours, with the moment when it came. */
interface OwnCopy extends Moment {
  readonly copy: ApiPod;
}

/**
 * The freshest API copy of each pod: the pod manager's object, or the copy that our last PATCH or GET left. The larger
 * resourceVersion wins, and the pod manager's object where they are equal. Keyed by the API pod's uid.
 *
 * The pod manager's object also wins when the pod source began a full list after our copy came: a list with smaller
 * resourceVersions means that etcd was restored from an older backup. The wall clock may have been set meanwhile: a list
 * that was there before our copy came never counts.
 */
export class ApiCopies {
  readonly #own = new LateMap<string, OwnCopy>();
  /** A pod manager's object is read once: it is never changed, and a pod that changes is another object. */
  readonly #managed = new WeakMap<Pod, ApiPod>();
  readonly #clock: SteadyClock;
  readonly #source: PodSourceView;

  constructor(clock: SteadyClock, source: PodSourceView) {
    this.#clock = clock;
    this.#source = source;
  }

  /** Keeps a copy that came from the apiserver in answer to a request of ours. */
  record(copy: ApiPod): void {
    if (copy.resourceVersion === undefined) this.#own.delete(copy.uid);
    else this.#own.set(copy.uid, { copy, ...this.moment() });
  }

  moment(): Moment {
    return { at: Math.ceil(this.#clock.elapsed()), listedAt: this.#source.lastListed() };
  }

  /** True when the pod source has begun and delivered a full list since that moment. */
  wasListedSince({ at, listedAt: before }: Moment): boolean {
    const listedAt = this.#source.lastListed();
    return listedAt !== undefined && listedAt !== before && listedAt > at;
  }

  forget(apiUID: string): void {
    this.#own.delete(apiUID);
  }

  /** The API pods of which a copy of our own is kept. */
  apiUIDs(): Iterable<string> {
    return this.#own.keys();
  }

  /** The freshest copy that has a resourceVersion, or undefined. `managed` is the pod manager's object for this uid. */
  freshest(apiUID: string, managed: Pod | undefined): ApiPod | undefined {
    const own = this.#own.get(apiUID);
    if (!managed?.metadata?.resourceVersion || managed.metadata.uid !== apiUID) return own?.copy;
    if (own !== undefined) {
      if (this.#isNewer(own, managed.metadata.resourceVersion)) return own.copy;
      this.#own.delete(apiUID);
    }
    return this.read(managed);
  }

  /** True when the pod manager's object is the very version that our own last request left. */
  isOwn(apiUID: string, managed: Pod | undefined): boolean {
    const resourceVersion = managed?.metadata?.resourceVersion;
    return resourceVersion !== undefined && this.#own.get(apiUID)?.copy.resourceVersion === resourceVersion;
  }

  /** The pod manager's object in canonical form, resourceVersion or not. */
  read(managed: Pod): ApiPod {
    let copy = this.#managed.get(managed);
    if (copy === undefined) {
      copy = apiPodOf(managed);
      this.#managed.set(managed, copy);
    }
    return copy;
  }

  #isNewer(own: OwnCopy, managedVersion: string): boolean {
    const order = compareResourceVersions(managedVersion, own.copy.resourceVersion ?? '');
    return order !== undefined && order < 0 && !this.wasListedSince(own);
  }
}
