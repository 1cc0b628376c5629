import { BasicPodManager } from '../../../src/pod/basic-pod-manager.ts';
import type { PodDeletionSafety } from '../../../src/pod/pod-deletion-safety.ts';
import type { PodManager } from '../../../src/pod/pod-manager.ts';
import type { StatusManagerEvents } from '../../../src/status/events/status-manager-events.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import type { StatusManagerOptions } from '../../../src/status/status-manager-options.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient, type FakePodClientOptions, type PodVerb } from '../../../src/testing/fakes/fake-pod-client.ts';
import type { PodStatus, WirePod, WirePodStatus } from '../../../src/wire/types.ts';

export { settle };

type Metadata = NonNullable<WirePod['metadata']>;
export type PodParts = Omit<WirePod, 'metadata'> & { readonly metadata?: Partial<Metadata> };

/** Upstream's base pod: uid 12345678, foo in new. */
export function testPod({ metadata, ...rest }: PodParts = {}): WirePod & { metadata: Metadata & { uid: string; name: string } } {
  return { metadata: { uid: '12345678', name: 'foo', namespace: 'new', ...metadata }, ...rest };
}

/** Metadata of a pod that is being deleted, with time left. */
export const deleting = { deletionTimestamp: '1999-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } as const;

/** A pod of its own per number: uid `uid-n`, `pod-n` in default. */
export function numberedPod(n: number): ReturnType<typeof testPod> {
  return testPod({ metadata: { uid: `uid-${n}`, name: `pod-${n}`, namespace: 'default' } });
}

export const readyStatus = (status: 'True' | 'False'): WirePodStatus => ({ conditions: [{ type: 'Ready', status }] });

let lastNumber = 0;
/** A status unlike every other. */
export function randomStatus(): WirePodStatus {
  lastNumber += 1;
  return { message: `message ${lastNumber}` };
}

export interface HarnessOptions extends Partial<Omit<StatusManagerOptions, 'podClient' | 'clock'>> {
  readonly client?: FakePodClientOptions;
  /** Default true. */
  readonly started?: boolean;
  /** False hides the pod manager's `subscribe`: the manager then finds changes at its next batch. Default true. */
  readonly subscribed?: boolean;
}

/** A started manager over a fake clock, a fake client and a real pod manager. Waits are half of their ceiling. */
export class Harness {
  readonly clock = new FakeClock();
  readonly client: FakePodClient;
  readonly podManager: BasicPodManager;
  readonly manager: StatusManager;
  /** What the deletion safety answers; change it at will. */
  readonly safety = { running: false, reclaimed: false };

  constructor({ client, started = true, subscribed = true, ...options }: HarnessOptions = {}) {
    const safety: PodDeletionSafety = {
      podCouldHaveRunningContainers: () => this.safety.running,
      podResourcesAreReclaimed: () => this.safety.reclaimed,
    };
    this.client = new FakePodClient(client);
    this.podManager = (options.podManager as BasicPodManager | undefined) ?? new BasicPodManager();
    this.manager = new StatusManager({
      podManager: subscribed ? this.podManager : withoutSubscribe(this.podManager),
      podDeletionSafety: safety,
      random: () => 0.5,
      ...options,
      podClient: this.client,
      clock: this.clock,
    });
    if (started) this.manager.start();
  }

  /** The pod is on the apiserver, and the pod manager has seen it there. */
  publish<P extends WirePod>(pod: P): P {
    const stored = this.client.store.put(pod);
    this.podManager.addPod(stored);
    return stored as P;
  }

  /** The pod is on the apiserver; the pod manager has a copy that says nothing of a resourceVersion. */
  publishBlind<P extends WirePod>(pod: P): P {
    this.client.store.put(pod);
    this.podManager.addPod(pod);
    return pod;
  }

  /** The watch delivers what the apiserver has. */
  observe(pod: WirePod): void {
    this.podManager.updatePod(this.api(pod));
  }

  /** The apiserver's copy. */
  api(pod: WirePod): WirePod {
    return this.client.store.get(pod.metadata?.namespace ?? '', pod.metadata?.name ?? '');
  }

  apiStatus(pod: WirePod): WirePodStatus {
    return this.api(pod).status ?? {};
  }

  /** Somebody else writes this status to the apiserver. */
  rival(pod: WirePod, status: WirePodStatus): void {
    const current = this.api(pod);
    this.client.store.put({ ...current, status: { ...current.status, ...status } });
  }

  /** Sets a status, lets everything happen that needs no time, and says which requests that made. */
  async set(pod: WirePod, status: PodStatus): Promise<PodVerb[]> {
    this.manager.setPodStatus(pod, status);
    return this.calls();
  }

  /** The requests since the last question, once all that needs no time has happened. */
  async calls(): Promise<PodVerb[]> {
    await settle();
    const verbs = this.client.verbs();
    this.client.clearActions();
    return verbs;
  }

  /** The requests of the next batch. */
  async batch(): Promise<PodVerb[]> {
    await this.clock.advance(10_000);
    return this.calls();
  }

  /** Every event of one kind from now on. */
  record<Name extends keyof StatusManagerEvents>(name: Name): StatusManagerEvents[Name][0][] {
    const seen: StatusManagerEvents[Name][0][] = [];
    this.manager.on(name, (...[event]) => seen.push(event as StatusManagerEvents[Name][0]));
    return seen;
  }
}

/** The four methods that every pod manager has. */
export function withoutSubscribe(podManager: PodManager): PodManager {
  return {
    getPodByUID: (uid) => podManager.getPodByUID(uid),
    getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
    translatePodUID: (uid) => podManager.translatePodUID(uid),
    getUIDTranslations: () => podManager.getUIDTranslations(),
  };
}

/** Upstream's way: a GET before every PATCH, and a pod ends only by `terminatePod`. */
export const asUpstream = { fetchBeforePatch: 'always', terminateWhenReclaimed: false } as const;
