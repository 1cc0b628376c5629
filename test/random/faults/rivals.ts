import type { WirePod } from '../../../src/index.ts';
import type { AdminClient } from '../../support/admin-client.ts';
import { podListOf, podOf, type ServedPod } from '../../support/answers.ts';
import { Prng } from '../chaos/prng.ts';
import { Controller, type RivalWrite } from '../chaos/rivals/controller.ts';
import { drawUserDeed } from '../chaos/rivals/user.ts';
import type { Ledger } from '../chaos/said/ledger.ts';
import { pause, persist } from './pause.ts';
import { mirrorManifest, podManifest, podNames } from './pods.ts';

export interface RivalsOptions {
  readonly admin: AdminClient;
  readonly namespace: string;
  readonly pods: number;
  readonly seed: number;
  readonly ledger: Ledger;
  /** How long each controller waits between two writes, on average. */
  readonly pauseMs: number;
}

const podsGoingAtOnce = 10;
/** Pods whose Ready each controller takes away at the end. */
const lastWords = 5;

/** The other writers: controllers that write to pods, users that delete and recreate pods and mirror pods. */
export class Rivals {
  readonly acts = new Map<string, number>();
  readonly #options: RivalsOptions;
  readonly #prng: Prng;
  readonly #ordinary: string[];
  readonly #fixed: string[];
  readonly #controllers: readonly Controller[];
  readonly #busy = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #giveUp = new AbortController();
  #acting = false;
  #loops: Promise<void>[] = [];

  constructor(options: RivalsOptions) {
    this.#options = options;
    this.#prng = new Prng(options.seed).fork('rivals');
    const { ordinary, fixed } = podNames(options.pods);
    this.#ordinary = ordinary;
    this.#fixed = fixed;
    const controller = (name: string, type: string): Controller =>
      new Controller(name, [type], this.#prng.fork(name), options.ledger);
    this.#controllers = [controller('gates', 'rivals.example/gate'), controller('evictions', 'DisruptionTarget')];
  }

  async createPods(): Promise<void> {
    const manifests = [...this.#ordinary.map((name) => podManifest(name, this.#prng)), ...this.#fixed.map(mirrorManifest)];
    while (manifests.length > 0) await Promise.all(manifests.splice(0, 20).map((manifest) => this.#create(manifest)));
  }

  start(): void {
    this.#acting = true;
    this.#loops = [...this.#controllers.map((controller) => this.#control(controller)), this.#deletePods()];
  }

  /**
   * Takes Ready away from some pods, for the agent says nothing more of them then; begins nothing else. Resolves when what was
   * begun has ended; gives up what takes longer than `timeoutMs`.
   */
  async finish(timeoutMs: number): Promise<void> {
    this.#acting = false;
    const timer = setTimeout(() => this.#giveUp.abort(), timeoutMs);
    await Promise.all(this.#loops);
    for (const controller of this.#controllers) await this.#takeReadyAway(controller).catch(() => {});
    await Promise.all([...this.#tasks, ...this.#controllers.map((controller) => this.#letGo(controller).catch(() => {}))]);
    clearTimeout(timer);
  }

  /** One write after another, so that each is made of what the one before left. */
  async #control(controller: Controller): Promise<void> {
    while (this.#acting) {
      await pause(this.#prng.between(0, 2 * this.#options.pauseMs));
      const names = this.#prng.weighted({ ordinary: 60, fixed: 10, going: 30 });
      const name =
        this.#prng.pick({ ordinary: this.#ordinary, fixed: this.#fixed, going: [...this.#busy] }[names]) ?? this.#ordinary[0];
      const pod = await this.#find(name ?? '').catch(() => undefined);
      if (pod !== undefined) await this.#write(pod, controller.write(pod)).catch(() => {});
    }
  }

  async #takeReadyAway(controller: Controller): Promise<void> {
    for (const name of this.#prng.shuffled([...this.#ordinary, ...this.#fixed]).slice(0, lastWords)) {
      const pod = await this.#find(name);
      if (pod !== undefined) await this.#write(pod, controller.takeReadyAway(pod));
    }
  }

  /** Takes this controller's finalizer away from all pods. */
  async #letGo(controller: Controller): Promise<void> {
    const { admin, namespace } = this.#options;
    for (;;) {
      const { items } = await persist(async () => podListOf(await admin.listPods(namespace)), this.#giveUp.signal);
      const held = items.filter((pod) => controller.holds(pod));
      for (const pod of held) await this.#write(pod, controller.letGo(pod));
      if (held.length === 0) return;
    }
  }

  async #write(pod: ServedPod, { kind, subresource, body, takeBack }: RivalWrite): Promise<void> {
    const { admin, namespace } = this.#options;
    const { name } = pod.metadata;
    this.#count(kind);
    // sent again until the server answers: a second write has no further effect
    const status = await persist(async () => {
      const answer =
        subresource === 'status' ? admin.patchPodStatus(namespace, name, body) : admin.patchPod(namespace, name, body);
      const { status } = await answer;
      if (status >= 500 || status === 429 || status === 409) throw new Error(`answered ${status}`);
      return status;
    }, this.#giveUp.signal);
    if (status >= 400) takeBack();
  }

  async #deletePods(): Promise<void> {
    while (this.#acting) {
      await pause(this.#prng.between(50, 250));
      const deed = drawUserDeed(this.#prng);
      const mirror = deed === 'remove its mirror';
      const name = this.#prng.pick(mirror ? this.#fixed : this.#ordinary) ?? '';
      if (this.#busy.has(name) || this.#busy.size >= podsGoingAtOnce) continue;
      this.#busy.add(name);
      this.#count(deed);
      const idleMs = mirror || deed === 'remove it by force' ? this.#prng.between(0, 400) : 0;
      const next = mirror ? mirrorManifest(name) : podManifest(name, this.#prng);
      const task = this.#replace(name, next, { kill: deed !== 'ask it to end', idleMs })
        .catch(() => {})
        .finally(() => {
          this.#busy.delete(name);
          this.#tasks.delete(task);
        });
      this.#tasks.add(task);
    }
  }

  /** Deletes a pod, by force or with grace, and makes another of its name once it is gone. */
  async #replace(name: string, next: WirePod, { kill, idleMs }: { kill: boolean; idleMs: number }): Promise<void> {
    const pod = await this.#find(name);
    if (pod !== undefined) {
      const { uid } = pod.metadata;
      // a pod that has ended goes at once, with grace or without
      this.#options.ledger.allowRemoval(uid, kill ? 'by force' : 'when it has ended');
      await this.#delete(name, uid, kill);
      while ((await this.#find(name))?.metadata.uid === uid) await pause(kill ? 20 : 50);
    }
    if (idleMs > 0) await pause(idleMs);
    await this.#create(next);
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
