import { isMirrorPod, isStaticPod, type WirePod } from '../../src/index.ts';
import { buildMirrorPodOf, buildStaticPod } from '../../src/testing.ts';
import type { ManagerProcess } from './manager-process.ts';
import { PodLife } from './pod-life.ts';
import type { Prng } from './prng.ts';
import type { World } from './world.ts';

const startedAt = '2030-01-01T00:00:00Z';

/** The node's agent: runs pods, and says of them what is true, at random moments. It outlives its processes. */
export class Agent {
  readonly #world: World;
  readonly #prng: Prng;
  readonly #staticPods: readonly WirePod[];
  #mirrorsMade = 0;

  constructor(world: World, staticPods: number) {
    this.#world = world;
    this.#prng = world.prng.fork('agent');
    this.#staticPods = Array.from({ length: staticPods }, (_, i) => buildStaticPod({ metadata: { name: `static-${i}` } }));
  }

  /** Does one thing. */
  act(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    const prng = this.#prng;
    const unreported = this.#unreported(process);
    const pod = unreported !== undefined && prng.chance(0.5) ? unreported : prng.pick(process.podManager.getPods());
    if (pod !== undefined) this.#tend(process, pod);
    if (prng.chance(0.03)) process.flush(prng.int(0, 30_000));
    if (prng.chance(0.03)) process.manager.reconcile(pod?.metadata?.uid ?? 'nobody');
    if (prng.chance(0.05)) this.#makeMirrors();
    if (prng.chance(0.1)) this.tidyUp();
  }

  /** Says something of every pod this process has said nothing of yet, and no more than that. */
  catchUp(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    this.#makeMirrors();
    this.#stopWhatHasEnded(process);
    for (let pod = this.#unreported(process); pod !== undefined; pod = this.#unreported(process)) {
      this.#report(process, pod, this.#lifeOf(pod));
    }
    this.tidyUp();
  }

  /** Ends the containers of pods that are gone, and drops their statuses. */
  tidyUp(): void {
    const process = this.#upProcess();
    if (process === undefined) return;
    const uids = new Set(process.podManager.getPods().map((pod) => pod.metadata?.uid ?? ''));
    for (const life of this.#world.truth.lives()) {
      if (uids.has(life.uid)) continue;
      if (life.couldRun && this.#prng.chance(0.5)) life.couldRun = false;
    }
    process.manager.removeOrphanedStatuses(uids);
    for (const uid of process.marksSet.keys()) if (!uids.has(uid)) process.marksSet.delete(uid);
    process.checkBounds();
  }

  /** Some of the containers whose pod's phase is terminal stop, and nobody says a word of it: the manager has to find out. */
  #stopWhatHasEnded(process: ManagerProcess): void {
    for (const pod of process.podManager.getPods()) {
      const life = this.#world.truth.life(pod.metadata?.uid ?? '');
      // upstream's way reads a held back pod with every batch: such a pod is not quiet
      const all = this.#world.tuning.fetchBeforePatch === 'always';
      if (life?.saysTerminal && life.couldRun && (all || this.#prng.chance(0.01))) life.couldRun = false;
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
    return process.podManager.getPods().find((pod) => !process.marksSet.has(pod.metadata?.uid ?? '')) as WirePod | undefined;
  }

  #lifeOf({ metadata = {}, ...pod }: { metadata?: { uid?: string; namespace?: string; name?: string } }): PodLife {
    const { uid = '', namespace = '', name = '' } = metadata;
    const { truth } = this.#world;
    const ip = `10.0.0.${this.#prng.int(1, 250)}`;
    return truth.life(uid) ?? truth.add(new PodLife(uid, namespace, name, isStaticPod({ metadata, ...pod } as WirePod), ip));
  }

  #tend(process: ManagerProcess, pod: object): void {
    const wire = pod as WirePod;
    const life = this.#lifeOf(wire);
    const isDeleting = wire.metadata?.deletionTimestamp !== undefined;
    if (!process.marksSet.has(life.uid)) this.#report(process, wire, life);
    else if (isDeleting) this.#end(process, wire, life);
    else if (life.stage === 'pending') this.#begin(process, wire, life);
    else if (life.stage === 'running' && !life.saysTerminal) this.#run(process, wire, life);
    else this.#tryIllegal(process, wire, life);
  }

  #begin(process: ManagerProcess, pod: WirePod, life: PodLife): void {
    if (this.#prng.chance(0.7)) {
      life.stage = 'running';
      life.couldRun = true;
    }
    this.#report(process, pod, life);
  }

  #run(process: ManagerProcess, pod: WirePod, life: PodLife): void {
    const prng = this.#prng;
    switch (prng.weighted({ report: 30, readiness: 30, startup: 10, burst: 10, address: 5, end: 5 })) {
      case 'report':
        this.#report(process, pod, life);
        return;
      case 'readiness':
        life.ready = !life.ready;
        this.#probe('readiness', life, () => process.manager.setContainerReadiness(life.uid, life.containerID, life.ready));
        return;
      case 'startup':
        life.started = true;
        this.#probe('startup', life, () => process.manager.setContainerStartup(life.uid, life.containerID, true));
        return;
      case 'burst':
        for (let i = prng.int(2, 10); i > 0; i--) this.#report(process, pod, life);
        return;
      case 'address':
        life.podIP = `10.0.1.${prng.int(1, 250)}`;
        this.#report(process, pod, life);
        return;
      case 'end':
        if (pod.spec?.restartPolicy === 'Always' || life.isStatic) {
          this.#report(process, pod, life);
          return;
        }
        life.exitCode = prng.int(0, 1);
        this.#stop(process, pod, life);
        return;
    }
  }

  /** The phase may be said to be terminal while containers still stop: the manager has to hold it back. */
  #stop(process: ManagerProcess, pod: WirePod, life: PodLife): void {
    if (!life.saysTerminal && this.#prng.chance(0.4)) {
      life.saysTerminal = true;
      life.failed = true;
    } else {
      life.stage = 'ended';
      life.couldRun = false;
      if (!life.isStatic && pod.metadata?.deletionTimestamp === undefined) life.saysTerminal = true;
    }
    this.#report(process, pod, life);
  }

  #end(process: ManagerProcess, pod: WirePod, life: PodLife): void {
    const prng = this.#prng;
    if (life.stage !== 'ended' && prng.chance(0.7)) {
      this.#stop(process, pod, life);
      return;
    }
    if (life.stage === 'ended' && prng.chance(0.5)) life.reclaimed = true;
    // an agent that calls it once must call it for every pod: the manager finishes none by itself then
    const finishes = this.#world.tuning.terminateWhenReclaimed === true ? 0 : 0.6;
    if (life.stage !== 'ended' || !prng.chance(finishes)) {
      this.#report(process, pod, life);
      return;
    }
    if (!life.saysTerminal) life.failed = true;
    life.saysTerminal = true;
    life.finished = true;
    this.#world.log.step(() => `agent: terminatePod ${life.name} (${life.uid})`);
    process.manager.terminatePod(pod);
  }

  /** A container that may not run again is said to run: the manager must refuse. */
  #tryIllegal(process: ManagerProcess, pod: WirePod, life: PodLife): void {
    if (life.stage !== 'ended' || pod.spec?.restartPolicy !== 'Never') {
      if (life.saysTerminal && life.stage === 'running') this.#stop(process, pod, life);
      else if (this.#prng.chance(0.3)) this.#report(process, pod, life);
      return;
    }
    const status = life.status(life.mark, startedAt);
    const running = status.containerStatuses?.map((container) => ({ ...container, state: { running: { startedAt } } }));
    const cached = process.manager.getPodStatus(life.uid);
    if (cached?.containerStatuses?.[0]?.state?.terminated === undefined) return;
    const isTaken = process.manager.setPodStatus(pod, { ...status, containerStatuses: running ?? [] });
    if (isTaken) this.#world.log.violate('illegal transitions are refused', `${life.name} (${life.uid})`);
  }

  #report(process: ManagerProcess, pod: object, life: PodLife): void {
    const { truth, log } = this.#world;
    const metadata = (pod as WirePod).metadata;
    // as a kubelet does: a phase the apiserver shows as terminal stays
    const phase = (pod as WirePod).status?.phase;
    if (!life.isStatic && life.stage === 'ended' && (phase === 'Failed' || phase === 'Succeeded') && !life.saysTerminal) {
      life.saysTerminal = true;
      life.failed = phase === 'Failed';
    }
    if (metadata?.deletionTimestamp !== undefined) life.deletionSeen = true;
    const mark = truth.nextMark(life);
    process.marksSet.set(life.uid, mark);
    log.counts.updatesSet++;
    const status = life.status(mark, startedAt);
    log.step(() => `agent: ${life.name} (${life.uid}) is ${status.phase}, ${life.ready ? 'ready' : 'not ready'}, mark ${mark}`);
    process.manager.setPodStatus(pod as WirePod, status);
    // a finished pod is finished in every process: the next one learns it from the node
    if (life.finished) process.manager.terminatePod(pod as WirePod);
  }

  #probe(what: string, life: PodLife, act: () => boolean): void {
    this.#world.log.counts.updatesSet++;
    this.#world.log.step(() => `agent: ${what} of ${life.name} (${life.uid})`);
    act();
  }

  #makeMirrors(): void {
    const { store } = this.#world.server;
    for (const pod of this.#staticPods) {
      const { namespace = '', name = '' } = pod.metadata ?? {};
      const found = this.#world.server.find(namespace, name);
      if (found !== undefined && isMirrorPod(found)) continue;
      this.#world.log.step(() => `agent: a mirror pod for ${name}`);
      store.put(buildMirrorPodOf(pod, { metadata: { uid: `mirror-${++this.#mirrorsMade}-of-${name}`, generation: 1 } }));
    }
  }
}
