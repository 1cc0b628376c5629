import type { Pod, PodStatus, WirePod, WirePodCondition } from '../../../src/api/json/types.ts';
import { isStaticPod } from '../../../src/api/pod/pod-identity.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { buildMirrorPodOf, buildPod, buildStaticPod } from '../../../src/testing/fakes/builders.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { type PodEvent, PodStore } from '../../../src/testing/pods-api/pod-store.ts';
import { foreignTypes, type WorldOptions } from './operations.ts';
import { markerOf } from './statuses.ts';
import { UnrulyClient } from './unruly-client.ts';

const namespace = 'default';
export const slotNames = ['pod-0', 'pod-1', 'never-2', 'static-3'] as const;
const finished = new Set<string | undefined>(['Failed', 'Succeeded']);

export interface SafetyAnswers {
  running: boolean;
  reclaimed: boolean;
}

/** One agent, one manager and one server. The world sees every write of the manager and records violations. */
export class World {
  readonly clock = new FakeClock();
  readonly podManager = new BasicPodManager();
  readonly store: PodStore;
  readonly client: UnrulyClient;
  readonly manager: StatusManager;
  /** The pod of each name as the agent knew it last. */
  readonly known = new Map<string, Pod>();
  readonly safety = new Map<string, SafetyAnswers>();
  readonly violations: string[] = [];
  marker = 0;
  #uids = 0;
  #byCluster = false;
  /** The marker of each version, by `${uid}/${version}`. */
  readonly #markers = new Map<string, number>();
  /** The highest acknowledged marker, by API uid. */
  readonly #acknowledged = new Map<string, number>();
  /** The last answer of `podCouldHaveRunningContainers`, by pod name. */
  readonly #lastAnswers = new Map<string, boolean>();
  /** True when containers could run at the time of the newest patch, by pod name. */
  readonly #runningAtPatch = new Map<string, boolean>();

  constructor({ strictServer, reclaimed, ...options }: WorldOptions) {
    for (const name of slotNames) this.safety.set(name, { running: false, reclaimed });
    this.store = new PodStore({ validate: strictServer, fillIns: strictServer, clock: this.clock });
    this.client = new UnrulyClient(this.store, (name) => this.#notePatch(name));
    const answer = (pod: Pod): SafetyAnswers => this.answers(pod.metadata?.name ?? '');
    this.manager = new StatusManager({
      logger: null,
      ...options,
      podClient: this.client,
      podManager: this.podManager,
      podDeletionSafety: {
        podCouldHaveRunningContainers: (pod) => {
          this.#lastAnswers.set(pod.metadata?.name ?? '', answer(pod).running);
          return answer(pod).running;
        },
        podResourcesAreReclaimed: (pod) => answer(pod).reclaimed,
      },
      clock: this.clock,
      random: () => 0.5,
    });
    this.store.watch((event) => this.#byCluster || this.#judge(event));
    this.manager.on('synced', ({ podUID, version }) => this.#onSynced(podUID, version));
    for (const name of slotNames) {
      if (name.startsWith('static'))
        this.podManager.addPod(this.#remember(buildStaticPod({ metadata: { name }, spec: twoContainers })));
      this.recreate(name);
      this.deliver(name);
    }
    this.manager.start();
  }

  answers(name: string): SafetyAnswers {
    return this.safety.get(name) ?? { running: true, reclaimed: false };
  }

  onServer(name: string): WirePod | undefined {
    return this.store.list({ namespace }).find((pod) => pod.metadata?.name === name);
  }

  /** Stores a change by another writer. */
  cluster(pod: object): void {
    this.#byCluster = true;
    this.store.put(pod);
    this.#byCluster = false;
  }

  vanish(name: string): void {
    this.#byCluster = true;
    this.store.remove(namespace, name);
    this.#byCluster = false;
  }

  /** Gives the name to another pod; for a static pod, makes a mirror pod with a new uid. */
  recreate(name: string): void {
    const uid = `uid-${++this.#uids}`;
    const known = this.known.get(name);
    const spec = { ...twoContainers, ...(name.startsWith('never') && { restartPolicy: 'Never' }) };
    if (known !== undefined && isStaticPod(known)) this.cluster(buildMirrorPodOf(known as WirePod, { metadata: { uid } }));
    else this.cluster(buildPod({ metadata: { name, uid }, spec }));
  }

  /** The watch brings the agent's pod manager up to date with the server, for one name. */
  deliver(name: string): void {
    const pod = this.onServer(name);
    const known = this.known.get(name);
    const held = known && isStaticPod(known) ? this.podManager.getMirrorPodByPod(known) : known;
    if (held !== undefined && held.metadata?.uid !== pod?.metadata?.uid) this.podManager.removePod(held);
    if (pod === undefined) return;
    this.podManager.addPod(pod);
    if (known === undefined || !isStaticPod(known)) this.#remember(pod);
  }

  /** Records the marker of the entry's newest version. */
  note(podUID: string): void {
    const { version } = this.manager.explain(podUID);
    if (version !== undefined) this.#markers.set(`${podUID}/${version}`, markerOf(this.manager.getPodStatus(podUID)));
  }

  /** The manager has dropped the entry, and with it the acknowledged version. */
  forget(podUID: string): void {
    const apiUID = this.manager.explain(podUID).apiUID ?? podUID;
    this.#acknowledged.delete(apiUID);
    for (const key of [...this.#markers.keys()]) if (key.startsWith(`${podUID}/`)) this.#markers.delete(key);
  }

  /** A request repeated with new credentials is the old decision: the answer at the time of that decision counts. */
  #notePatch(name: string): () => void {
    const running = this.answers(name).running && this.#lastAnswers.get(name) !== false;
    const note = (): void => {
      this.#runningAtPatch.set(name, running);
    };
    note();
    return note;
  }

  #remember<P extends Pod>(pod: P): P {
    this.known.set(pod.metadata?.name ?? '', pod);
    return pod;
  }

  #onSynced(podUID: string, version: number): void {
    const marker = this.#markers.get(`${podUID}/${version}`);
    const { apiUID } = this.manager.explain(podUID);
    if (marker === undefined || apiUID === undefined) return;
    this.#acknowledged.set(apiUID, Math.max(marker, this.#acknowledged.get(apiUID) ?? 0));
  }

  /** Checks every write of the manager when it takes effect. */
  #judge({ type, object, previous }: PodEvent): void {
    const { name = '', uid = '' } = object.metadata ?? {};
    if (type === 'DELETED') {
      const { deletionTimestamp, annotations } = previous?.metadata ?? {};
      const isMirror = annotations?.['kubernetes.io/config.mirror'] !== undefined;
      if (deletionTimestamp === undefined || isMirror || !finished.has(previous?.status?.phase))
        this.violations.push(`${name} deleted`);
      return;
    }
    const before = foreignConditions(previous?.status);
    const after = foreignConditions(object.status);
    if (before !== after) this.violations.push(`${name}: foreign conditions ${before} became ${after}`);
    const ends = finished.has(object.status?.phase) && !finished.has(previous?.status?.phase);
    if (ends && this.#runningAtPatch.get(name) !== false) this.violations.push(`${name} ended while containers may run`);
    const acknowledged = this.#acknowledged.get(uid) ?? 0;
    const marker = markerOf(object.status);
    if (marker < acknowledged) this.violations.push(`${name}: ${marker} written over ${acknowledged}`);
  }
}

const twoContainers = { containers: ['a', 'b'].map((name) => ({ name, image: 'pause' })) };

function foreignConditions(status: PodStatus | undefined): string {
  const conditions = (status?.conditions ?? []) as WirePodCondition[];
  const foreign = conditions.filter(({ type }) => foreignTypes.some((one) => one === type));
  // the server writes unset times as null
  const unset = (_key: string, value: unknown): unknown => value ?? undefined;
  return JSON.stringify(
    foreign.toSorted((a, b) => (a.type < b.type ? -1 : 1)),
    unset,
  );
}
