import {
  BasicPodManager,
  isStaticPod,
  type Pod,
  StatusManager,
  type StatusManagerOptions,
  type WirePod,
  type WirePodStatus,
} from '../../../src/index.ts';
import { FakeClock, PodStore, settle } from '../../../src/testing.ts';
import { playMoreOp, resizeConditionsOf, wire, withResizeConditions } from './more-ops.ts';
import { ReplayClient, type Write } from './replay-client.ts';
import type { Notification, ResizeConditions, Scenario, ServerPod, Step } from './scenario.ts';

export type Variant = Pick<StatusManagerOptions, 'fetchBeforePatch' | 'patchFormat'>;

/** What ours did in one step, in the recorded form. */
export interface Outcome {
  readonly changed: boolean | undefined;
  readonly result: unknown;
  readonly resizeConditions: ResizeConditions;
  readonly notifications: readonly Notification[];
  readonly writes: readonly Write[];
  /** Pods whose requests failed on demand in this step, and those for which failures are still to come. */
  readonly failed: ReadonlySet<string>;
  readonly cache: Readonly<Record<string, WirePodStatus>>;
  readonly server: Readonly<Record<string, ServerPod>>;
  /** Pods ("namespace/name") whose newest object on the server the pod manager has not seen. */
  readonly unobserved: ReadonlySet<string>;
  /** The server asked the whole client to wait, and the wait was on in this step. */
  readonly paused: boolean;
}

/** What the replay's server asks for with a 429. */
const pauseMs = 1000;

/** A scenario under way: the manager as its users see it, in virtual time. */
export class Player {
  readonly #clock: FakeClock;
  readonly #store: PodStore;
  readonly #client: ReplayClient;
  readonly #podManager = new BasicPodManager();
  readonly #manager: StatusManager;
  readonly #known = new Map<string, Pod>();
  readonly #couldRun = new Set<string>();
  #notifications: Notification[] = [];
  #result: unknown;
  #throttled = 0;
  #pausedUntil = 0;

  constructor(scenario: Scenario, variant: Variant) {
    this.#clock = new FakeClock({ start: new Date(scenario.start) });
    this.#store = new PodStore({ validate: false, fillIns: false, clock: this.#clock });
    this.#client = new ReplayClient(this.#store);
    this.#manager = new StatusManager({
      podClient: this.#client,
      podManager: this.#podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => !isStaticPod(pod) && this.#couldRun.has(pod.metadata?.uid ?? ''),
        podResourcesAreReclaimed: () => true,
      },
      terminateWhenReclaimed: false,
      clock: this.#clock,
      random: () => 0.5,
      ...variant,
    });
    this.#manager.on('podUpdated', ({ pod, isAdded }) => this.#notified('updated', pod, isAdded));
    this.#manager.on('podRemoved', ({ pod }) => this.#notified('removed', pod, false));
    this.#manager.start();
  }

  async play(step: Step): Promise<Outcome> {
    this.#notifications = [];
    this.#result = undefined;
    this.#client.writes.length = 0;
    this.#client.failed.clear();
    const begun = this.#clock.now();
    const changed = await this.#apply(step);
    await settle(3);
    if (this.#client.throttled > this.#throttled) this.#pausedUntil = this.#clock.now() + pauseMs;
    this.#throttled = this.#client.throttled;
    return {
      changed,
      result: this.#result,
      resizeConditions: resizeConditionsOf(this.#manager, this.#known.keys()),
      notifications: this.#notifications,
      writes: [...this.#client.writes],
      failed: new Set(this.#client.failed),
      cache: this.#cache(),
      server: this.#server(),
      unobserved: this.#unobserved(),
      paused: begun <= this.#pausedUntil,
    };
  }

  async stop(): Promise<void> {
    await this.#manager.stop({ drainTimeoutMs: 0 });
  }

  async #apply(step: Step): Promise<boolean | undefined> {
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
        const pod = this.#stored(namespace, name);
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
        this.#client.fail(step.verb ?? 'patch', `${namespace}/${name}`, step.code ?? 500, step.times ?? 1);
        return undefined;
      case 'podDeletionSafety.couldHaveRunningContainers':
        if (step.value) this.#couldRun.add(podUID);
        else this.#couldRun.delete(podUID);
        return undefined;
      case 'advance':
        await this.#clock.advance((step.seconds ?? 0) * 1000);
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

  #stored(namespace: string, name: string): WirePod | undefined {
    return this.#store.list({ namespace }).find(({ metadata }) => metadata?.name === name);
  }

  #notified(type: Notification['type'], pod: Pod, isAdded: boolean): void {
    const podUID = pod.metadata?.uid ?? '';
    this.#notifications.push(isAdded ? { type, podUID, isAdded } : { type, podUID });
  }

  #cache(): Record<string, WirePodStatus> {
    const cache: Record<string, WirePodStatus> = {};
    for (const podUID of this.#known.keys()) {
      const status = this.#manager.getPodStatus(podUID);
      if (status !== undefined) cache[podUID] = wire(status);
    }
    return cache;
  }

  #server(): Record<string, ServerPod> {
    const server: Record<string, ServerPod> = {};
    for (const { metadata, status = {} } of this.#store.list()) {
      const { namespace, name, uid = '', deletionTimestamp } = metadata ?? {};
      server[`${namespace}/${name}`] = deletionTimestamp ? { uid, deleting: true, status } : { uid, status };
    }
    return server;
  }

  #unobserved(): Set<string> {
    const { allPods, allMirrorPods } = this.#podManager.getPodsAndMirrorPods();
    const seen = new Map([...allPods, ...allMirrorPods].map((pod) => [pod.metadata?.uid, pod]));
    const unobserved = new Set<string>();
    const stored = new Set<string | undefined>();
    for (const { metadata } of this.#store.list()) {
      stored.add(metadata?.uid);
      const isNewest = seen.get(metadata?.uid)?.metadata?.resourceVersion === metadata?.resourceVersion;
      if (!isNewest) unobserved.add(`${metadata?.namespace}/${metadata?.name}`);
    }
    for (const [uid, pod] of seen) {
      const isRemoved = pod.metadata?.resourceVersion !== undefined && !stored.has(uid);
      if (isRemoved) unobserved.add(`${pod.metadata?.namespace}/${pod.metadata?.name}`);
    }
    return unobserved;
  }
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the step names nothing it needs');
  return value;
}
