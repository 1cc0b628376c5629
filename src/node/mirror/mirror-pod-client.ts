// Behaviour of pkg/kubelet/pod/mirror_client.go, v1.36.3.

import type { V1OwnerReference } from '@kubernetes/client-node';
import { isJsonObject, toWireObject } from '../../api/json/json.ts';
import type { Pod, Wire, WirePod } from '../../api/json/types.ts';
import { configHashAnnotationKey, configMirrorAnnotationKey, parsePodFullName } from '../../api/pod/pod-identity.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { invalidArgument } from '../../base/errors.ts';
import { nodeNameOption } from '../../base/names.ts';
import {
  longestTimerMs,
  numberOption,
  optionOfType,
  requireKnownOptions,
  requireMethods,
  requirePathSegment,
} from '../../base/options.ts';
import { resources } from '../../client/resources/api-resource.ts';
import { classifyApiError, readApiFailure } from '../../client/resources/error-class.ts';
import { ResourceClient, type ResourceTransport } from '../../client/resources/resource-client.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import { type GetNode, nodeOwner } from './mirror-pods.ts';

/** Which node's mirror pods, and the way to the apiserver. */
export interface MirrorPodClientOptions {
  /** The wire to the apiserver, shared with other clients. Null: nothing is sent, and every answer says `noClient`. */
  readonly transport: ResourceTransport | null;
  /** The node whose static pods are mirrored. */
  readonly nodeName: string;
  /** The node that owns the mirror pods. Asked before each mirror pod is created. */
  readonly getNode: GetNode;
  /** For `getNode`, and again for each request, in milliseconds. Default 10 000. */
  readonly requestTimeoutMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** What a call of a {@link MirrorPodClient} takes. */
export interface MirrorCallOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
}

/** How a creation ended, if the request did not fail. */
export type CreateMirrorPodResult =
  /** `mirrorPod` is the new pod, as the server answered. */
  | { readonly outcome: 'created'; readonly mirrorPod: WirePod }
  /** A pod has this name already. It may be the same mirror pod, an outdated one, or anybody's. */
  | { readonly outcome: 'alreadyExists'; readonly error: ApiError }
  | { readonly outcome: 'noClient' };

/** How a deletion ended. */
export type DeleteMirrorPodResult =
  /** The server took the DELETE. With `heldByFinalizers` the object stays until they are removed. */
  | { readonly deleted: true; readonly heldByFinalizers: boolean }
  /**
   * `notFound`: no pod has this name. `conflict`: the server answered 409, as it does where the uid is another pod's.
   * `failed`: any other failure, which is in `error`.
   */
  | { readonly deleted: false; readonly reason: 'notFound' | 'conflict' | 'failed'; readonly error: unknown }
  | { readonly deleted: false; readonly reason: 'noClient' };

const knownOptions = ['transport', 'nodeName', 'getNode', 'requestTimeoutMs', 'clock'];

/**
 * Creates and deletes the mirror pods of one node's static pods. Each method is one request, never repeated.
 *
 * @example
 * ```ts with-server
 * import { KubeTransport } from 'pod-status-manager';
 * import { MirrorPodClient } from 'pod-status-manager/mirror';
 * import { buildStaticPod } from 'pod-status-manager/testing';
 *
 * const node = { metadata: { name: 'node-1', uid: 'n1' } };
 * const transport = new KubeTransport(kubeConfig);
 * const mirrorPods = new MirrorPodClient({ transport, nodeName: 'node-1', getNode: () => node });
 * const { outcome } = await mirrorPods.createMirrorPod(buildStaticPod({ metadata: { name: 'web-node-1' } }));
 * console.log(outcome); // created
 * await transport.close();
 * ```
 */
export class MirrorPodClient {
  /** The node whose static pods are mirrored. */
  readonly nodeName: string;
  readonly #pods: ResourceClient<WirePod> | undefined;
  readonly #getNode: GetNode;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  /** Closing the transport is left to its owner. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: MirrorPodClientOptions) {
    requireKnownOptions('options', options, knownOptions);
    const { transport, nodeName, getNode, requestTimeoutMs = 10_000, clock = systemClock } = options;
    this.nodeName = nodeNameOption(nodeName);
    this.#pods = transport === null ? undefined : new ResourceClient(transport, resources.pods);
    this.#getNode = optionOfType('getNode', getNode, 'function');
    this.#timeoutMs = numberOption('requestTimeoutMs', requestTimeoutMs, 1, longestTimerMs);
    requireMethods('clock', clock, ['now', 'setTimer']);
    this.#clock = clock;
  }

  /**
   * Creates the mirror pod of a static pod: the same pod with its config hash in the mirror annotation, and with the node as
   * its only owner. `pod` stays as it is.
   *
   * Rejects with the `ApiError` of a request that failed, with ERR_NO_NODE while the node is not known, has no uid or is being
   * deleted (then nothing is sent), and with ERR_INVALID_ARGUMENT for a pod without a name or namespace.
   */
  async createMirrorPod(pod: Pod, { signal }: MirrorCallOptions = {}): Promise<CreateMirrorPodResult> {
    if (this.#pods === undefined) return { outcome: 'noClient' };
    if (typeof pod !== 'object' || pod === null) throw invalidArgument('pod', 'an object', pod);
    requirePathSegment('pod.metadata.name', pod.metadata?.name);
    requirePathSegment('pod.metadata.namespace', pod.metadata?.namespace);
    // a copy, taken before the first wait: what the caller changes afterwards is not sent
    const copy = toWireObject(pod, 'pod') as unknown as WirePod;
    const timeoutMs = this.#timeoutMs;
    const owner = await nodeOwner(this.#getNode, this.nodeName, { clock: this.#clock, timeoutMs, signal });
    const mirrorPod = mirrorPodOf(copy, owner);
    try {
      return { outcome: 'created', mirrorPod: await this.#pods.create(mirrorPod, { signal, timeoutMs }) };
    } catch (error) {
      const { status, reason, message } = readApiFailure(error);
      if (status !== 409 || reason !== 'AlreadyExists') throw error;
      // a transport of another copy of the package has an error class of its own
      const own = error instanceof ApiError ? error : new ApiError({ status, reason, message, cause: error });
      return { outcome: 'alreadyExists', error: own };
    }
  }

  /**
   * Deletes the pod of this full name (`name_namespace`), without a grace period; with a uid only if the pod has that uid.
   * A request that fails is in the result. Rejects only with ERR_INVALID_ARGUMENT, for a full name or a uid that cannot be read.
   */
  async deleteMirrorPod(podFullName: string, uid?: string, { signal }: MirrorCallOptions = {}): Promise<DeleteMirrorPodResult> {
    if (this.#pods === undefined) return { deleted: false, reason: 'noClient' };
    const target = targetOf(podFullName);
    if (uid !== undefined && typeof uid !== 'string') throw invalidArgument('uid', 'a string', uid);
    try {
      const options = { gracePeriodSeconds: 0, uid, signal, timeoutMs: this.#timeoutMs };
      return { deleted: true, heldByFinalizers: hasFinalizers(await this.#pods.delete(target, options)) };
    } catch (error) {
      const errorClass = classifyApiError(error);
      if (errorClass === 'gone') return { deleted: false, reason: 'notFound', error };
      return { deleted: false, reason: errorClass === 'conflict' ? 'conflict' : 'failed', error };
    }
  }

  /**
   * The pod of this full name as the server has it, mirror pod or not; undefined when there is none, and without a client.
   * Rejects with the `ApiError` of a request that failed, and with ERR_INVALID_ARGUMENT for a full name that cannot be read.
   */
  async getMirrorPod(podFullName: string, { signal }: MirrorCallOptions = {}): Promise<WirePod | undefined> {
    const target = targetOf(podFullName);
    try {
      return await this.#pods?.get(target, { signal, timeoutMs: this.#timeoutMs });
    } catch (error) {
      if (classifyApiError(error) === 'gone') return undefined;
      throw error;
    }
  }
}

function mirrorPodOf(pod: WirePod, owner: Wire<V1OwnerReference>): WirePod {
  const hash = pod.metadata?.annotations?.[configHashAnnotationKey] ?? '';
  const annotations = { ...pod.metadata?.annotations, [configMirrorAnnotationKey]: hash };
  return { ...pod, apiVersion: 'v1', kind: 'Pod', metadata: { ...pod.metadata, annotations, ownerReferences: [owner] } };
}

function targetOf(podFullName: unknown): { name: string; namespace: string } {
  if (typeof podFullName !== 'string') throw invalidArgument('podFullName', 'of the form "name_namespace"', podFullName);
  const target = parsePodFullName(podFullName);
  requirePathSegment('podFullName', target.name);
  requirePathSegment('podFullName', target.namespace);
  return target;
}

/** True when the answer to a DELETE shows an object that finalizers hold. */
function hasFinalizers(answer: unknown): boolean {
  const metadata = isJsonObject(answer) ? answer.metadata : undefined;
  return isJsonObject(metadata) && Array.isArray(metadata.finalizers) && metadata.finalizers.length > 0;
}
