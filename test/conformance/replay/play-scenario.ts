import {
  BasicPodManager,
  isStaticPod,
  type Pod,
  type PodClient,
  StatusManager,
  type StatusManagerOptions,
  type WirePod,
  type WirePodStatus,
} from '../../../src/index.ts';
import { FakeClock, PodStore, settle } from '../../../src/testing.ts';
import { withoutSubscribe } from '../../support/without-subscribe.ts';
import { playMoreOp, resizeConditionsOf, wire, withResizeConditions } from './more-ops.ts';
import { type Arrived, ReplayClient } from './replay-client.ts';
import type { Notification, ResizeConditions, Scenario, ServerPod, Step } from './replay-scenario.ts';

export type Variant = Required<Pick<StatusManagerOptions, 'fetchBeforePatch' | 'patchFormat'>>;

/** What the manager draws as its random numbers: which share of a backoff it waits. */
export const jitter = 0.5;

/** A wrapper between the manager and the server. A test of the replay puts a broken one there. */
export type Interpose = (client: PodClient) => PodClient;

/** What ours did in one step, in the recorded form. */
export interface Outcome {
  readonly changed: boolean | undefined;
  readonly result: unknown;
  readonly resizeConditions: ResizeConditions;
  readonly notifications: readonly Notification[];
  readonly arrived: readonly Arrived[];
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  /** What the operation made of its pod's status, before anything was sent: the entry may be gone when the step ends. */
  readonly written: Readonly<Record<string, WirePodStatus>>;
  readonly server: Readonly<Record<string, ServerPod>>;
  /** The resourceVersion of each pod on the server, by "namespace/name". */
  readonly versions: Readonly<Record<string, string>>;
  /** What the pod manager shows, mirror pods too: uid to resourceVersion ('' for a pod that has none). */
  readonly shown: Readonly<Record<string, string>>;
}

/** Plays a whole scenario, without a look at what is expected. */
export async function play(scenario: Scenario, variant: Variant, interpose?: Interpose): Promise<Outcome[]> {
  const player = new Player(scenario, variant, interpose);
  const outcomes: Outcome[] = [];
  try {
    for (const step of scenario.steps) outcomes.push(await player.play(step));
    return outcomes;
  } finally {
    await player.stop();
  }
}

/** A scenario under way: the manager as its users see it, in virtual time. */
class Player {
  readonly #clock: FakeClock;
  readonly #store: PodStore;
  readonly #client: ReplayClient;
  readonly #podManager = new BasicPodManager();
  readonly #manager: StatusManager;
  readonly #known = new Map<string, Pod>();
  readonly #couldRun = new Set<string>();
  /** The last view of each pod's status, in the form it has on the wire: a view is made once a version. */
  readonly #seen = new Map<string, { readonly view: unknown; readonly status: WirePodStatus }>();
  #notifications: Notification[] = [];
  #result: unknown;

  constructor(scenario: Scenario, variant: Variant, interpose: Interpose = (client) => client) {
    this.#clock = new FakeClock({ start: new Date(scenario.start) });
    this.#store = new PodStore({ validate: false, fillIns: false, clock: this.#clock });
    this.#client = new ReplayClient({ store: this.#store, clock: this.#clock, cachedStatus: (uid) => this.#cached(uid) });
    this.#manager = new StatusManager({
      logger: null,
      podClient: interpose(this.#client),
      // the kubelet's manager is not told of changes, so our manager is not told of them here
      podManager: withoutSubscribe(this.#podManager),
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => !isStaticPod(pod) && this.#couldRun.has(pod.metadata?.uid ?? ''),
        podResourcesAreReclaimed: () => true,
      },
      terminateWhenReclaimed: false,
      clock: this.#clock,
      random: () => jitter,
      ...variant,
    });
    this.#manager.on('podUpdated', ({ pod, isAdded }) => this.#notified('updated', pod, isAdded));
    this.#manager.on('podRemoved', ({ pod }) => this.#notified('removed', pod, false));
    this.#manager.start();
  }

  async play(step: Step): Promise<Outcome> {
    this.#notifications = [];
    this.#result = undefined;
    this.#client.arrived.length = 0;
    const changed = this.#apply(step);
    const written = this.#cacheOf(step.podUID === undefined ? [] : [step.podUID]);
    if (step.op === 'advance') await this.#clock.advance((step.seconds ?? 0) * 1000);
    await settle(3);
    return {
      changed,
      result: this.#result,
      resizeConditions: resizeConditionsOf(this.#manager, this.#known.keys()),
      notifications: this.#notifications,
      arrived: [...this.#client.arrived],
      cache: this.#cacheOf(this.#known.keys()),
      written,
      shown: this.#shown(),
      ...this.#stored(),
    };
  }

  async stop(): Promise<void> {
    await this.#manager.stop({ drainTimeoutMs: 0 });
  }

  #apply(step: Step): boolean | undefined {
    const { namespace = '', name = '', podUID = '' } = step;
    switch (step.op) {
      case 'podManager.add':
        this.#remember(given(step.pod), (pod) => this.#podManager.addPod(pod));
        return undefined;
      case 'podManager.update':
        this.#remember(given(step.pod), (pod) => this.#podManager.updatePod(pod));
        return undefined;
      case 'podManager.remove': {
        const pod = this.#pod(podUID);
        if (pod !== undefined) this.#podManager.removePod(pod);
        return undefined;
      }
      case 'podManager.observe': {
        const pod = this.#store.list({ namespace }).find(({ metadata }) => metadata?.name === name);
        if (pod !== undefined) this.#remember(pod, (observed) => this.#podManager.updatePod(observed));
        return undefined;
      }
      case 'apiserver.put':
        this.#store.put(given(step.pod));
        return undefined;
      case 'apiserver.remove':
        this.#store.remove(namespace, name);
        return undefined;
      case 'apiserver.fail':
        this.#client.fail(step.verb ?? 'patch', `${namespace}/${name}`, step.code ?? 500, step.times ?? 0);
        return undefined;
      case 'podDeletionSafety.couldHaveRunningContainers':
        if (step.value) this.#couldRun.add(podUID);
        else this.#couldRun.delete(podUID);
        return undefined;
      case 'advance':
        return undefined;
      default:
        return this.#operate(step, podUID);
    }
  }

  #operate(step: Step, podUID: string): boolean | undefined {
    const { containerID = '', value = false } = step;
    switch (step.op) {
      case 'setPodStatus':
        return this.#manager.setPodStatus(given(this.#pod(podUID)), this.#status(step, podUID));
      case 'setContainerReadiness':
        this.#manager.setContainerReadiness(podUID, containerID, value);
        return undefined;
      case 'setContainerStartup':
        this.#manager.setContainerStartup(podUID, containerID, value);
        return undefined;
      case 'terminatePod':
        this.#manager.terminatePod(given(this.#pod(podUID)));
        return undefined;
      case 'removeOrphanedStatuses':
        this.#manager.removeOrphanedStatuses(new Set(step.podUIDs));
        return undefined;
      default:
        this.#result = playMoreOp(this.#manager, step, (uid) => this.#pod(uid));
        return undefined;
    }
  }

  #status(step: Step, podUID: string): WirePodStatus {
    const status = given(step.status);
    return step.withResizeConditions ? withResizeConditions(this.#manager, podUID, status) : status;
  }

  #remember(pod: Pod, hand: (pod: Pod) => void): void {
    this.#known.set(pod.metadata?.uid ?? '', pod);
    hand(pod);
  }

  /** The pod manager's, else the last one seen with that uid. */
  #pod(podUID: string): Pod | undefined {
    return this.#podManager.getPodByUID(podUID) ?? this.#known.get(podUID);
  }

  #notified(type: Notification['type'], pod: Pod, isAdded: boolean): void {
    const podUID = pod.metadata?.uid ?? '';
    this.#notifications.push(isAdded ? { type, podUID, isAdded } : { type, podUID });
  }

  #cached(podUID: string): WirePodStatus | undefined {
    const view = this.#manager.getPodStatus(podUID);
    if (view === undefined) return undefined;
    const last = this.#seen.get(podUID);
    const seen = last?.view === view ? last : { view, status: wire<WirePodStatus>(view) };
    this.#seen.set(podUID, seen);
    return seen.status;
  }

  #cacheOf(podUIDs: Iterable<string>): Record<string, WirePodStatus> {
    const entries = [...podUIDs].map((podUID) => [podUID, this.#cached(podUID)] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, WirePodStatus] => entry[1] !== undefined));
  }

  #stored(): Pick<Outcome, 'server' | 'versions'> {
    const server: Record<string, ServerPod> = {};
    const versions: Record<string, string> = {};
    for (const { metadata, status = {} } of this.#store.list()) {
      const { namespace, name, uid = '', deletionTimestamp, resourceVersion = '' } = metadata ?? {};
      server[`${namespace}/${name}`] = deletionTimestamp ? { uid, deleting: true, status } : { uid, status };
      versions[`${namespace}/${name}`] = resourceVersion;
    }
    return { server, versions };
  }

  #shown(): Record<string, string> {
    const { allPods, allMirrorPods } = this.#podManager.getPodsAndMirrorPods();
    const pods: readonly WirePod[] = [...allPods, ...allMirrorPods] as WirePod[];
    return Object.fromEntries(pods.map(({ metadata }) => [metadata?.uid ?? '', metadata?.resourceVersion ?? '']));
  }
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the step names nothing it needs');
  return value;
}
