import type { WirePod } from '../../api/json/types.ts';
import type { PodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { requirePathSegment } from '../../base/options.ts';
import { resourcePath, resources } from './api-resource.ts';

/** What every request of a {@link PodClient} takes. */
export interface RequestOptions {
  /** Ends the request. The promise rejects once the request has settled, never before. */
  readonly signal: AbortSignal;
  /**
   * How long the caller waits for this request, in milliseconds. A client with a limit of its own uses this one instead.
   * Default: the client's own limit.
   */
  readonly timeoutMs?: number | undefined;
}

/** The metadata an answer carries; a server that answers with the whole pod is fine too. */
export interface PodMetadata {
  /** The pod's uid. */
  readonly uid: string;
  /** The version of the pod that the answer shows. */
  readonly resourceVersion: string;
  /** Set while the pod is being deleted: RFC 3339. */
  readonly deletionTimestamp?: string;
  /** What keeps the pod's object on the server. */
  readonly finalizers?: readonly string[];
}

/** What a DELETE takes beside the options of every request. */
export interface DeletePodOptions extends RequestOptions {
  /** How long the containers may take to end, in seconds; 0 removes the object at once. */
  readonly gracePeriodSeconds: number;
  /** Precondition: the server refuses (409) when the pod of this name has another uid. */
  readonly uid: string;
}

/**
 * The only way out to the apiserver. Each method is one request; each rejects with an `ApiError`
 * (`status`, `reason`, `retryAfterMs`) and never retries by itself.
 */
export interface PodClient {
  /** GET of one pod. Resolves to the pod as the server has it. */
  getPod(namespace: string, name: string, options: RequestOptions): Promise<WirePod>;
  /** PATCH of the `status` subresource. Resolves to the metadata after the patch. */
  patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata>;
  /** DELETE. Resolves to the pod's metadata as the server answered, or undefined when the answer carries none. */
  deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined>;
}

/** The path of one pod. */
export function podPath(namespace: string, name: string): string {
  // a missing name would make this the path of a collection
  requirePathSegment('namespace', namespace);
  requirePathSegment('name', name);
  return resourcePath(resources.pods, { namespace, name });
}
