import type { WirePod } from 'pod-status-manager';
import { type AdminClient, statusOf } from './admin-client.ts';
import { pause } from './pause.ts';
import { Random } from './random.ts';

/** The label of every pod of a run, and of its virtual node; the value is the id of the run. */
export const runLabel = 'virtual-node.example/run';
const holder = 'virtual-node.example/holder';

export interface PodOwnersOptions {
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly runID: string;
  /** Makes the pod of one life. `suffix` makes its name its own. */
  readonly makePod: (suffix: string, random: Random) => WirePod;
  readonly pods: number;
  /** How many seconds the lives are measured by. */
  readonly pace: number;
  readonly seed: number;
  /** The shortest and the longest life, by the pace. */
  readonly life: readonly [number, number];
  /** How often the next pod gets the name of the one before, as a StatefulSet's does. */
  readonly sameName: number;
}

export interface PodRef {
  readonly name: string;
  readonly uid: string;
}

/** An owner of one pod at a time. */
interface Owner {
  pod: PodRef | undefined;
}

/** The owners of the pods, one for each: an owner creates its pod, lets it live, deletes it, and creates the next one. */
export class PodOwners {
  created = 0;
  recreated = 0;
  deleted = 0;
  forced = 0;
  /** Requests that failed and were made again. */
  failures = 0;
  lastFailure = '';
  /** Pods that were created and not deleted yet, by uid. */
  readonly alive = new Map<string, PodRef>();
  readonly #options: PodOwnersOptions;
  readonly #owners: readonly Owner[];

  constructor(options: PodOwnersOptions) {
    this.#options = options;
    this.#owners = Array.from({ length: options.pods }, () => ({ pod: undefined }));
  }

  /** Resolves when the signal has aborted and no request is under way. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#owners.map((owner, slot) => this.#own(owner, slot, signal)));
  }

  /** Creates a pod that belongs to nobody. Tries again until the signal aborts. */
  async add(pod: WirePod, signal: AbortSignal): Promise<PodRef | undefined> {
    const { admin, namespace, runID } = this.#options;
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata?.labels, [runLabel]: runID } } };
    for (;;) {
      try {
        const { metadata } = await admin.createPod(namespace, labelled);
        const ref = { name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
        this.created++;
        this.alive.set(ref.uid, ref);
        return ref;
      } catch (error) {
        // the name may still be taken, and a new namespace has no service account at first
        const isTaken = statusOf(error) === 409;
        if (!isTaken) this.#note(error);
        if (!(await pause(isTaken ? 100 : 500, signal))) return undefined;
      }
    }
  }

  async delete({ name, uid }: PodRef, force = false): Promise<void> {
    this.alive.delete(uid);
    if (force) this.forced++;
    else this.deleted++;
    await this.#unlessGone(this.#options.admin.deletePod(this.#options.namespace, name, uid, force ? 0 : undefined));
  }

  /** Deletes the pod of one owner by force, and creates another one under its name; without `again` the owner has none for a time. */
  async replace(random: Random, signal: AbortSignal, again = true): Promise<string | undefined> {
    const owner = random.pick(this.#owners.filter(({ pod }) => pod !== undefined && this.alive.has(pod.uid)));
    if (owner?.pod === undefined) return undefined;
    const { name } = owner.pod;
    const { metadata, ...rest } = this.#options.makePod(name, random);
    await this.delete(owner.pod, true);
    owner.pod = again ? await this.add({ ...rest, metadata: { ...metadata, name } }, signal) : undefined;
    if (again) this.recreated++;
    return name;
  }

  /** Some of the pods. */
  pick(random: Random, count: number): PodRef[] {
    const left = [...this.alive.values()];
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(Math.floor(random.next() * left.length), 1),
    ).flat();
  }

  /** Changes the pod's metadata, so that everybody who watches it looks at it again. */
  async touch(pod: PodRef): Promise<void> {
    await this.#patch(pod, { annotations: { 'virtual-node.example/touched': String(Date.now()) } });
  }

  /** Lets the pod stay though it is deleted. Returns a function that lets it go. */
  async hold(pod: PodRef): Promise<() => Promise<void>> {
    await this.#patch(pod, { finalizers: [holder] });
    await this.delete(pod);
    return () => this.#patch(pod, { finalizers: null });
  }

  #patch({ name, uid }: PodRef, metadata: object): Promise<void> {
    const { admin, namespace } = this.#options;
    return this.#unlessGone(admin.patchPod(namespace, name, { metadata: { uid, ...metadata } }));
  }

  async #own(owner: Owner, slot: number, signal: AbortSignal): Promise<void> {
    const { pods, pace, seed, makePod, life, sameName } = this.#options;
    const random = new Random(seed, slot);
    let name: string | undefined;
    if (!(await pause((slot / pods) * Math.min(5000, pace * 250), signal))) return;
    for (let turn = 0; ; turn++) {
      const pod = makePod(`${slot}-${turn}`, random);
      if (name !== undefined) this.recreated++;
      owner.pod = await this.add(name === undefined ? pod : { ...pod, metadata: { ...pod.metadata, name } }, signal);
      if (!(await pause(random.between(...life) * pace * 1000, signal))) return;
      const { pod: last } = owner;
      if (last !== undefined && this.alive.has(last.uid)) await this.delete(last, random.chance(0.12));
      name = random.chance(sameName) ? last?.name : undefined;
    }
  }

  async #unlessGone(request: Promise<unknown>): Promise<void> {
    try {
      await request;
    } catch (error) {
      if (![404, 409].includes(statusOf(error) ?? 0)) this.#note(error);
    }
  }

  #note(error: unknown): void {
    this.failures++;
    this.lastFailure = error instanceof Error ? error.message : String(error);
  }
}
