// Behaviour of node_expander.go and of expandVolumeDuringMount, doOnlineExpansion and legacyCallNodeExpandOnPlugin in
// pkg/volume/util/operationexecutor, and of pkg/volume/csi/expander.go, v1.36.3.

import { goQuote } from '../../api/json/go-quote.ts';
import type { WirePersistentVolumeClaim } from '../../api/json/types.ts';
import { compareQuantities, wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { PersistentVolumeRequest } from '../claims/persistent-volume-kind.ts';
import type { ClaimStatuses } from './claim-status.ts';
import type { ExpandVolumeRequest } from './csi-node.ts';
import { callErrorOf } from './driver-calls.ts';
import { type CsiVolumeID, uniqueVolumeName } from './volume-ids.ts';

export interface VolumeExpansionOptions {
  readonly claims: Pick<ClaimStatuses, 'read' | 'markInProgress' | 'markFinished' | 'markFailed'>;
  readonly nodeName: string;
  readonly eventRecorder: EventRecorder;
  readonly logger: Logger;
}

/** How a volume is made larger. */
export interface ExpandTarget {
  readonly id: CsiVolumeID;
  /** False: the driver does nothing on the node. */
  readonly canExpand: boolean;
  /** Asks the driver. Rejects with its error. */
  readonly expand: (size: Pick<ExpandVolumeRequest, 'requiredBytes'>) => Promise<void>;
}

interface Outcome {
  /** What the volume has now; undefined while it is not larger. */
  readonly size: string | undefined;
}

/** A volume that the driver need not, or cannot, make larger on the node. */
class NotSupported extends Error {
  override readonly name = 'NotSupported';
}

const notRequired = 'volume.kubernetes.io/node-expansion-not-required';
const inTheWay: readonly string[] = ['NodeResizePending', 'NodeResizeInProgress'];
const infeasibleCodes: readonly string[] = ['InvalidArgument', 'OutOfRange', 'NotFound'];

/** Lets volumes grow on the node, once the storage behind them has grown: before a pod gets one, and while pods have it. */
export class VolumeExpansion {
  readonly #options: VolumeExpansionOptions;
  /** What this node knows a volume to have, by its unique name. */
  readonly #sizes = new Map<string, string>();
  /** Volumes that a driver has refused for good to make larger. */
  readonly #refused = new Set<string>();
  /** Volumes that a driver does not make larger while they are in use. */
  readonly #notInUse = new Set<string>();

  constructor(options: VolumeExpansionOptions) {
    this.#options = options;
  }

  /** The node has the volume no more. */
  forget(id: CsiVolumeID): void {
    const name = uniqueVolumeName(id);
    this.#sizes.delete(name);
    this.#refused.delete(name);
    this.#notInUse.delete(name);
  }

  /** Before the pod gets the volume. Rejects where it could not be made as large as it is to be. */
  async whileMounting(request: PersistentVolumeRequest, id: CsiVolumeID, target: () => Promise<ExpandTarget>): Promise<void> {
    const { claim, persistentVolume } = request;
    const [has, wanted] = [claimSize(claim), volumeSize(persistentVolume)];
    const name = uniqueVolumeName(id);
    if (has !== undefined && !this.#sizes.has(name)) this.#sizes.set(name, has);
    if (wanted === undefined || !isLess(has, wanted)) return;
    const newest = await this.#read(claim, request.signal);
    if (!isLess(claimSize(newest), wanted)) return;
    const { size } = await this.#grow(request, newest, wanted, target);
    if (size !== undefined) this.#sizes.set(name, size);
  }

  /** Whether a volume that a pod has is to be larger, and its claim does not say that it is another one's turn. */
  isDue({ claim, persistentVolume }: PersistentVolumeRequest, id: CsiVolumeID): boolean {
    const name = uniqueVolumeName(id);
    const wanted = volumeSize(persistentVolume);
    if (wanted === undefined || this.#notInUse.has(name)) return false;
    return isLess(this.#sizes.get(name) ?? claimSize(claim), wanted) && !isOthersTurn(claim, wanted);
  }

  /** While the pod has the volume. Rejects where it could not be made as large as it is to be. */
  async whileMounted(request: PersistentVolumeRequest, id: CsiVolumeID, target: () => Promise<ExpandTarget>): Promise<void> {
    const { claim, persistentVolume } = request;
    const wanted = volumeSize(persistentVolume);
    if (wanted === undefined || !this.isDue(request, id)) return;
    const { size } = await this.#grow(request, await this.#read(claim, request.signal), wanted, target);
    if (size !== undefined) this.#sizes.set(uniqueVolumeName(id), size);
  }

  async #read(claim: WirePersistentVolumeClaim, signal: AbortSignal): Promise<WirePersistentVolumeClaim> {
    try {
      return await this.#options.claims.read(claim, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`mountVolume.NodeExpandVolume get PVC failed : ${errorText(cause)}`, { cause });
    }
  }

  /** The driver, and what the cluster says of it, is asked for only where something is to be done. */
  async #grow(
    request: PersistentVolumeRequest,
    claim: WirePersistentVolumeClaim,
    wanted: string,
    target: () => Promise<ExpandTarget>,
  ): Promise<Outcome> {
    if (request.readOnly) {
      const volume = goQuote(request.persistentVolume.metadata.name);
      const message = `MountVolume.NodeExpandVolume failed for volume ${volume} requested read-only file system`;
      this.#options.eventRecorder.event(request.pod, 'Warning', 'FileSystemResizeFailed', message);
      return { size: claimSize(claim) };
    }
    if (isOthersTurn(claim, wanted)) return { size: undefined };
    const size = allocatedSize(claim) ?? wanted;
    if (isOfOlderResizer(claim)) return this.#growAsBefore(request, claim, wanted, await target());
    const isDone = !isLess(claimSize(claim), size) && statusOf(claim) === '';
    // the nodes of a volume that several have do so one after another
    const isForEachNode = isShared(claim) && claim.metadata?.annotations?.[notRequired] === undefined;
    if (isDone && !isForEachNode) return { size };
    return this.#growAsAllocated(request, { claim, size, isDone }, await target());
  }

  /** For a resizer that does not say what is allocated. */
  async #growAsBefore(
    request: PersistentVolumeRequest,
    claim: WirePersistentVolumeClaim,
    size: string,
    target: ExpandTarget,
  ): Promise<Outcome> {
    try {
      await expand(target, size);
    } catch (error) {
      if (error instanceof NotSupported) return { size };
      if (this.#isOnlyWhileUnused(error, target)) return { size: undefined };
      throw error;
    }
    this.#tellOfSuccess(request);
    if (isLess(claimSize(claim), size)) await this.#options.claims.markFinished(claim, size);
    return { size };
  }

  async #growAsAllocated(
    request: PersistentVolumeRequest,
    { claim, size, isDone }: { readonly claim: WirePersistentVolumeClaim; readonly size: string; readonly isDone: boolean },
    target: ExpandTarget,
  ): Promise<Outcome> {
    const { claims } = this.#options;
    const marked = isDone ? claim : await claims.markInProgress(claim);
    try {
      await expand(target, size);
    } catch (error) {
      if (error instanceof NotSupported && isDone) return { size };
      if (isFinal(error)) await this.#noteRefused(marked, size, target, error);
      if (this.#isOnlyWhileUnused(error, target)) return { size: undefined };
      throw error;
    }
    this.#tellOfSuccess(request);
    if (!isDone) await claims.markFinished(marked, size);
    return { size };
  }

  /** A driver that refuses a size twice which the claim does not ask for any more leaves it to the controller to try another one. */
  async #noteRefused(claim: WirePersistentVolumeClaim, size: string, { id }: ExpandTarget, error: unknown): Promise<void> {
    const name = uniqueVolumeName(id);
    const asked = claim.spec?.resources?.requests?.storage;
    const isOld = this.#refused.has(name) && asked !== undefined && compareQuantities(asked, size) !== 0;
    this.#refused.add(name);
    const isInfeasible = isOld || infeasibleCodes.includes(callErrorOf(error)?.grpcCode ?? '');
    await this.#options.claims.markFailed(claim, error, isInfeasible).catch((err: unknown) => {
      this.#options.logger.warn({ err, name }, 'a claim could not be told that its volume was not made larger');
    });
  }

  /** The volume is not made larger on this node as long as pods have it. */
  #isOnlyWhileUnused(error: unknown, { id }: ExpandTarget): boolean {
    if (callErrorOf(error)?.grpcCode !== 'FailedPrecondition') return false;
    const name = uniqueVolumeName(id);
    this.#notInUse.add(name);
    const fields = { err: error, name, driver: id.driverName };
    this.#options.logger.warn(
      fields,
      'a driver makes a volume larger only while nobody uses it; its pods go on with it as it is',
    );
    return true;
  }

  #tellOfSuccess({ pod, persistentVolume }: PersistentVolumeRequest): void {
    const { eventRecorder, nodeName } = this.#options;
    const volume = goQuote(persistentVolume.metadata.name);
    const message = `MountVolume.NodeExpandVolume succeeded for volume ${volume} ${nodeName}`;
    eventRecorder.event(pod, 'Normal', 'FileSystemResizeSuccessful', message);
  }
}

async function expand({ id, canExpand, expand: ask }: ExpandTarget, size: string): Promise<void> {
  if (!canExpand) throw new NotSupported(`NodeExpand is not supported by the CSI driver ${id.driverName}`);
  try {
    await ask({ requiredBytes: wholeUnits(size) });
  } catch (cause) {
    throw new Error(`Expander.NodeExpand failed to expand the volume : ${errorText(cause)}`, {
      cause: callErrorOf(cause) ?? cause,
    });
  }
}

/** Nothing of it goes on at the driver. */
function isFinal(error: unknown): boolean {
  return error instanceof NotSupported || callErrorOf(error)?.isFinal === true;
}

function claimSize({ status }: WirePersistentVolumeClaim): string | undefined {
  return status?.capacity?.storage;
}

function volumeSize({ spec }: PersistentVolumeRequest['persistentVolume']): string | undefined {
  return spec?.capacity?.storage;
}

function statusOf({ status }: WirePersistentVolumeClaim): string {
  return status?.allocatedResourceStatuses?.storage ?? '';
}

function allocatedSize({ status }: WirePersistentVolumeClaim): string | undefined {
  return status?.allocatedResources?.storage;
}

/** One that does not say what is allocated. */
function isOfOlderResizer(claim: WirePersistentVolumeClaim): boolean {
  return statusOf(claim) === '' && claim.status?.allocatedResources == null;
}

/** The controller has to do something before the node. */
function isOthersTurn(claim: WirePersistentVolumeClaim, wanted: string): boolean {
  if (isOfOlderResizer(claim) || inTheWay.includes(statusOf(claim))) return false;
  return statusOf(claim) !== '' || isLess(claimSize(claim), allocatedSize(claim) ?? wanted);
}

function isShared({ spec }: WirePersistentVolumeClaim): boolean {
  return spec?.accessModes?.includes('ReadWriteMany') === true;
}

/** What has no size is less than any. */
function isLess(one: string | undefined, other: string): boolean {
  return one === undefined || compareQuantities(one, other) < 0;
}
