import { isJsonObject } from '../../api/json/json.ts';
import type { WirePod } from '../../api/json/types.ts';
import type { PodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { requireMethods, requirePathSegment } from '../../base/options.ts';
import type { ClientConfig } from '../kubeconfig/client-config.ts';
import type { JsonMembers } from '../transport/api-answer.ts';
import { KubeTransport, type KubeTransportOptions } from '../transport/kube-transport.ts';
import { resourcePath, resources } from './api-resource.ts';
import { brokenAnswer } from './resource-client.ts';

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
function podPath(namespace: string, name: string): string {
  // a missing name would make this the path of a collection
  requirePathSegment('namespace', namespace);
  requirePathSegment('name', name);
  return resourcePath(resources.pods, { namespace, name });
}

/** Asks for the metadata alone; a server that cannot gives the whole pod, which serves as well. */
const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** The options of the client's transport. */
export interface KubePodClientOptions extends KubeTransportOptions {}

/**
 * The {@link PodClient} for a real apiserver. Methods reject with an `ApiError`, with `ERR_INVALID_ARGUMENT` for a name that
 * fits in no path, and with `ERR_INVALID_OPTION` for a `timeoutMs` that is out of range.
 *
 * @example
 * ```ts with-server
 * import { KubePodClient } from 'pod-status-manager';
 *
 * server.store.create({ metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] } });
 * const client = KubePodClient.fromKubeConfig(kubeConfig, { userAgent: 'my-agent' });
 * const pod = await client.getPod('default', 'web', { signal: AbortSignal.timeout(5000) });
 * console.log(pod.spec?.nodeName); // node-1
 * await client.close();
 * ```
 */
export class KubePodClient implements PodClient {
  readonly #transport: Pick<KubeTransport, 'request' | 'close'>;

  /** Closing this client closes the transport. Throws ERR_INVALID_OPTION for anything that is no transport. */
  constructor(transport: Pick<KubeTransport, 'request' | 'close'>) {
    requireMethods('transport', transport, ['request', 'close']);
    this.#transport = transport;
  }

  /** A client with a transport of its own. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  static fromKubeConfig(kubeConfig: ClientConfig, options: KubePodClientOptions = {}): KubePodClient {
    return new KubePodClient(new KubeTransport(kubeConfig, options));
  }

  async getPod(namespace: string, name: string, { signal, timeoutMs }: RequestOptions): Promise<WirePod> {
    const path = podPath(namespace, name);
    const pod = await this.#transport.request({ method: 'GET', path, signal, timeoutMs });
    if (!carriesMetadata(pod)) throw brokenAnswer('GET', path, 'a pod');
    return pod;
  }

  async patchPodStatus(namespace: string, name: string, patch: PodStatusPatch, options: RequestOptions): Promise<PodMetadata> {
    const path = `${podPath(namespace, name)}/status`;
    const { type: contentType, body } = patch;
    const { signal, timeoutMs } = options;
    const request = { method: 'PATCH', path, accept: metadataOnly, contentType, body, signal, timeoutMs } as const;
    const answer = await this.#transport.request(request);
    const metadata = metadataOf(answer);
    if (metadata === undefined) throw brokenAnswer('PATCH', path, 'a pod');
    return metadata;
  }

  async deletePod(namespace: string, name: string, options: DeletePodOptions): Promise<PodMetadata | undefined> {
    const { gracePeriodSeconds, uid, signal, timeoutMs } = options;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds, preconditions: { uid } };
    const path = podPath(namespace, name);
    const answer = await this.#transport.request({ method: 'DELETE', path, accept: metadataOnly, body, signal, timeoutMs });
    return metadataOf(answer);
  }

  /** Waits for the requests under way, then ends every socket; a credential plugin is ended at once. A second call gives the same promise. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What the manager uses of an answer's metadata; undefined for anything that is not an object of the API. */
function metadataOf({ metadata }: JsonMembers): PodMetadata | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  return {
    uid,
    resourceVersion,
    ...(typeof deletionTimestamp === 'string' && { deletionTimestamp }),
    ...(Array.isArray(finalizers) && { finalizers: finalizers.filter((one) => typeof one === 'string') }),
  };
}

function carriesMetadata(value: JsonMembers): value is JsonMembers & WirePod {
  return metadataOf(value) !== undefined;
}
