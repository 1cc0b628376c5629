import { isMirrorPod, type WirePod } from '../../../src/index.ts';
import { buildMirrorPodOf, buildStaticPod } from '../../../src/testing.ts';
import { drawShape, specOf } from '../chaos/life/pod-shape.ts';
import type { Prng } from '../chaos/prng.ts';
import { secondOf } from '../chaos/said/voice.ts';
import type { ManagerProcess } from './manager-process.ts';
import type { World } from './simulation-world.ts';

/** The node's agent: at random moments it changes pods and tells its manager. It outlives its processes. */
export class Agent {
  readonly #world: World;
  readonly #prng: Prng;
  readonly #staticPods: readonly WirePod[];
  #mirrorsMade = 0;

  constructor(world: World, staticPods: number) {
    this.#world = world;
    this.#prng = world.prng.fork('agent');
    this.#staticPods = Array.from({ length: staticPods }, (_, i) =>
      buildStaticPod({ metadata: { name: `static-${i}` }, spec: specOf(drawShape(this.#prng, ['Always'])) }),
    );
  }

  /** Does one thing to one pod, or to every pod at once. */
  act(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    const { tender } = this.#world;
    const prng = this.#prng;
    const pods = process.podManager.getPods() as WirePod[];
    const unreported = this.#unreported(process);
    const deleting = pods.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined);
    const first = unreported ?? prng.pick(deleting);
    const pod = first !== undefined && prng.chance(0.5) ? first : prng.pick(pods);
    if (prng.chance(0.05)) for (const each of pods) tender.tend(process.voice, each);
    else if (pod !== undefined) tender.tend(process.voice, pod);
    if (prng.chance(0.04)) process.flush(prng.int(0, 30_000));
    if (prng.chance(0.03)) process.reconcile(pod?.metadata?.uid ?? 'no-such-uid');
    if (prng.chance(0.05)) this.#makeMirrors();
    if (prng.chance(0.1)) this.tidyUp();
    if (prng.chance(0.03)) process.loseHints();
  }

  /** Sets a status for each pod that has none in this process, and corrects the statuses that the apiserver refused. */
  catchUp(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    const { tender } = this.#world;
    this.#makeMirrors();
    this.#stopWhatHasEnded(process);
    for (let pod = this.#unreported(process); pod !== undefined; pod = this.#unreported(process))
      tender.report(process.voice, pod);
    for (const pod of process.podManager.getPods() as WirePod[]) tender.correct(process.voice, pod);
    this.tidyUp();
  }

  /** Ends the containers of pods that are gone, and drops their statuses. */
  tidyUp(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    const uids = new Set(process.podManager.getPods().map((pod) => pod.metadata?.uid ?? ''));
    for (const life of this.#world.ledger.lives()) {
      if (!uids.has(life.uid) && life.couldRun && this.#prng.chance(0.5)) life.endAll(this.#now());
    }
    if (this.#world.removesOrphans) {
      process.voice.forget(process.voice.uids.filter((uid) => !uids.has(uid)));
      process.manager.removeOrphanedStatuses(uids);
    }
    process.checkBounds();
  }

  /** Stops some containers of pods whose phase the agent has called terminal, and does not say so: the manager has to ask. */
  #stopWhatHasEnded(process: ManagerProcess): void {
    for (const pod of process.podManager.getPods()) {
      const life = this.#world.ledger.life(pod.metadata?.uid ?? '');
      // with `always` each batch reads a pod whose phase is held back: such a pod is not quiet
      const all = this.#world.tuning.fetchBeforePatch === 'always';
      if (life?.saysPhase !== undefined && life.couldRun && (all || this.#prng.chance(0.01))) life.endAll(this.#now());
    }
  }

  #upProcess(): ManagerProcess | undefined {
    const { process } = this.#world;
    if (!process?.isUp) return undefined;
    for (const pod of this.#staticPods)
      if (!process.podManager.getPodByUID(pod.metadata?.uid ?? '')) process.podManager.addPod(pod);
    return process;
  }

  #unreported(process: ManagerProcess): WirePod | undefined {
    return process.podManager.getPods().find(({ metadata }) => !process.hasStatusOf(metadata?.uid ?? '')) as WirePod | undefined;
  }

  #makeMirrors(): void {
    const { server, log } = this.#world;
    for (const pod of this.#staticPods) {
      const { namespace = '', name = '' } = pod.metadata ?? {};
      const found = server.find(namespace, name);
      if (found !== undefined && isMirrorPod(found)) continue;
      log.step(() => `agent: a mirror pod for ${name}`);
      server.store.put(buildMirrorPodOf(pod, { metadata: { uid: `mirror-${++this.#mirrorsMade}-of-${name}`, generation: 1 } }));
    }
  }

  #now(): string {
    return secondOf(this.#world.clock.elapsedMs + this.#world.wallOffsetMs);
  }
}
