import type { WireNode, WirePod } from '../../../../../src/api/json/types.ts';
import { type ApiObject, resources } from '../../../../../src/client/resources/api-resource.ts';
import { ApiError } from '../../../../../src/client/transport/api-error.ts';
import { DeviceAllocationError } from '../../../../../src/scheduler/devices/device-allocation-error.ts';
import { type ClaimAllocation, deviceKey, type ResourceClaim } from '../../../../../src/scheduler/devices/device-types.ts';
import type { ClusterObjects } from '../../../../../src/scheduler/framework/cluster-objects.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../../../src/scheduler/framework/framework.ts';
import type { ChangeAction, Plugin, PluginHandle } from '../../../../../src/scheduler/framework/plugin.ts';
import type { SchedulerClient } from '../../../../../src/scheduler/framework/scheduler-client.ts';
import { createPodInfo, type PodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import type { AllocatorNeeds } from '../../../../../src/scheduler/plugins/devices/device-searches.ts';
import { dynamicResourcesBy } from '../../../../../src/scheduler/plugins/devices/dynamic-resources.ts';
import { FakeClock, settle } from '../../../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects, type GivenObjects } from '../../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../../support/framework-context.ts';
import { noSchedulerClient } from '../../../../support/no-scheduler-client.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../../support/node-snapshots.ts';
import { barePod } from '../../../../support/pods.ts';

type Metadata = NonNullable<ApiObject['metadata']>;
type Result = Partial<NonNullable<NonNullable<ClaimAllocation['devices']>['results']>[number]>;

/** A class that every claim here asks for. */
const gpuClass = { metadata: { name: 'gpu' }, spec: {} };

/** A claim of the namespace `d` for one device of the class `gpu`. */
export function claimOf(name: string, status: object = {}, metadata: Metadata = {}): ResourceClaim {
  return {
    metadata: { name, namespace: 'd', uid: `u-${name}`, resourceVersion: '20', ...metadata },
    spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpu' } }] } },
    status,
  } as unknown as ResourceClaim;
}

/** The devices of the pool `n1`, unless more is said. */
export function allocationOf(...devices: readonly (string | Result)[]): ClaimAllocation {
  const results = devices.map((device) => ({
    request: 'one',
    driver: 'gpu.example.com',
    pool: 'n1',
    ...(typeof device === 'string' ? { device } : { device: 'a', ...device }),
  }));
  return { devices: { results } } as ClaimAllocation;
}

/** Who uses a claim. */
export function reservedFor(...pods: readonly string[]): object[] {
  return pods.map((name) => ({ resource: 'pods', name, uid: `u-${name}` }));
}

/** A pod of the namespace `d` with these claims. */
export function podWith(name: string, ...claims: readonly string[]): WirePod {
  return barePod({
    metadata: { name, namespace: 'd', uid: `u-${name}` },
    spec: {
      containers: [],
      resourceClaims: claims.map((resourceClaimName, index) => ({ name: `c${index}`, resourceClaimName })),
    },
  });
}

/** A pod of the namespace `d` that asks for these resources. */
export function podAsking(name: string, requests: Readonly<Record<string, string>>, ...claims: readonly string[]): WirePod {
  const pod = podWith(name, ...claims);
  return { ...pod, spec: { ...pod.spec, containers: [{ name: 'main', resources: { requests } }] } } as WirePod;
}

/** A write that the client was asked for. */
export interface AskedWrite {
  /** `status d/c`, `object d/c`, `make d/p-`, `delete d/c`, or `pod d/p`. */
  readonly what: string;
  readonly patch: unknown;
  readonly signal: AbortSignal;
  /** The server takes it, or refuses another version; the watch brings it, if `isSeen`. */
  take(isSeen?: boolean): void;
  /** The server takes it, and its answer is lost. */
  takeUnheard(isSeen?: boolean): void;
  refuse(error: Error): void;
}

export interface ClaimWorldOptions {
  readonly nodes?: readonly string[];
  /** What each node has for pods. */
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly args?: unknown;
  readonly client?: Partial<SchedulerClient>;
  /** By the node's name, the devices that it has. Default: `a` and `b` on each. */
  readonly devices?: Readonly<Record<string, readonly string[]>>;
  /** What stands in for the search for devices. */
  readonly allocate?: (
    needs: AllocatorNeeds,
    node: string,
    claims: readonly ResourceClaim[],
  ) => readonly ClaimAllocation[] | undefined;
}

/** The plugin for claims, and a server that takes what it is asked for at once unless `holds`. */
export class ClaimWorld {
  readonly clock = new FakeClock();
  readonly objects: ClusterObjects;
  readonly handle: PluginHandle;
  readonly plugin: Plugin;
  readonly asked: AskedWrite[] = [];
  readonly told: string[] = [];
  /** As the server has it. */
  readonly #server = new Map<string, ResourceClaim>();
  readonly #nodes: readonly WireNode[];
  readonly #devices: Readonly<Record<string, readonly string[]>> | undefined;
  holds = false;
  /** So much has passed while the plugin was at work. */
  laterMs = 0;
  #version = 100;

  constructor(given: GivenObjects, options: ClaimWorldOptions = {}) {
    const { nodes = ['n1'], allocatable = {}, args, client, devices, allocate } = options;
    this.objects = clusterObjects({ deviceClasses: [gpuClass], resourceSlices: [], resourceClaims: [], ...given });
    for (const claim of this.claims.list()) this.#server.set(claim.metadata?.name ?? '', claim);
    this.#nodes = nodes.map((name) => ({ metadata: { name, labels: { host: name } }, status: { allocatable } }));
    this.#devices = devices;
    const context = frameworkContext({
      snapshot: () => this.snapshot(),
      objects: this.objects,
      clock: {
        now: () => this.clock.now(),
        elapsed: () => this.clock.elapsed() + this.laterMs,
        setTimer: (callback, delayMs) => this.clock.setTimer(callback, delayMs),
      },
      client: {
        ...noSchedulerClient,
        patchObject: (_resource, object, patch, signal) => this.#patch('object', object, patch, signal),
        patchObjectStatus: (_resource, object, patch, signal) => this.#patch('status', object, patch, signal),
        createObject: (_resource, object, signal) => this.#make(object, signal),
        deleteObject: (_resource, object, signal) => this.#delete(object, signal),
        patchStatus: ({ metadata }, change, signal) => this.#ask(`pod d/${metadata?.name}`, change, signal, () => {}),
        getObject: async (_resource, { metadata }) => this.#read(metadata?.name ?? '') as never,
        event: ({ reason, note }) => this.told.push(`${reason}: ${note}`),
        ...client,
      },
    });
    this.handle = new Framework(context, () => ({ schedulerName: 'test', plugins: [], weights: new Map() }));
    const search = allocate ?? ((needs, node, claims) => this.#search(needs, node, claims));
    this.plugin = dynamicResourcesBy(
      (needs) => ({ allocate: (node, claims) => search(needs, node.metadata?.name ?? '', claims) }),
      args,
      this.handle,
    );
  }

  get claims() {
    const lister = this.objects.lister(resources.resourceClaims);
    return {
      list: () => lister.list() as unknown as readonly ResourceClaim[],
      get: (name: string) => lister.get('d', name) as unknown as ResourceClaim,
    };
  }

  snapshot() {
    return nodeSnapshotOf(this.#nodes.map((node) => createNodeInfo(node, [])));
  }

  /** What the plugin has against the pod, or each node that it has anything against. */
  judge(pod: WirePod, state = new CycleState()): unknown {
    const [snapshot, info] = [this.snapshot(), createPodInfo(pod)];
    const answer = this.plugin.preFilter?.(state, info, snapshot);
    if (answer === 'skip') return 'skip';
    if (answer !== undefined && 'reasons' in answer) return answer.reasons.join();
    const failed = snapshot.nodes.map((node) => [node.name, this.plugin.filter?.(state, info, node)?.reasons.join()]);
    return Object.fromEntries(failed.filter(([, reasons]) => reasons !== undefined));
  }

  /** The pod has its node, and the devices that it needs. */
  place(pod: WirePod, nodeName = 'n1'): PlacedWithClaims {
    const state = new CycleState();
    const answer = this.judge(pod, state);
    if (typeof answer !== 'object' || nodeName in (answer as object)) throw new Error(`does not fit: ${JSON.stringify(answer)}`);
    this.plugin.reserve?.(state, createPodInfo(pod), nodeName);
    return new PlacedWithClaims(this.plugin, createPodInfo(pod), nodeName, state);
  }

  /** What the plugin does so that the pod fits: what it says, and what it wants to be done. */
  makeRoom(pod: WirePod): { readonly message: string | undefined; readonly changes: readonly ChangeAction[] } {
    const state = new CycleState();
    this.judge(pod, state);
    const answer = this.plugin.postFilter?.(state, createPodInfo(pod), new Map());
    return { message: answer?.message, changes: (answer?.actions ?? []).filter((action) => action.kind === 'change') };
  }

  /** Somebody changes the claim; the watch brings it, if `isSeen`. */
  change(claim: ResourceClaim, isSeen = true): ResourceClaim {
    this.#version += 1;
    const changed = { ...claim, metadata: { ...claim.metadata, resourceVersion: `${this.#version}` } } as ResourceClaim;
    this.#server.set(claim.metadata?.name ?? '', changed);
    if (isSeen) this.see(changed);
    return changed;
  }

  /** The watch brings the claim. */
  see(claim: ResourceClaim | undefined): void {
    if (claim !== undefined) this.objects.set(resources.resourceClaims, claim as unknown as ApiObject);
  }

  /** The claim as the server has it. */
  server(name: string): ResourceClaim | undefined {
    return this.#server.get(name);
  }

  delete(name: string): void {
    this.#server.delete(name);
    this.objects.delete(resources.resourceClaims, 'd', name);
  }

  #read(name: string): ResourceClaim {
    const claim = this.#server.get(name);
    if (claim === undefined) throw new ApiError({ status: 404, reason: 'NotFound', message: `${name} not found` });
    return claim;
  }

  /** The first device that nobody has, for each claim. */
  #search(needs: AllocatorNeeds, node: string, claims: readonly ResourceClaim[]): readonly ClaimAllocation[] | undefined {
    const free = (this.#devices === undefined ? ['a', 'b'] : (this.#devices[node] ?? [])).filter(
      (device) => !needs.allocated.devices.has(deviceKey({ driver: 'gpu.example.com', pool: node, device })),
    );
    if (needs.isOverdue()) throw new DeviceAllocationError('time', 'late');
    if (free.length < claims.length) return undefined;
    return claims.map((_, index) => allocationOf({ device: free[index] as string, pool: node }));
  }

  #make<T extends ApiObject>(object: T, signal: AbortSignal): Promise<T> {
    return this.#ask(`make d/${object.metadata?.generateName}`, object, signal, (isSeen) => {
      this.#version += 1;
      const name = `${object.metadata?.generateName}${this.#version}`;
      return this.change({ ...object, metadata: { ...object.metadata, name, uid: `u-${name}` } } as never, isSeen) as never;
    });
  }

  #delete<T extends ApiObject>({ metadata }: T, signal: AbortSignal): Promise<void> {
    const name = metadata?.name ?? '';
    return this.#ask(`delete d/${name}`, undefined, signal, (isSeen) => {
      this.#server.delete(name);
      if (isSeen) this.delete(name);
    });
  }

  #patch<T extends ApiObject>(what: string, object: T, patch: object, signal: AbortSignal): Promise<T> {
    const { name = '', resourceVersion, uid } = object.metadata ?? {};
    return this.#ask(`${what} d/${name}`, patch, signal, (isSeen) => {
      const stored = this.#server.get(name);
      if (stored?.metadata?.resourceVersion !== resourceVersion || stored?.metadata?.uid !== uid)
        throw new ApiError({ status: 409, reason: 'Conflict', message: `${name}: the object has been modified` });
      return this.change(merged(stored, patch) as ResourceClaim, isSeen) as never;
    });
  }

  /** `work` is what the server does; the watch brings it where it is asked to. */
  #ask<T>(what: string, patch: unknown, signal: AbortSignal, work: (isSeen: boolean) => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const take = (isSeen: boolean, then: (answer: T) => void): void => {
      try {
        then(work(isSeen));
      } catch (error) {
        reject(error);
      }
    };
    const lost = (): void => reject(new ApiError({ status: 504, reason: 'Timeout', message: 'the answer was lost' }));
    const asked: AskedWrite = {
      what,
      patch,
      signal,
      take: (isSeen = true) => take(isSeen, resolve),
      takeUnheard: (isSeen = true) => take(isSeen, lost),
      refuse: reject,
    };
    this.asked.push(asked);
    if (!this.holds) asked.take();
    return promise;
  }
}

function merged(object: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const members = { ...(object as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete members[key];
    else members[key] = merged(members[key], value);
  }
  return members;
}

/** A pod that has its node. */
export class PlacedWithClaims {
  readonly controller = new AbortController();
  readonly undoing = new AbortController();
  readonly info: PodInfo;
  readonly state: CycleState;
  /** Undefined while the plugin is at work; then the message of what it threw, or `bound`. */
  end: string | undefined;
  readonly #plugin: Plugin;
  readonly #nodeName: string;

  constructor(plugin: Plugin, info: PodInfo, nodeName: string, state: CycleState) {
    this.#plugin = plugin;
    this.info = info;
    this.#nodeName = nodeName;
    this.state = state;
  }

  get preFlight(): unknown {
    return this.#plugin.preBindPreFlight?.(this.state, this.info, this.#nodeName);
  }

  get awaited(): string | undefined {
    return this.#plugin.preBindWaitsFor?.(this.state, this.info, this.#nodeName);
  }

  /** Begins what is to be done before the pod is bound. */
  async bind(): Promise<this> {
    this.#bind().then(
      () => {
        this.end = 'bound';
      },
      (error: unknown) => {
        this.end = error instanceof Error ? error.message : String(error);
      },
    );
    await settle();
    return this;
  }

  async #bind(): Promise<void> {
    await this.#plugin.preBind?.(this.state, this.info, this.#nodeName, this.controller.signal);
  }

  async unreserve(): Promise<void> {
    const undone = this.#plugin.unreserve?.(this.state, this.info, this.#nodeName, this.undoing.signal);
    void Promise.resolve(undone).catch(() => {});
    await settle();
  }
}
