import { Random } from '../../examples/virtual-node/random.ts';
import type { AdminClient } from '../support/admin-client.ts';
import { podOf, type ServedPod } from '../support/answers.ts';
import { foreignPrefix, type Journal } from './journal.ts';
import { pause, persist } from './pause.ts';
import { mirrorManifest, podManifest, podNames } from './pods.ts';

export interface RivalsOptions {
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly pods: number;
  readonly seed: number;
  readonly journal: Journal;
}

/** Everybody else: controllers that write conditions, users that delete and recreate pods, whoever takes mirror pods away. */
export class Rivals {
  readonly acts = new Map<string, number>();
  readonly #options: RivalsOptions;
  readonly #random: Random;
  readonly #ordinary: string[];
  readonly #fixed: string[];
  readonly #busy = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #giveUp = new AbortController();
  #acting = false;
  #loops: Promise<void>[] = [];
  #step = 0;

  constructor(options: RivalsOptions) {
    this.#options = options;
    this.#random = new Random(options.seed, 4);
    const { ordinary, fixed } = podNames(options.pods);
    this.#ordinary = ordinary;
    this.#fixed = fixed;
  }

  async createPods(): Promise<void> {
    const manifests = [...this.#ordinary.map(podManifest), ...this.#fixed.map(mirrorManifest)];
    while (manifests.length > 0) await Promise.all(manifests.splice(0, 20).map((manifest) => this.#create(manifest)));
  }

  start(): void {
    this.#acting = true;
    this.#loops = [this.#writeConditions(0), this.#writeConditions(1), this.#deletePods()];
  }

  /** Begins nothing more. What was begun is brought to its end, unless that takes longer than this. */
  async finish(timeoutMs: number): Promise<void> {
    this.#acting = false;
    const timer = setTimeout(() => this.#giveUp.abort(), timeoutMs);
    await Promise.all(this.#loops);
    await Promise.all(this.#tasks);
    clearTimeout(timer);
  }

  async #writeConditions(rival: number): Promise<void> {
    const type = `${foreignPrefix}Rival-${rival}`;
    const random = new Random(this.#options.seed, 5, rival);
    while (this.#acting) {
      await pause(random.between(5, 40));
      const name = random.pick(random.chance(0.9) ? this.#ordinary : this.#fixed) ?? '';
      await this.#writeCondition(name, type, random.chance(0.2)).catch(() => {});
    }
  }

  async #writeCondition(name: string, type: string, takeAway: boolean): Promise<void> {
    const { admin, namespace, journal } = this.#options;
    const answer = await persist(() => admin.getPod(namespace, name), this.#giveUp.signal);
    if (answer.status !== 200) return;
    const { uid } = podOf(answer).metadata;
    const isThere = journal.foreignSteps(uid, type).at(-1) !== undefined;
    const remove = takeAway && isThere;
    const condition = { type, status: 'True', reason: 'Rival', message: `step ${++this.#step}` };
    journal.foreignStep(uid, type, remove ? undefined : `True Rival ${condition.message}`);
    this.#count(remove ? 'conditions taken away' : 'conditions written');
    const conditions = [remove ? { type, $patch: 'delete' } : condition];
    const patch = { metadata: { uid }, status: { conditions } };
    // the same again until the server has spoken: writing it twice is writing it once
    await persist(async () => {
      const { status } = await admin.patchPodStatus(namespace, name, patch);
      if (status >= 500 || status === 429 || status === 409) throw new Error(`answered ${status}`);
    }, this.#giveUp.signal);
  }

  async #deletePods(): Promise<void> {
    while (this.#acting) {
      await pause(this.#random.between(50, 250));
      const mirror = this.#random.chance(0.15);
      const name = this.#random.pick(mirror ? this.#fixed : this.#ordinary) ?? '';
      if (this.#busy.has(name) || this.#busy.size >= 10) continue;
      this.#busy.add(name);
      const kill = mirror || this.#random.chance(0.4);
      const idle = this.#random.between(0, 400);
      const task = this.#replace(name, { mirror, kill, idleMs: mirror ? idle : 0 })
        .catch(() => {})
        .finally(() => {
          this.#busy.delete(name);
          this.#tasks.delete(task);
        });
      this.#tasks.add(task);
    }
  }

  /** Deletes a pod, by force or with grace, and makes another of its name as soon as it is gone. */
  async #replace(name: string, { mirror, kill, idleMs }: { mirror: boolean; kill: boolean; idleMs: number }): Promise<void> {
    const { journal } = this.#options;
    const pod = await this.#find(name);
    if (pod !== undefined) {
      const { uid } = pod.metadata;
      if (kill) journal.allowRemoval(uid);
      this.#count(mirror ? 'mirror pods removed' : kill ? 'pods removed by force' : 'pods asked to end');
      await this.#delete(name, uid, kill);
      while ((await this.#find(name))?.metadata.uid === uid) await pause(kill ? 20 : 50);
    }
    if (idleMs > 0) await pause(idleMs);
    await this.#create(mirror ? mirrorManifest(name) : podManifest(name));
  }

  async #find(name: string): Promise<ServedPod | undefined> {
    const { admin, namespace } = this.#options;
    return persist(async () => {
      const answer = await admin.getPod(namespace, name);
      if (this.#giveUp.signal.aborted) throw new Error('given up');
      return answer.status === 404 ? undefined : podOf(answer);
    }, this.#giveUp.signal);
  }

  async #delete(name: string, uid: string, kill: boolean): Promise<void> {
    const { admin, namespace } = this.#options;
    const options = { preconditions: { uid }, ...(kill ? { gracePeriodSeconds: 0 } : {}) };
    await persist(async () => {
      const { status } = await admin.deletePod(namespace, name, options);
      if (status >= 500 || status === 429) throw new Error(`answered ${status}`);
    }, this.#giveUp.signal);
  }

  async #create(manifest: object): Promise<void> {
    const { admin, namespace } = this.#options;
    await persist(async () => {
      const { status, body } = await admin.createPod(namespace, manifest);
      if (status !== 201 && status !== 409) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
    }, this.#giveUp.signal);
  }

  #count(act: string): void {
    this.acts.set(act, (this.acts.get(act) ?? 0) + 1);
  }
}
