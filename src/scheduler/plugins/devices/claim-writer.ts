// Behaviour of bindClaim, PostFilter and Unreserve, pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, v1.36.3.
import { isDeepStrictEqual } from 'node:util';
import { formatTime } from '../../../api/json/time.ts';
import type { WirePod } from '../../../api/json/types.ts';
import type { Clock } from '../../../base/clock.ts';
import { untilAborted } from '../../../base/concurrency/aborts.ts';
import { errorText } from '../../../base/errors.ts';
import { ignoreFailure } from '../../../base/guard.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import { classifyApiError, type ErrorClass } from '../../../client/resources/error-class.ts';
import type { ClaimAllocation, ResourceClaim } from '../../devices/device-types.ts';
import type { SchedulerClient } from '../../framework/scheduler-client.ts';
import type { ClaimTracker } from './claim-tracker.ts';
import { claimToMake } from './extended-needs.ts';
import { claimKey, isReservedFor } from './usable-claims.ts';

export interface ClaimWriterOptions {
  readonly client: SchedulerClient;
  readonly tracker: ClaimTracker;
  readonly clock: Clock;
}

/** What is to be written of a claim for a pod that has its node. */
export interface ClaimBinding {
  readonly claim: ResourceClaim;
  /** Undefined for a claim that is allocated already. */
  readonly allocation: ClaimAllocation | undefined;
  readonly pod: WirePod;
  /** For whom the allocation was reserved. */
  readonly owner: object;
}

type ClaimStatus = NonNullable<ResourceClaim['status']>;
type NewStatus = { readonly [Member in keyof ClaimStatus]?: ClaimStatus[Member] | null };

/** What is to be written of a claim. */
interface ClaimChange {
  /** For the message where it cannot be written. */
  readonly what: string;
  /** The status that the newest version of the claim leads to; undefined: there is nothing to write. */
  readonly statusOf: (now: ResourceClaim) => NewStatus | undefined;
  readonly needsFinalizer?: boolean;
}

const newReservation = 'add reservation to claim';
const newAllocation = 'add allocation and reservation to claim';
const endedReservation = 'remove reservation from claim';
const endedAllocation = 'remove allocation from claim';

/** Keeps the devices of an allocated claim from being given away while they are in use. */
const finalizer = 'resource.kubernetes.io/delete-protection';
/** How often a change is tried of which somebody else was faster. */
const conflictTries = 5;
/** Where it is unknown whether the server has done what it was asked for. */
const inDoubt: readonly ErrorClass[] = ['timeout', 'unavailable', 'broken-answer', 'aborted'];

/** Writes what claims are given, and for whom. Of one claim one change is written after the other. */
export class ClaimWriter {
  readonly #client: SchedulerClient;
  readonly #tracker: ClaimTracker;
  readonly #clock: Clock;
  /** The last change of each claim, by its uid. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor({ client, tracker, clock }: ClaimWriterOptions) {
    this.#client = client;
    this.#tracker = tracker;
    this.#clock = clock;
  }

  /** What the client lacks for it; undefined where it has all. */
  lacks(makesClaims: boolean): string | undefined {
    const methods = ['getObject', 'patchObject', 'patchObjectStatus', 'createObject', 'deleteObject'] as const;
    return methods.slice(0, makesClaims ? 5 : 3).find((method) => this.#client[method] === undefined);
  }

  /** Resolves to the claim once the server has the allocation and the reservation for the pod. */
  bind(binding: ClaimBinding, signal: AbortSignal): Promise<ResourceClaim> {
    return this.#inTurn(binding.claim, signal, () => this.#bind(binding, signal));
  }

  /** The pod does not use the claim any more. Nothing where it is not reserved for it. */
  unreserve(claim: ResourceClaim, podUID: string, signal: AbortSignal): Promise<ResourceClaim> {
    const statusOf = (now: ResourceClaim): NewStatus | undefined => {
      if (now.status?.allocation == null || !isReservedFor(now, podUID)) return undefined;
      return { reservedFor: (now.status.reservedFor ?? []).filter(({ uid }) => uid !== podUID) };
    };
    return this.#inTurn(claim, signal, () => this.#changed(claim, { what: endedReservation, statusOf }, signal));
  }

  /** Takes the devices from a claim that nobody but the pod uses. Nothing where that is so no more. */
  deallocate(claim: ResourceClaim, podUID: string, signal: AbortSignal): Promise<ResourceClaim> {
    const statusOf = (now: ResourceClaim): NewStatus | undefined =>
      now.status?.allocation == null || !isIdle(now, podUID) ? undefined : { allocation: null, reservedFor: null, devices: null };
    return this.#inTurn(claim, signal, () => this.#changed(claim, { what: endedAllocation, statusOf }, signal));
  }

  /** Makes the claim for which devices were reserved under `planned`, and resolves to it as the server has it. */
  async make(planned: ResourceClaim, owner: object, signal: AbortSignal): Promise<ResourceClaim> {
    const { createObject } = this.#client;
    if (createObject === undefined) throw new Error("the scheduler's client has no method createObject, which makes claims");
    signal.throwIfAborted();
    const wanted = asObject(claimToMake(planned));
    let answer: unknown;
    try {
      answer = await untilAborted(createObject(resources.resourceClaims, wanted, signal), signal);
    } catch (error) {
      throw new Error(`create claim for extended resources of ${podOf(planned)}: ${errorText(error)}`, { cause: error });
    }
    const made = asClaim('createObject', answer);
    if (!made.metadata?.name || !made.metadata.uid)
      throw new TypeError("createObject of the scheduler's client resolved to an object without a name or uid");
    this.#tracker.made(made, planned, owner);
    return made;
  }

  /** Deletes a claim that nobody but the pod uses. Nothing where it is gone, or another one by now. Throws where somebody uses it. */
  remove(claim: ResourceClaim, podUID: string, signal: AbortSignal): Promise<void> {
    return this.#inTurn(claim, signal, async () => {
      try {
        // the finalizer may be there though the answer to its write was lost
        await this.#read(claim, signal);
        const now = await this.#retried(claim, signal, (newest) => this.#unprotect(newest, podUID, signal));
        await this.#delete(now, signal);
      } catch (error) {
        const cause = error instanceof ClaimWriteError ? error.cause : error;
        if (!(cause instanceof GoneClaim) && classifyApiError(cause) !== 'gone') throw error;
      }
      this.#tracker.gone(claim);
    });
  }

  async #bind(binding: ClaimBinding, signal: AbortSignal): Promise<ResourceClaim> {
    const { claim, allocation, owner } = binding;
    const statusOf = (now: ResourceClaim): NewStatus | undefined => this.#reservation(now, binding);
    const change =
      allocation === undefined ? { what: newReservation, statusOf } : { what: newAllocation, statusOf, needsFinalizer: true };
    try {
      const done = await this.#changed(claim, change, signal);
      this.#tracker.release(claim, owner);
      return done;
    } catch (error) {
      if (!(error instanceof ClaimWriteError) || error.mayBeIn === undefined) throw error;
      const found = await this.#foundOut(binding, signal);
      if (found === undefined) {
        this.#tracker.doubt(error.mayBeIn, owner);
        throw error;
      }
      this.#tracker.release(claim, owner);
      return found;
    }
  }

  /** Throws where the claim cannot be had. */
  #reservation(now: ResourceClaim, { claim, allocation, pod }: ClaimBinding): NewStatus | undefined {
    const { status, metadata } = now;
    if (metadata?.deletionTimestamp != null) throw new Error(`claim ${claimKey(now)} got deleted in the meantime`);
    if (allocation !== undefined && status?.allocation != null) throw allocatedElsewhere(now);
    const allocated = allocation ?? status?.allocation;
    if (allocated == null) throw new Error(`claim ${claimKey(now)} got deallocated elsewhere in the meantime`);
    // the node was chosen for the devices that it had then
    if (allocation === undefined && !haveSameDevices(allocated, claim.status?.allocation)) throw allocatedElsewhere(now);
    const { name = '', uid = '' } = pod.metadata ?? {};
    if (isReservedFor(now, uid)) return undefined;
    const reservedFor = [...(status?.reservedFor ?? []), { resource: 'pods', name, uid }];
    const isWhole = allocated === status?.allocation && allocated.allocationTimestamp != null;
    if (isWhole) return { reservedFor };
    // the server keeps whole seconds
    const allocationTimestamp = allocated.allocationTimestamp ?? formatTime(this.#clock.now());
    return { allocation: { ...allocated, allocationTimestamp } as ClaimAllocation, reservedFor };
  }

  #changed(claim: ResourceClaim, change: ClaimChange, signal: AbortSignal): Promise<ResourceClaim> {
    return this.#retried(claim, signal, (now) => this.#write(now, change, signal));
  }

  /** Tries it again with the newest version where somebody else has been faster. */
  async #retried(
    claim: ResourceClaim,
    signal: AbortSignal,
    write: (now: ResourceClaim) => Promise<ResourceClaim>,
  ): Promise<ResourceClaim> {
    let now = this.#tracker.newestOf(claim);
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return await write(now);
      } catch (error) {
        if (signal.aborted || attempt === conflictTries || classifyApiError(error) !== 'conflict') throw error;
      }
      now = await this.#read(claim, signal);
    }
  }

  async #write(
    now: ResourceClaim,
    { what, statusOf, needsFinalizer = false }: ClaimChange,
    signal: AbortSignal,
  ): Promise<ResourceClaim> {
    const status = statusOf(now);
    if (status === undefined) return now;
    let protectedClaim = now;
    const finalizers = now.metadata?.finalizers ?? [];
    if (needsFinalizer && !finalizers.includes(finalizer)) {
      const patch = { metadata: { finalizers: [...finalizers, finalizer] } };
      protectedClaim = await this.#patch('patchObject', `add finalizer to claim ${claimKey(now)}`, now, patch, signal);
    }
    const done = await this.#patch('patchObjectStatus', `${what} ${claimKey(now)}`, protectedClaim, { status }, signal);
    this.#tracker.written(done);
    return done;
  }

  /** The claim without what keeps it from being deleted. */
  async #unprotect(now: ResourceClaim, podUID: string, signal: AbortSignal): Promise<ResourceClaim> {
    if (!isIdle(now, podUID)) throw new Error(`claim ${claimKey(now)} is used by another pod`);
    const finalizers = now.metadata?.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return now;
    const patch = { metadata: { finalizers: finalizers.filter((one) => one !== finalizer) } };
    return this.#patch('patchObject', `remove finalizer from claim ${claimKey(now)}`, now, patch, signal);
  }

  async #delete(claim: ResourceClaim, signal: AbortSignal): Promise<void> {
    const { deleteObject } = this.#client;
    if (deleteObject === undefined) throw new Error("the scheduler's client has no method deleteObject, which deletes claims");
    signal.throwIfAborted();
    await untilAborted(deleteObject(resources.resourceClaims, asObject(claim), signal), signal);
  }

  async #patch(
    method: 'patchObject' | 'patchObjectStatus',
    what: string,
    claim: ResourceClaim,
    patch: object,
    signal: AbortSignal,
  ): Promise<ResourceClaim> {
    const send = this.#client[method];
    if (send === undefined) throw new Error(`the scheduler's client has no method ${method}, which writes claims`);
    signal.throwIfAborted();
    try {
      return asClaim(method, await untilAborted(send(resources.resourceClaims, asObject(claim), patch, signal), signal));
    } catch (error) {
      const errorClass = classifyApiError(error);
      if (errorClass === 'conflict') throw error;
      const mayBeDone = method === 'patchObjectStatus' && (signal.aborted || inDoubt.includes(errorClass));
      throw new ClaimWriteError(`${what}: ${errorText(error)}`, mayBeDone ? claim : undefined, { cause: error });
    }
  }

  /** The claim as the server has it. Throws where it is gone, or another one by now. */
  async #read(claim: ResourceClaim, signal: AbortSignal): Promise<ResourceClaim> {
    const { getObject } = this.#client;
    if (getObject === undefined) throw new Error("the scheduler's client has no method getObject, which reads claims");
    const read = await untilAborted(getObject(resources.resourceClaims, asObject(claim), signal), signal);
    const now = asClaim('getObject', read);
    if (now.metadata?.uid !== claim.metadata?.uid) throw new GoneClaim(`claim ${claimKey(claim)} got deleted in the meantime`);
    this.#tracker.written(now);
    return now;
  }

  /** The claim, if the server has it with what was to be written; undefined where nobody knows. Throws where it has other devices. */
  async #foundOut({ claim, allocation, pod }: ClaimBinding, signal: AbortSignal): Promise<ResourceClaim | undefined> {
    if (signal.aborted) return undefined;
    const now = await this.#read(claim, signal).catch(ignoreFailure);
    if (now?.status?.allocation == null) return undefined;
    if (!haveSameDevices(now.status.allocation, allocation ?? claim.status?.allocation)) throw allocatedElsewhere(now);
    return isReservedFor(now, pod.metadata?.uid ?? '') ? now : undefined;
  }

  /** Works once all changes of the claim have ended that were begun before. */
  async #inTurn<T>(claim: ResourceClaim, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const uid = claim.metadata?.uid ?? '';
    const before = this.#last.get(uid) ?? Promise.resolve();
    const turn = before.catch(ignoreFailure).then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last.set(uid, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(uid) === turn) this.#last.delete(uid);
    }
  }
}

class GoneClaim extends Error {
  override readonly name = 'GoneClaim';
}

class ClaimWriteError extends Error {
  override readonly name = 'ClaimWriteError';
  /** The version that the write named, where the server may have done it all the same. */
  readonly mayBeIn: ResourceClaim | undefined;

  constructor(message: string, mayBeIn: ResourceClaim | undefined, options: ErrorOptions) {
    super(message, options);
    this.mayBeIn = mayBeIn;
  }
}

function allocatedElsewhere(claim: ResourceClaim): Error {
  return new Error(`claim ${claimKey(claim)} got allocated elsewhere in the meantime`);
}

/** True for the same devices, for the same requests and nodes. */
function haveSameDevices(a: ClaimAllocation, b: ClaimAllocation | null | undefined): boolean {
  return b != null && isDeepStrictEqual(devicesOf(a), devicesOf(b));
}

function devicesOf({ devices, nodeSelector }: ClaimAllocation): unknown {
  const results = (devices?.results ?? []).map(({ request, driver, pool, device, shareID }) => [
    request,
    driver,
    pool,
    device,
    shareID ?? null,
  ]);
  return [results, nodeSelector ?? null];
}

/** True where nobody but this pod uses the claim. */
export function isIdle({ status }: ResourceClaim, podUID: string): boolean {
  return (status?.reservedFor ?? []).every(({ uid }, index) => index === 0 && uid === podUID);
}

function podOf({ metadata }: ResourceClaim): string {
  return `${metadata?.namespace}/${metadata?.ownerReferences?.[0]?.name}`;
}

type WireClaim = NonNullable<Parameters<NonNullable<SchedulerClient['patchObject']>>[1]>;

function asObject(claim: ResourceClaim): WireClaim {
  return claim as unknown as WireClaim;
}

function asClaim(method: string, object: unknown): ResourceClaim {
  if (typeof object === 'object' && object !== null) return object as ResourceClaim;
  throw new TypeError(`${method} of the scheduler's client resolved to no object`);
}
