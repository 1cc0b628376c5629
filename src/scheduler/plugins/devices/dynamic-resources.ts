// Behaviour of the plugin dynamicresources, v1.36.3, with its default feature gates.
import { goDurationMs } from '../../../api/json/go-duration.ts';
import type { WirePod } from '../../../api/json/types.ts';
import { safeClock } from '../../../base/clock.ts';
import { callWithin, settledAtOnce, untilAborted } from '../../../base/concurrency/aborts.ts';
import { invalidOption } from '../../../base/errors.ts';
import { longestTimerMs, requireKnownOptions } from '../../../base/options.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ClaimAllocation, DeviceClass, ResourceClaim } from '../../devices/device-types.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import {
  type Plugin,
  type PluginHandle,
  type PostFilterAnswer,
  type Rejection,
  type SharedKey,
  sharedKey,
} from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { kept, normalizeScores } from '../common.ts';
import { DelegatedResources, delegatedKey, type ResourceClasses, resourceClassesOf } from '../resource-classes.ts';
import { untilReady } from './awaited-devices.ts';
import { awaitedConditions, hasBindingConditions, isBindingOverdue, readinessOf } from './binding-conditions.ts';
import { claimEvents } from './claim-hints.ts';
import { ClaimState, claimsKey, type ExtendedPart, hasNoDevices } from './claim-state.ts';
import { ClaimTracker, type WatchedClaims } from './claim-tracker.ts';
import { ClaimWriter, isIdle } from './claim-writer.ts';
import { alternativesScore } from './device-scores.ts';
import { DeviceSearches, type MakeAllocator } from './device-searches.ts';
import { type ChosenExtendedClaim, ExtendedNeeds, extendedOwnerKey, extendedOwners, leftFromBefore } from './extended-needs.ts';
import { KeptPools, type WatchedSlices } from './kept-pools.ts';
import { SearchAccounts } from './search-accounts.ts';
import { claimKey, isReservedFor, namesOfClaims, usableClaimsOf } from './usable-claims.ts';

/** The claims of the cluster, and what the pods of all profiles are to have. */
interface ClaimsOfAll {
  readonly tracker: ClaimTracker;
  readonly writer: ClaimWriter;
  readonly accounts: SearchAccounts;
  readonly pools: KeptPools;
  /** The claims that were made for the extended resources of this pod. */
  readonly madeFor: (ownerKey: string) => readonly ResourceClaim[];
}

const claimsOfAllKey: SharedKey<ClaimsOfAll> = sharedKey('DynamicResources');

/** Writing takes no longer, in milliseconds. */
const writingMs = 120_000;
/** A claim is let go in no more, in milliseconds: whoever wants it next waits for that. */
const lettingGoMs = 30_000;
/** So many claims of a pod are let go at once. */
const mostWrites = 4;

/**
 * Finds devices for the claims of a pod, rejects nodes where there are none, and lets the pod be bound once its claims have their devices
 * and these are ready. Takes kube-scheduler's arguments `filterTimeout` and `bindingTimeout`.
 */
export function dynamicResourcesBy(makeAllocator: MakeAllocator, args: unknown, handle: PluginHandle): Plugin {
  const plugin = new ClaimedDevices(makeAllocator, timesOf(args), handle);
  return {
    name: 'DynamicResources',
    preBindTimeoutMs: Math.min(plugin.bindingTimeoutMs + writingMs, longestTimerMs),
    eventsToRegister: () => claimEvents(plugin.tracker, plugin.resourceClasses),
    preEnqueue(pod) {
      const claims = usableClaimsOf(pod, plugin.tracker);
      return typeof claims === 'string' ? unresolvable(claims) : undefined;
    },
    preFilter(state, pod) {
      const data = plugin.stateOf(pod);
      if (typeof data === 'string') return unresolvable(data);
      if (data === undefined) return 'skip';
      if (data.extended !== undefined) state.write(delegatedKey, new DelegatedResources(data.extended.needs.delegated));
      state.write(claimsKey, data);
      return undefined;
    },
    filter(state, _pod, node) {
      const data = kept(state, claimsKey);
      const found = plugin.lookAt(data, node);
      return found === undefined ? undefined : unresolvable(found);
    },
    postFilter(state, pod) {
      const data = state.read(claimsKey);
      return data === undefined ? noClaims : plugin.deallocation(data, pod);
    },
    preScore: (state) => (state.read(claimsKey) === undefined ? 'skip' : undefined),
    score(state, _pod, { name }) {
      const data = kept(state, claimsKey);
      const found = data.byNode.get(name);
      return found === undefined ? 0 : alternativesScore(data.claims, found.allocations);
    },
    normalizeScores: (_state, _pod, scores) => normalizeScores(scores),
    reserve(state, _pod, nodeName) {
      const data = state.read(claimsKey);
      if (data !== undefined) plugin.reserve(data, nodeName);
      return undefined;
    },
    unreserve(state, { uid }, _nodeName, signal) {
      const data = state.read(claimsKey);
      return data && plugin.unreserve(data, uid, signal);
    },
    preBindPreFlight(state) {
      const data = state.read(claimsKey);
      data?.forgetNodes();
      return data === undefined ? 'skip' : undefined;
    },
    async preBind(state, pod, nodeName, signal) {
      const data = state.read(claimsKey);
      if (data !== undefined) await plugin.bind(data, pod, nodeName, signal);
      return undefined;
    },
    preBindWaitsFor(state) {
      const data = state.read(claimsKey);
      return data && plugin.awaited(data);
    },
  };
}

/** What a claim is let go by. */
interface ClaimWrite {
  readonly claim: ResourceClaim;
  readonly write: (signal: AbortSignal) => Promise<unknown>;
}

class ClaimedDevices {
  readonly tracker: ClaimTracker;
  readonly resourceClasses: ResourceClasses;
  readonly bindingTimeoutMs: number;
  readonly #searches: DeviceSearches;
  readonly #writer: ClaimWriter;
  readonly #madeFor: ClaimsOfAll['madeFor'];
  readonly #handle: PluginHandle;
  readonly #classes: ObjectLister;

  constructor(makeAllocator: MakeAllocator, { filterTimeoutMs, bindingTimeoutMs }: PluginTimes, handle: PluginHandle) {
    const { tracker, writer, madeFor, accounts, pools } = claimsOfAll(handle);
    this.tracker = tracker;
    this.resourceClasses = resourceClassesOf(handle);
    this.#madeFor = madeFor;
    this.bindingTimeoutMs = bindingTimeoutMs;
    this.#writer = writer;
    this.#handle = handle;
    this.#classes = handle.objects(resources.deviceClasses);
    const needs = () => ({
      pools: pools.upToDate(),
      deviceClass: (name: string) => this.#class(name),
      allocated: tracker.taken,
    });
    this.#searches = new DeviceSearches({ makeAllocator, needs, accounts, filterTimeoutMs, clock: safeClock(handle.clock) });
  }

  /** Undefined for a pod that claims nothing; a text says why no node need be looked at now. Throws where that is not known. */
  stateOf(info: PodInfo): ClaimState | string | undefined {
    const claims = usableClaimsOf(info.pod, this.tracker);
    if (typeof claims === 'string') return claims;
    const extended = this.#extendedPartOf(info);
    if (claims.length === 0 && extended === undefined) return undefined;
    const refusal = this.#whyNotNow(claims, extended);
    if (refusal !== undefined) return refusal;
    const needsDevices = claims.some(hasNoDevices) || (extended !== undefined && extended.left === undefined);
    return new ClaimState(claims, extended, needsDevices ? this.#searches.begin(info) : undefined);
  }

  /** Undefined where no class stands for anything that the pod asks for. */
  #extendedPartOf(info: PodInfo): ExtendedPart | undefined {
    const needs = ExtendedNeeds.of(info, this.resourceClasses);
    return needs && { needs, left: this.#madeFor(extendedOwnerKey(info.pod))[0] };
  }

  /** Why no node need be looked at now. Throws for a claim that cannot be read, and where it is not known how a write has ended. */
  #whyNotNow(claims: readonly ResourceClaim[], extended: ExtendedPart | undefined): string | undefined {
    for (const claim of claims) {
      if (!hasNoDevices(claim)) continue;
      const reason = this.#whyPending(claim) ?? this.#whyNoClass(claim);
      if (reason !== undefined) return reason;
    }
    const pending = extended?.left && hasNoDevices(extended.left) ? this.#whyPending(extended.left) : undefined;
    if (pending !== undefined) return pending;
    return claims.length === 0 ? undefined : this.#whyNotWritten(false);
  }

  /** Why the node does not fit; undefined where it does: then it is kept what the claims would get there. */
  lookAt(data: ClaimState, { name, node, allocatable }: NodeInfo): string | undefined {
    if (data.extended?.left !== undefined) return leftFromBefore;
    const extended = data.extended?.needs.on(allocatable.scalar);
    if (typeof extended === 'string') return extended;
    const refusal = extended && this.#whyNotWritten(true);
    if (refusal !== undefined) return refusal;
    const unavailable = data.claims.flatMap((claim, index) =>
      hasNoDevices(claim) || (data.isReached(index, node) && this.#mayBecomeReady(claim)) ? [] : [index],
    );
    const wanted = extended === undefined ? data.toAllocate : [...data.toAllocate, extended.claim];
    const found = data.searches && wanted.length > 0 ? this.#searches.on(data.searches, node, wanted) : undefined;
    if (typeof found === 'string') return found;
    for (const index of unavailable) data.unavailable.add(index);
    if (unavailable.length > 0) return 'resourceclaim not available on the node';
    if (found !== undefined) data.byNode.set(name, { allocations: found, extended });
    return undefined;
  }

  /** Takes the devices from a claim that nobody else uses, so that others can be found for it; deletes one that an attempt before has left. */
  deallocation({ claims, unavailable, extended }: ClaimState, { uid }: PodInfo): PostFilterAnswer {
    const claim = [...unavailable].map((index) => claims[index]).find((one) => one !== undefined && isIdle(one, uid));
    const left = extended?.left;
    if (claim === undefined && left !== undefined && isIdle(left, uid)) {
      const change = (signal: AbortSignal): Promise<void> => this.#writer.remove(left, uid, signal);
      const what = `claim ${claimKey(left)}, which was left from before, could not be deleted`;
      const message = 'deletion of ResourceClaim completed';
      return { nominatedNodeName: undefined, message, actions: [{ kind: 'change', what, change }] };
    }
    if (claim === undefined) return { nominatedNodeName: undefined, message: 'still not schedulable' };
    const change = async (signal: AbortSignal): Promise<void> => {
      await this.#writer.deallocate(claim, uid, signal);
    };
    return {
      nominatedNodeName: undefined,
      message: 'deallocation of ResourceClaim completed',
      actions: [{ kind: 'change', what: `the devices of claim ${claimKey(claim)} could not be given back`, change }],
    };
  }

  /** Throws where what was found is not there any more: nothing is taken then. */
  reserve(data: ClaimState, nodeName: string): void {
    const found = data.byNode.get(nodeName);
    const extended = found?.extended;
    const claims = extended === undefined ? data.toAllocate : [...data.toAllocate, extended.claim];
    if (claims.length === 0) return;
    if (found === undefined) throw new Error('claim allocation not found for node');
    const { length } = found.allocations;
    if (length !== claims.length)
      throw new Error(`internal error, have ${length} allocations, ${claims.length} claims to allocate`);
    const allocations = found.allocations.values();
    try {
      for (const [index, claim] of data.claims.entries()) {
        if (!hasNoDevices(claim)) continue;
        const allocation = allocations.next().value as ClaimAllocation;
        this.tracker.reserve(claim, allocation, data);
        data.reserved.set(index, allocation);
      }
      if (extended !== undefined) {
        const allocation = allocations.next().value as ClaimAllocation;
        this.tracker.reserve(extended.claim, allocation, data);
        data.chosen = { ...extended, allocation, made: undefined };
      }
    } catch (error) {
      for (const claim of claims) this.tracker.release(claim, data);
      throw error;
    }
  }

  /** Undefined where there is nothing to write. Another try at the pod waits for what is written. */
  unreserve(data: ClaimState, podUID: string, signal: AbortSignal): Promise<void> | undefined {
    const { claims, chosen } = data;
    const ownMade = chosen?.made === undefined ? [] : [chosen.made];
    for (const claim of [...claims, ...ownMade, ...(chosen === undefined ? [] : [chosen.claim])])
      this.tracker.release(claim, data);
    const own = claims.filter((claim) => !hasNoDevices(claim) && isReservedFor(claim, podUID));
    const writes = [
      ...own.map((claim) => ({ claim, write: (over: AbortSignal) => this.#writer.unreserve(claim, podUID, over) })),
      ...ownMade.map((claim) => ({ claim, write: (over: AbortSignal) => this.#writer.remove(claim, podUID, over) })),
    ];
    return writes.length === 0 ? undefined : this.#letGo(writes, signal);
  }

  async #letGo(writes: readonly ClaimWrite[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#handle;
    const ended = await settledAtOnce(writes, mostWrites, ({ claim, write }) => {
      const late = () => new Error(`claim ${claimKey(claim)} was not let go within ${lettingGoMs} ms`);
      return callWithin(write, { clock, timeoutMs: lettingGoMs, signal, late });
    });
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  async bind(data: ClaimState, { pod }: PodInfo, nodeName: string, signal: AbortSignal): Promise<void> {
    for (const [index, claim] of data.claims.entries()) {
      const allocation = data.reserved.get(index);
      data.claims[index] = await this.#writer.bind({ claim, allocation, pod, owner: data }, signal);
    }
    if (data.chosen !== undefined) await this.#bindExtended(data.chosen, data, pod, signal);
    if (!data.boundClaims.some(hasBindingConditions)) return;
    const note = `waiting for binding conditions for device on node ${nodeName}`;
    this.#handle.client.event({ pod, type: 'Normal', reason: 'BindingConditionsPending', action: 'Scheduling', note });
    const { clock } = this.#handle;
    await untilReady(data.boundClaims, { tracker: this.tracker, clock, timeoutMs: this.bindingTimeoutMs, signal });
  }

  /** What a pod that has its node waits for, in words. */
  awaited({ boundClaims, chosen }: ClaimState): string | undefined {
    const now = boundClaims.map((claim) => this.tracker.newestOf(claim));
    const conditions = awaitedConditions(now);
    const unnamed = chosen !== undefined && chosen.made === undefined ? ['of extended resources'] : [];
    const names = [...(boundClaims.length === 0 ? [] : [namesOfClaims(boundClaims)]), ...unnamed].join(', ');
    if (names === '') return undefined;
    return conditions === '' ? `the claims ${names} to be written` : `the devices of ${names} to be ready: ${conditions}`;
  }

  async #bindExtended(chosen: ChosenExtendedClaim, owner: object, pod: WirePod, signal: AbortSignal): Promise<void> {
    chosen.made = await this.#writer.make(chosen.claim, owner, signal);
    chosen.made = await this.#writer.bind({ claim: chosen.made, allocation: chosen.allocation, pod, owner }, signal);
    const resourceClaimName = chosen.made.metadata?.name ?? '';
    const extendedResourceClaimStatus = { requestMappings: [...chosen.mappings], resourceClaimName };
    signal.throwIfAborted();
    await untilAborted(this.#handle.client.patchStatus(pod, { extendedResourceClaimStatus }, signal), signal);
  }

  #whyNotWritten(makesClaims: boolean): string | undefined {
    const lacks = this.#writer.lacks(makesClaims);
    return lacks && `the pod's ResourceClaims have to be written, and the scheduler's client has no method ${lacks}`;
  }

  /** Throws where it is not known how a write has ended. */
  #whyPending(claim: ResourceClaim): string | undefined {
    const pending = this.tracker.pendingOf(claim);
    if (pending === 'doubt') throw new Error(`it is not known yet whether claim ${claimKey(claim)} got its devices`);
    return pending && `resource claim ${claimKey(claim)} is in the process of being allocated`;
  }

  /** False where the devices of a claim will not be ready. */
  #mayBecomeReady(claim: ResourceClaim): boolean {
    const readiness = readinessOf(claim);
    if (typeof readiness === 'object') return false;
    return readiness === 'ready' || !isBindingOverdue(claim, this.#handle.clock.now(), this.bindingTimeoutMs);
  }

  #class(name: string): DeviceClass | undefined {
    return this.#classes.get(undefined, name) as unknown as DeviceClass | undefined;
  }

  /** Throws for a class without a name. */
  #whyNoClass(claim: ResourceClaim): string | undefined {
    for (const { name, exactly, firstAvailable } of claim.spec.devices?.requests ?? []) {
      const alternatives = (firstAvailable ?? []).map((one) => [`${name}/${one.name}`, one.deviceClassName] as const);
      const asked = exactly == null ? alternatives : [[name, exactly.deviceClassName] as const];
      if (asked.length === 0) return `resource claim ${claimKey(claim)}, request ${name}: unknown request type`;
      for (const [request, className] of asked) {
        if (!className) throw new Error(`request ${request}: unsupported request type`);
        if (this.#class(className) === undefined) return `request ${request}: device class ${className} does not exist`;
      }
    }
    return undefined;
  }
}

function claimsOfAll(handle: PluginHandle): ClaimsOfAll {
  return handle.shared(claimsOfAllKey, () => {
    const clock = safeClock(handle.clock);
    const watched = handle.objects(resources.resourceClaims);
    const slices = handle.objects(resources.resourceSlices);
    const madeFor = watched.index((claim) => extendedOwners(claim as unknown as ResourceClaim));
    const tracker = new ClaimTracker(watched as unknown as WatchedClaims, clock);
    const writer = new ClaimWriter({ client: handle.client, tracker, clock });
    return {
      tracker,
      writer,
      accounts: new SearchAccounts(clock),
      pools: new KeptPools(slices as unknown as WatchedSlices),
      madeFor: (key) => madeFor(key) as unknown as readonly ResourceClaim[],
    };
  });
}

function unresolvable(reason: string): Rejection {
  return { code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

/** kube-scheduler says so of every pod that fits nowhere. */
const noClaims: PostFilterAnswer = { nominatedNodeName: undefined, message: 'no new claims to deallocate' };

interface PluginTimes {
  /** 0: nodes may be looked at for as long as it takes. */
  readonly filterTimeoutMs: number;
  readonly bindingTimeoutMs: number;
}

function timesOf(args: unknown): PluginTimes {
  const given = args ?? {};
  requireKnownOptions('DynamicResources', given, ['apiVersion', 'kind', 'filterTimeout', 'bindingTimeout']);
  const { filterTimeout, bindingTimeout } = given as { readonly filterTimeout?: unknown; readonly bindingTimeout?: unknown };
  return {
    filterTimeoutMs: timeMs('filterTimeout', filterTimeout ?? '10s'),
    bindingTimeoutMs: timeMs('bindingTimeout', bindingTimeout ?? '10m'),
  };
}

function timeMs(name: string, text: unknown): number {
  const time = goDurationMs(String(text));
  if (time !== undefined && time >= 0) return time;
  throw invalidOption(`DynamicResources.${name}`, 'a duration that is not below 0, such as "10s"', text);
}
