import type { PodStatus, WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import type { StatusManagerEvents } from '../../../src/status/events/status-manager-events.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import type { PodDeletionSafety } from '../../../src/status/pods/pod-deletion-safety.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import type { StatusManagerOptions } from '../../../src/status/status-manager-options.ts';
import { FakeClock, settle } from '../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient, type FakePodClientOptions, type PodVerb } from '../../../src/testing/fakes/fake-pod-client.ts';
import { withoutSubscribe } from '../../support/without-subscribe.ts';

export { settle };

type Metadata = NonNullable<WirePod['metadata']>;
export type PodParts = Omit<WirePod, 'metadata'> & { readonly metadata?: Partial<Metadata> };

/** Upstream's base pod: uid 12345678, foo in new. */
export function testPod({ metadata, ...rest }: PodParts = {}): WirePod & { metadata: Metadata & { uid: string; name: string } } {
  return { metadata: { uid: '12345678', name: 'foo', namespace: 'new', ...metadata }, ...rest };
}

/** Metadata of a pod that is being deleted, with time left. */
export const deleting = { deletionTimestamp: '1999-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 } as const;

/** Another pod for each number: uid `uid-n`, `pod-n` in default. */
export function numberedPod(n: number): ReturnType<typeof testPod> {
  return testPod({ metadata: { uid: `uid-${n}`, name: `pod-${n}`, namespace: 'default' } });
}

export const readyStatus = (status: 'True' | 'False'): WirePodStatus => ({ conditions: [{ type: 'Ready', status }] });

let lastNumber = 0;
/** A status with a new message. */
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
  /** The answers of the deletion safety; a test may change them. */
  readonly safety = { running: false, reclaimed: false };

  constructor({ client, started = true, subscribed = true, ...options }: HarnessOptions = {}) {
    const safety: PodDeletionSafety = {
      podCouldHaveRunningContainers: () => this.safety.running,
      podResourcesAreReclaimed: () => this.safety.reclaimed,
    };
    this.client = new FakePodClient(client);
    this.podManager = (options.podManager as BasicPodManager | undefined) ?? new BasicPodManager();
    this.manager = new StatusManager({
      logger: null,
      podManager: subscribed ? this.podManager : withoutSubscribe(this.podManager),
      podDeletionSafety: safety,
      random: () => 0.5,
      ...options,
      podClient: this.client,
      clock: this.clock,
    });
    if (started) this.manager.start();
  }

  /** Puts the pod on the apiserver, and the stored copy into the pod manager. */
  publish<P extends WirePod>(pod: P): P {
    const stored = this.client.store.put(pod);
    this.podManager.addPod(stored);
    return stored as P;
  }

  /** Puts the pod on the apiserver, and a copy without a resourceVersion into the pod manager. */
  publishBlind<P extends WirePod>(pod: P): P {
    this.client.store.put(pod);
    this.podManager.addPod(pod);
    return pod;
  }

  /** Gives the apiserver's copy to the pod manager, as a watch does. */
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

  /** Writes this status to the apiserver, as another controller does. */
  rival(pod: WirePod, status: WirePodStatus): void {
    const current = this.api(pod);
    this.client.store.put({ ...current, status: { ...current.status, ...status } });
  }

  /** Sets a status, settles, and returns the verbs of the requests since the last call. */
  async set(pod: WirePod, status: PodStatus): Promise<PodVerb[]> {
    this.manager.setPodStatus(pod, status);
    return this.calls();
  }

  /** Settles, and returns the verbs of the requests since the last call. */
  async calls(): Promise<PodVerb[]> {
    await settle();
    const verbs = this.client.verbs();
    this.client.clearActions();
    return verbs;
  }

  /** Lets the next batch run, and returns the verbs of the requests since the last call. */
  async batch(): Promise<PodVerb[]> {
    await this.clock.advance(10_000);
    return this.calls();
  }

  /** Collects every event of one kind from now on. */
  record<Name extends keyof StatusManagerEvents>(name: Name): StatusManagerEvents[Name][0][] {
    const seen: StatusManagerEvents[Name][0][] = [];
    this.manager.on(name, (...[event]) => seen.push(event as StatusManagerEvents[Name][0]));
    return seen;
  }
}

/** As upstream: a GET before every PATCH, and only `terminatePod` finishes a pod. */
export const asUpstream = { fetchBeforePatch: 'always', terminateWhenReclaimed: false } as const;
