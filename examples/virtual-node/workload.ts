import { type AdminClient, statusOf } from './admin-client.ts';
import { pause } from './pause.ts';
import { pickKind, podTemplate } from './pod-template.ts';
import { Random } from './random.ts';

export interface WorkloadOptions {
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly nodeName: string;
  readonly runID: string;
  readonly pods: number;
  readonly seconds: number;
  readonly seed: number;
}

export interface PodRef {
  readonly name: string;
  readonly uid: string;
}

/**
 * The controllers that own the pods, one for each pod. A controller creates its pod, lets it live, deletes it (sometimes by
 * force) and creates the next one, sometimes under the same name as soon as that is free, as a StatefulSet does.
 */
export class Workload {
  created = 0;
  recreated = 0;
  forced = 0;
  failures = 0;
  lastFailure = '';
  /** Pods that were created and not deleted yet, by uid. */
  readonly alive = new Map<string, PodRef>();
  readonly #options: WorkloadOptions;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** Resolves when the signal has aborted and no request is in flight. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.pods }, (_, slot) => this.#own(slot, signal)));
  }

  async #own(slot: number, signal: AbortSignal): Promise<void> {
    const { pods, seconds, seed } = this.#options;
    const random = new Random(seed, slot);
    const rampMs = Math.min(10_000, seconds * 333);
    let name: string | undefined;
    if (!(await pause((slot / pods) * rampMs, signal))) return;
    for (let life = 0; ; life++) {
      const kind = pickKind(random);
      if (name !== undefined) this.recreated++;
      name ??= `${kind}-${slot}-${life}`;
      const pod = await this.#create(name, kind, random, signal);
      if (pod === undefined) return;
      if (!(await pause(random.between(0.25, 1.6) * seconds * 1000, signal))) return;
      await this.#delete(pod, random.chance(0.15));
      if (!random.chance(0.4)) name = undefined;
    }
  }

  /** Tries until it succeeds: the name may still be taken, and a new namespace has no service account at first. */
  async #create(
    name: string,
    kind: ReturnType<typeof pickKind>,
    random: Random,
    signal: AbortSignal,
  ): Promise<PodRef | undefined> {
    const { admin, namespace, nodeName, runID } = this.#options;
    const template = podTemplate({ name, kind, runID, nodeName, random });
    for (;;) {
      try {
        const pod = await admin.createPod(namespace, template);
        const ref = { name, uid: pod.metadata?.uid ?? '' };
        this.created++;
        this.alive.set(ref.uid, ref);
        return ref;
      } catch (error) {
        const isTaken = statusOf(error) === 409;
        if (!isTaken) this.#note(error);
        if (!(await pause(isTaken ? 100 : 500, signal))) return undefined;
      }
    }
  }

  async #delete({ name, uid }: PodRef, force: boolean): Promise<void> {
    const { admin, namespace } = this.#options;
    this.alive.delete(uid);
    if (force) this.forced++;
    try {
      await admin.deletePod(namespace, name, uid, force ? 0 : undefined);
    } catch (error) {
      const isGone = [404, 409].includes(statusOf(error) ?? 0);
      if (!isGone) this.#note(error);
    }
  }

  #note(error: unknown): void {
    this.failures++;
    this.lastFailure = error instanceof Error ? error.message : String(error);
  }
}
