import type { WireNode, WirePersistentVolume, WirePersistentVolumeClaim, WirePod } from '../../../../../src/api/json/types.ts';
import { type ApiObject, type ApiResource, resources } from '../../../../../src/client/resources/api-resource.ts';
import type { ClusterObjects } from '../../../../../src/scheduler/framework/cluster-objects.ts';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../../../src/scheduler/framework/framework.ts';
import type { Plugin, PluginFactory, PluginHandle } from '../../../../../src/scheduler/framework/plugin.ts';
import type { SchedulerClient } from '../../../../../src/scheduler/framework/scheduler-client.ts';
import type { Snapshot } from '../../../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { volumeBinding } from '../../../../../src/scheduler/plugins/volumes/volume-binding.ts';
import { FakeClock, settle } from '../../../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects, type GivenObjects } from '../../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../../support/framework-context.ts';
import { noSchedulerClient } from '../../../../support/no-scheduler-client.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../../support/node-snapshots.ts';
import { barePod } from '../../../../support/pods.ts';

type Spec<T extends { spec?: unknown }> = Partial<NonNullable<T['spec']>>;
type Metadata = NonNullable<ApiObject['metadata']>;
type Volume = NonNullable<NonNullable<WirePod['spec']>['volumes']>[number];

export const zoneLabel = 'topology.kubernetes.io/zone';
const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };

/** A node in a zone. */
export function zoneNode(name: string, zone = 'a'): WireNode {
  return { metadata: { name, labels: { [zoneLabel]: zone } } };
}

/** A class whose volumes wait for a pod's node. */
export const lateClass = {
  metadata: { name: 'late' },
  provisioner: 'csi.example.com',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/** A free volume of 5 GiB of the class `late`, in a zone or everywhere. */
export function volumeOf(name: string, zone?: string, spec: Spec<WirePersistentVolume> = {}, metadata: Metadata = {}): object {
  const matchExpressions = [{ key: zoneLabel, operator: 'In', values: [zone] }];
  return {
    metadata: { name, uid: `u-${name}`, resourceVersion: '10', ...metadata },
    spec: {
      storageClassName: 'late',
      capacity: { storage: '5Gi' },
      accessModes: ['ReadWriteOnce'],
      ...(zone !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } }),
      ...spec,
    },
    status: { phase: 'Available' },
  };
}

/** A claim of the namespace `d` for 1 GiB of the class `late`. */
export function claimOf(name: string, spec: Spec<WirePersistentVolumeClaim> = {}, metadata: Metadata = {}): object {
  return {
    metadata: { name, namespace: 'd', uid: `u-${name}`, resourceVersion: '20', ...metadata },
    spec: {
      storageClassName: 'late',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
    status: { phase: 'Pending' },
  };
}

/** A claim that has its volume. */
export function boundClaim(name: string, volumeName: string, spec: Spec<WirePersistentVolumeClaim> = {}): object {
  return claimOf(name, { volumeName, ...spec }, { annotations: bound });
}

/** A pod of the namespace `d` with these claims, or other volumes. */
export function podWith(name: string, ...volumes: readonly (string | Omit<Volume, 'name'>)[]): WirePod {
  return barePod({
    metadata: { name, namespace: 'd', uid: `u-${name}` },
    spec: {
      containers: [],
      volumes: volumes.map((one, index) => ({
        name: `v${index}`,
        ...(typeof one === 'string' ? { persistentVolumeClaim: { claimName: one } } : one),
      })),
    },
  });
}

/** A patch that the client was asked for. */
export interface AskedPatch {
  /** `PersistentVolume/pv1`. */
  readonly what: string;
  readonly patch: unknown;
  readonly signal: AbortSignal;
  /** The server takes it, or refuses another version; the watch brings it. */
  take(): void;
  /** The server takes it, and its answer is lost. */
  takeUnheard(): void;
  refuse(error: Error): void;
}

export interface VolumeWorldOptions {
  readonly nodes?: readonly WireNode[];
  readonly args?: unknown;
  readonly factory?: PluginFactory;
  /** What the client cannot do, or does otherwise. */
  readonly client?: Partial<SchedulerClient>;
}

/** One plugin for volumes, in a cluster with these objects, and a server that takes what it is asked for at once unless `holds`. */
export class VolumeWorld {
  readonly clock = new FakeClock();
  readonly objects: ClusterObjects;
  readonly handle: PluginHandle;
  readonly plugin: Plugin;
  readonly asked: AskedPatch[] = [];
  holds = false;
  nodes: readonly WireNode[];
  #version = 100;

  constructor(given: GivenObjects, { nodes = [zoneNode('n1')], args, factory = volumeBinding, client }: VolumeWorldOptions = {}) {
    this.objects = clusterObjects({ storageClasses: [lateClass], ...given });
    this.nodes = nodes;
    const patchObject: NonNullable<SchedulerClient['patchObject']> = (resource, object, patch, signal) =>
      this.#patch(resource, object, patch, signal);
    const context = frameworkContext({
      snapshot: () => this.snapshot(),
      node: (name) => this.nodes.find(({ metadata }) => metadata?.name === name),
      objects: this.objects,
      clock: this.clock,
      client: { ...noSchedulerClient, patchObject, ...client },
    });
    this.handle = new Framework(context, () => ({ schedulerName: 'test', plugins: [], weights: new Map() }));
    this.plugin = factory(args, this.handle);
  }

  snapshot(pods: Readonly<Record<string, readonly WirePod[]>> = {}): Snapshot {
    return nodeSnapshotOf(
      this.nodes.map((node) =>
        createNodeInfo(
          node,
          (pods[node.metadata?.name ?? ''] ?? []).map((pod) => createPodInfo(pod)),
        ),
      ),
    );
  }

  /** What the plugin has against the pod, or each node that it has anything against. */
  judge(pod: WirePod, pods: Readonly<Record<string, readonly WirePod[]>> = {}, state = new CycleState()): unknown {
    const snapshot = this.snapshot(pods);
    const info = createPodInfo(pod);
    const answer = this.plugin.preFilter?.(state, info, snapshot);
    if (answer === 'skip') return 'skip';
    if (answer !== undefined && 'reasons' in answer) return answer.reasons.join();
    const failed = snapshot.nodes.map((node) => [node.name, this.plugin.filter?.(state, info, node)?.reasons.join()]);
    return Object.fromEntries(failed.filter(([, reasons]) => reasons !== undefined));
  }

  /** The pod has its node, and what it needs of volumes. */
  place(pod: WirePod, nodeName = 'n1'): PlacedWithVolumes {
    const state = new CycleState();
    const answer = this.judge(pod, {}, state);
    if (typeof answer !== 'object' || nodeName in (answer as object)) throw new Error(`does not fit: ${JSON.stringify(answer)}`);
    this.plugin.reserve?.(state, createPodInfo(pod), nodeName);
    return new PlacedWithVolumes(this.plugin, pod, nodeName, state);
  }

  set(name: 'persistentVolumes' | 'persistentVolumeClaims', object: object, version?: string): void {
    this.#version += 1;
    const { metadata } = object as ApiObject;
    this.objects.set(resources[name], { ...object, metadata: { ...metadata, resourceVersion: version ?? `${this.#version}` } });
  }

  /** The object as the watch has brought it. */
  get(name: 'persistentVolumes' | 'persistentVolumeClaims', objectName: string): ApiObject {
    const { namespaced } = resources[name];
    return this.objects.lister<ApiObject>(resources[name]).get(namespaced ? 'd' : undefined, objectName) as ApiObject;
  }

  /** Whoever binds volumes has finished with the claim. */
  finish(claimName: string, volumeName: string): void {
    const claim = this.get('persistentVolumeClaims', claimName) as WirePersistentVolumeClaim;
    const annotations = { ...claim.metadata?.annotations, ...bound };
    this.set('persistentVolumeClaims', {
      ...claim,
      metadata: { ...claim.metadata, annotations },
      spec: { ...claim.spec, volumeName },
    });
  }

  #patch<T extends ApiObject>(resource: ApiResource<T>, object: T, patch: object, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { namespace, name = '', resourceVersion } = object.metadata ?? {};
    const take = (): T | undefined => {
      const stored = this.objects.lister(resource).get(namespace, name);
      if (stored?.metadata?.resourceVersion !== resourceVersion) {
        reject(new Error(`${name}: the object has been modified`));
        return undefined;
      }
      this.#version += 1;
      const taken = merged({ ...stored, metadata: { ...stored?.metadata, resourceVersion: `${this.#version}` } }, patch) as T;
      this.objects.set(resource, taken);
      return taken;
    };
    const asked: AskedPatch = {
      what: `${resource.kind}/${name}`,
      patch,
      signal,
      take: () => {
        const taken = take();
        if (taken !== undefined) resolve(taken);
      },
      takeUnheard: () => {
        take();
        reject(new Error('the answer was lost'));
      },
      refuse: reject,
    };
    this.asked.push(asked);
    if (!this.holds) asked.take();
    return promise;
  }
}

function merged(object: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null) return patch;
  const members = Object.entries(patch).map(([key, value]) => [key, merged((object as Record<string, unknown>)?.[key], value)]);
  return { ...(object as object), ...Object.fromEntries(members) };
}

/** A pod that has its node. */
export class PlacedWithVolumes {
  readonly state: CycleState;
  readonly controller = new AbortController();
  /** Undefined while the plugin is at work; then the message of what it threw, or `bound`. */
  end: string | undefined;
  readonly #plugin: Plugin;
  readonly #pod: WirePod;
  readonly #nodeName: string;

  constructor(plugin: Plugin, pod: WirePod, nodeName: string, state: CycleState) {
    this.#plugin = plugin;
    this.#pod = pod;
    this.#nodeName = nodeName;
    this.state = state;
  }

  get preFlight(): unknown {
    return this.#plugin.preBindPreFlight?.(this.state, createPodInfo(this.#pod), this.#nodeName);
  }

  get awaited(): string | undefined {
    return this.#plugin.preBindWaitsFor?.(this.state, createPodInfo(this.#pod), this.#nodeName);
  }

  /** Begins what is to be done before the pod is bound. */
  async bind(): Promise<this> {
    this.#bind().then(
      () => {
        this.end = 'bound';
      },
      ({ message }: Error) => {
        this.end = message;
      },
    );
    await settle();
    return this;
  }

  async #bind(): Promise<void> {
    await this.#plugin.preBind?.(this.state, createPodInfo(this.#pod), this.#nodeName, this.controller.signal);
  }

  unreserve(): void {
    void this.#plugin.unreserve?.(this.state, createPodInfo(this.#pod), this.#nodeName, new AbortController().signal);
  }
}
