// Behaviour of the plugin dynamicresources, v1.36.3, with its default feature gates.
import { goDurationMs } from '../../../api/json/go-duration.ts';
import { safeClock } from '../../../base/clock.ts';
import { callWithin, settledAtOnce } from '../../../base/concurrency/aborts.ts';
import { errorText, invalidOption } from '../../../base/errors.ts';
import { longestTimerMs, requireKnownOptions } from '../../../base/options.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import { DeviceAllocationError } from '../../devices/device-allocation-error.ts';
import type { AllocatedDevices, ClaimAllocation, DeviceClass, ResourceClaim, ResourceSlice } from '../../devices/device-types.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import {
  type Plugin,
  type PluginHandle,
  type PostFilterAnswer,
  type Rejection,
  type SharedKey,
  sharedKey,
} from '../../framework/plugin.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { kept, normalizeScores } from '../common.ts';
import { untilReady } from './awaited-devices.ts';
import { awaitedConditions, hasBindingConditions, isBindingOverdue, readinessOf } from './binding-conditions.ts';
import { claimEvents } from './claim-hints.ts';
import {
  ClaimState,
  claimsKey,
  type FoundOnNode,
  hasNoDevices,
  type NodeAllocator,
  NodeSearches,
  type SearchedNode,
} from './claim-state.ts';
import { ClaimTracker, type WatchedClaims } from './claim-tracker.ts';
import { ClaimWriter, isIdle } from './claim-writer.ts';
import { alternativesScore } from './device-scores.ts';
import { SearchAccounts } from './search-accounts.ts';
import { claimKey, isReservedFor, namesOfClaims, usableClaimsOf } from './usable-claims.ts';

/** What an allocator is made of for one pod. */
export interface AllocatorNeeds {
  readonly slices: readonly ResourceSlice[];
  readonly deviceClass: (name: string) => DeviceClass | undefined;
  readonly allocated: AllocatedDevices;
  /** True where the time for the node is over. */
  readonly isOverdue: () => boolean;
}

/** Makes what finds devices for the claims of one pod. */
export type MakeAllocator = (needs: AllocatorNeeds) => NodeAllocator;

/** The claims of the cluster, and what the pods of all profiles are to have. */
interface ClaimsOfAll {
  readonly tracker: ClaimTracker;
  readonly writer: ClaimWriter;
  readonly accounts: SearchAccounts;
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
    eventsToRegister: () => claimEvents(plugin.tracker),
    preEnqueue(pod) {
      const claims = usableClaimsOf(pod, plugin.tracker);
      return typeof claims === 'string' ? unresolvable(claims) : undefined;
    },
    preFilter(state, { pod, namespace, uid }) {
      const claims = usableClaimsOf(pod, plugin.tracker);
      if (typeof claims === 'string') return unresolvable(claims);
      if (claims.length === 0) return 'skip';
      const refusal = plugin.whyNotNow(claims);
      if (refusal !== undefined) return unresolvable(refusal);
      state.write(claimsKey, new ClaimState(claims, claims.some(hasNoDevices) ? plugin.search({ namespace, uid }) : undefined));
      return undefined;
    },
    filter(state, _pod, { name, node }) {
      const data = kept(state, claimsKey);
      const found = plugin.lookAt(data, name, node);
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
      return found === undefined ? 0 : alternativesScore(data.claims, found);
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

class ClaimedDevices {
  readonly tracker: ClaimTracker;
  readonly bindingTimeoutMs: number;
  readonly #writer: ClaimWriter;
  readonly #accounts: SearchAccounts;
  readonly #makeAllocator: MakeAllocator;
  readonly #filterTimeoutMs: number;
  readonly #handle: PluginHandle;
  readonly #elapsed: () => number;
  readonly #classes: ObjectLister;
  readonly #slices: ObjectLister;
  /** By the clock's `elapsed`. */
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(makeAllocator: MakeAllocator, { filterTimeoutMs, bindingTimeoutMs }: PluginTimes, handle: PluginHandle) {
    const { tracker, writer, accounts } = claimsOfAll(handle);
    this.tracker = tracker;
    this.bindingTimeoutMs = bindingTimeoutMs;
    this.#writer = writer;
    this.#accounts = accounts;
    this.#makeAllocator = makeAllocator;
    this.#filterTimeoutMs = filterTimeoutMs;
    this.#handle = handle;
    const clock = safeClock(handle.clock);
    this.#elapsed = () => clock.elapsed();
    this.#classes = handle.objects(resources.deviceClasses);
    this.#slices = handle.objects(resources.resourceSlices);
  }

  /** Why no node need be looked at now. Throws for a claim that cannot be read, and where it is not known how a write has ended. */
  whyNotNow(claims: readonly ResourceClaim[]): string | undefined {
    for (const claim of claims) {
      if (!hasNoDevices(claim)) continue;
      const pending = this.tracker.pendingOf(claim);
      if (pending === 'pending') return `resource claim ${claimKey(claim)} is in the process of being allocated`;
      if (pending === 'doubt') throw new Error(`it is not known yet whether claim ${claimKey(claim)} got its devices`);
      const reason = this.#whyNoClass(claim);
      if (reason !== undefined) return reason;
    }
    const { lacks } = this.#writer;
    return lacks && `the pod's ResourceClaims have to be written, and the scheduler's client has no method ${lacks}`;
  }

  /** Throws for a pod whose search has taken too long before. */
  search(pod: { readonly namespace: string; readonly uid: string }): NodeSearches {
    const waitMs = this.#accounts.waitMs(pod);
    if (waitMs > 0 && !this.#isUnlimited) {
      const often = `searches for devices of the namespace ${pod.namespace} have taken too long`;
      throw new Error(`${often}: the pod is not searched for in the next ${Math.ceil(waitMs / 1000)} s`);
    }
    return new NodeSearches(this.#allocator(), this.#accounts.search(pod));
  }

  #allocator(): NodeAllocator {
    return this.#makeAllocator({
      slices: this.#slices.list() as unknown as readonly ResourceSlice[],
      deviceClass: (name) => this.#class(name),
      allocated: this.tracker.taken,
      isOverdue: () => this.#elapsed() > this.#deadlineMs,
    });
  }

  /** Why the node does not fit; undefined where it does: then it is kept what the claims would get there. */
  lookAt(data: ClaimState, nodeName: string, node: SearchedNode): string | undefined {
    const unavailable = data.claims.flatMap((claim, index) =>
      hasNoDevices(claim) || (data.isReached(index, node) && this.#mayBecomeReady(claim)) ? [] : [index],
    );
    const found = data.searches && this.#allocate(data.searches, node, data.toAllocate);
    if (typeof found === 'string') return found;
    for (const index of unavailable) data.unavailable.add(index);
    if (unavailable.length > 0) return 'resourceclaim not available on the node';
    if (found !== undefined) data.byNode.set(nodeName, found);
    return undefined;
  }

  /** Takes the devices from a claim that nobody else uses, so that others can be found for it. */
  deallocation({ claims, unavailable }: ClaimState, { uid }: PodInfo): PostFilterAnswer {
    const claim = [...unavailable].map((index) => claims[index]).find((one) => one !== undefined && isIdle(one, uid));
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
    const claims = data.toAllocate;
    if (claims.length === 0) return;
    const found = data.byNode.get(nodeName);
    if (found === undefined) throw new Error('claim allocation not found for node');
    if (found.length !== claims.length)
      throw new Error(`internal error, have ${found.length} allocations, ${claims.length} claims to allocate`);
    const allocations = found.values();
    try {
      for (const [index, claim] of data.claims.entries()) {
        if (!hasNoDevices(claim)) continue;
        const allocation = allocations.next().value as ClaimAllocation;
        this.tracker.reserve(claim, allocation, data);
        data.reserved.set(index, allocation);
      }
    } catch (error) {
      for (const claim of claims) this.tracker.release(claim, data);
      throw error;
    }
  }

  /** Undefined where there is nothing to write. Another try at the pod waits for what is written. */
  unreserve(data: ClaimState, podUID: string, signal: AbortSignal): Promise<void> | undefined {
    for (const claim of data.claims) this.tracker.release(claim, data);
    const own = data.claims.filter((claim) => !hasNoDevices(claim) && isReservedFor(claim, podUID));
    return own.length === 0 ? undefined : this.#letGo(own, podUID, signal);
  }

  async #letGo(claims: readonly ResourceClaim[], podUID: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#handle;
    const ended = await settledAtOnce(claims, mostWrites, (claim) => {
      const late = () => new Error(`claim ${claimKey(claim)} was not let go within ${lettingGoMs} ms`);
      const limits = { clock, timeoutMs: lettingGoMs, signal, late };
      return callWithin((over) => this.#writer.unreserve(claim, podUID, over), limits);
    });
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  async bind(data: ClaimState, { pod }: PodInfo, nodeName: string, signal: AbortSignal): Promise<void> {
    for (const [index, claim] of data.claims.entries()) {
      const allocation = data.reserved.get(index);
      data.claims[index] = await this.#writer.bind({ claim, allocation, pod, owner: data }, signal);
    }
    if (!data.claims.some(hasBindingConditions)) return;
    const note = `waiting for binding conditions for device on node ${nodeName}`;
    this.#handle.client.event({ pod, type: 'Normal', reason: 'BindingConditionsPending', action: 'Scheduling', note });
    const { clock } = this.#handle;
    await untilReady(data.claims, { tracker: this.tracker, clock, timeoutMs: this.bindingTimeoutMs, signal });
  }

  /** What a pod that has its node waits for, in words. */
  awaited({ claims }: ClaimState): string {
    const now = claims.map((claim) => this.tracker.newestOf(claim));
    const conditions = awaitedConditions(now);
    const names = namesOfClaims(claims);
    return conditions === '' ? `the claims ${names} to be written` : `the devices of ${names} to be ready: ${conditions}`;
  }

  /** A text says why there are no devices. */
  #allocate({ allocator, time, seen }: NodeSearches, node: SearchedNode, claims: readonly ResourceClaim[]): FoundOnNode {
    // preemption asks of one node again and again
    const known = seen.get(node);
    if (known !== undefined) return known;
    const leftMs = time.begin();
    const isOwnLimit = this.#filterTimeoutMs < leftMs;
    this.#deadlineMs = this.#elapsed() + (this.#isUnlimited ? Number.POSITIVE_INFINITY : Math.min(this.#filterTimeoutMs, leftMs));
    try {
      const found = this.#searched({ allocator, time }, node, claims);
      seen.set(node, found);
      return found;
    } catch (error) {
      if (!(error instanceof DeviceAllocationError) || error.scope !== 'time') throw error;
      time.breakOff();
      const what = `node ${node.metadata?.name}: timed out trying to allocate devices`;
      const all = `${what} for ${namesOfClaims(claims)}: searching has taken ${time.words}`;
      throw new Error(isOwnLimit ? what : all, { cause: error });
    }
  }

  #searched({ allocator, time }: Omit<NodeSearches, 'seen'>, node: SearchedNode, claims: readonly ResourceClaim[]): FoundOnNode {
    const startedAt = this.#elapsed();
    try {
      const found = allocator.allocate(node, claims);
      return found?.length === claims.length ? found : 'cannot allocate all claims';
    } catch (error) {
      if (error instanceof DeviceAllocationError && error.scope === 'node') return errorText(error);
      throw error;
    } finally {
      if (!this.#isUnlimited) time.end(startedAt);
    }
  }

  /** Whoever runs the scheduler wants it so. */
  get #isUnlimited(): boolean {
    return this.#filterTimeoutMs === 0;
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
    const tracker = new ClaimTracker(handle.objects(resources.resourceClaims) as unknown as WatchedClaims, clock);
    return { tracker, writer: new ClaimWriter({ client: handle.client, tracker, clock }), accounts: new SearchAccounts(clock) };
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
