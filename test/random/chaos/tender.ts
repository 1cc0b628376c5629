import type { PodDeletionSafety, WirePod } from '../../../src/index.ts';
import { PodLife } from './life/pod-life.ts';
import type { Prng } from './prng.ts';
import type { Ledger } from './said/ledger.ts';
import { isTerminal } from './said/plain-status.ts';
import type { Voice } from './said/voice.ts';

const failures = [
  { reason: 'Evicted', message: 'The node was low on resource: memory.' },
  { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' },
] as const;

/** Lets pods live, one event at a time, and has the agent say what is true. It outlives the agent's processes. */
export class Tender {
  readonly #ledger: Ledger;
  readonly #prng: Prng;
  readonly #now: () => string;
  readonly #leavesItToTheManager: boolean;

  /** `leavesItToTheManager`: `terminatePod` is never called, and the manager has to find out by itself that a pod is over. */
  constructor(ledger: Ledger, prng: Prng, now: () => string, leavesItToTheManager: boolean) {
    this.#ledger = ledger;
    this.#prng = prng;
    this.#now = now;
    this.#leavesItToTheManager = leavesItToTheManager;
  }

  /** What is true on the node, which may not be what the agent has said. */
  get safety(): PodDeletionSafety {
    return {
      podCouldHaveRunningContainers: ({ metadata }) => this.#ledger.life(metadata?.uid ?? '')?.couldRun ?? false,
      podResourcesAreReclaimed: ({ metadata }) => this.#ledger.life(metadata?.uid ?? '')?.reclaimed ?? false,
    };
  }

  /** The pod's life; one begins where it has none. */
  lifeOf(pod: WirePod): PodLife {
    return this.#ledger.life(pod.metadata?.uid ?? '') ?? this.#ledger.addLife(this.#begin(pod));
  }

  /** The first word of a pod may come when it has run for a while. */
  #begin(pod: WirePod): PodLife {
    const life = new PodLife(pod, this.#prng);
    for (let i = this.#prng.int(0, 10); i > 0; i--) life.advance(this.#prng, this.#now());
    return life;
  }

  /** Does one thing of this pod: something happens to it, or something is said of it, mostly both. */
  tend(voice: Voice, pod: WirePod): void {
    const life = this.lifeOf(pod);
    if (!voice.hasSpokenOf(life.uid)) this.report(voice, pod);
    else if (pod.metadata?.deletionTimestamp !== undefined) this.#end(voice, pod, life);
    else if (life.saysPhase !== undefined || life.isOver) this.#afterwards(voice, pod, life);
    else this.#live(voice, pod, life);
  }

  /** Says how the pod is now. */
  report(voice: Voice, pod: WirePod, { again = false, misspeaks = false } = {}): void {
    const life = this.lifeOf(pod);
    const phase = pod.status?.phase;
    // a kubelet keeps a terminal phase that the apiserver shows
    if (!life.isStatic && life.isOver && isTerminal({ phase })) life.saysPhase ??= phase === 'Failed' ? 'Failed' : 'Succeeded';
    if (pod.metadata?.deletionTimestamp !== undefined) life.deletionSeen = true;
    life.misspoke = misspeaks;
    voice.set(pod, life, { again });
    // every process finishes a pod that is finished: a new process learns that from the node
    if (life.finished) voice.terminate(pod, life);
  }

  /** Says how the pod is, and after that what its probes find. */
  lastWord(voice: Voice, pod: WirePod): void {
    this.report(voice, pod);
    const life = this.lifeOf(pod);
    const container = this.#prng.pick(life.probed);
    if (container === undefined) return;
    container.started = true;
    voice.probe('startup', life, container);
    container.ready = !container.ready;
    voice.probe('readiness', life, container);
  }

  /** Says again how the pod is, if its last status was one that no apiserver takes. */
  correct(voice: Voice, pod: WirePod): void {
    if (this.lifeOf(pod).misspoke) this.report(voice, pod);
  }

  /** Brings a pod that is to go to its end, at once. Nothing where that has been done. */
  finish(voice: Voice, pod: WirePod): void {
    const life = this.lifeOf(pod);
    if (life.deletionSeen && life.reclaimed && (this.#leavesItToTheManager || life.finished)) return;
    life.endAll(this.#now());
    life.reclaimed = true;
    this.report(voice, pod);
    if (!this.#leavesItToTheManager) voice.terminate(pod, life);
  }

  #live(voice: Voice, pod: WirePod, life: PodLife): void {
    const prng = this.#prng;
    const container = prng.pick(life.probed);
    switch (
      prng.weighted({ advance: 30, report: 10, again: 3, readiness: 30, startup: 8, burst: 8, move: 4, misspeak: 2, fail: 2 })
    ) {
      case 'advance':
        life.advance(prng, this.#now());
        if (prng.chance(0.8)) this.report(voice, pod);
        return;
      case 'again':
        this.report(voice, pod, { again: true });
        return;
      case 'readiness':
        if (container === undefined) break;
        container.ready = !container.ready;
        voice.probe('readiness', life, container);
        return;
      case 'startup':
        if (container === undefined) break;
        container.started = true;
        voice.probe('startup', life, container);
        return;
      case 'burst':
        for (let i = prng.int(2, 8); i > 0; i--) this.report(voice, pod);
        return;
      case 'move':
        life.move(prng);
        break;
      case 'misspeak':
        this.report(voice, pod, { misspeaks: true });
        return;
      case 'fail':
        if (!life.isStatic) life.fail(prng.pick(failures) ?? failures[0]);
        break;
      case 'report':
        break;
    }
    this.report(voice, pod);
  }

  /** The pod is over, or the agent has said so, and no user has deleted it. Its containers may still stop. */
  #afterwards(voice: Voice, pod: WirePod, life: PodLife): void {
    if (life.couldRun) {
      life.advance(this.#prng, this.#now());
      this.report(voice, pod);
    } else if (this.#prng.chance(0.5)) voice.tryIllegal(pod, life, this.#now());
    else if (this.#prng.chance(0.3)) this.report(voice, pod);
  }

  /** A user has deleted the pod: its containers stop, its resources are reclaimed, and the agent or the manager ends it. */
  #end(voice: Voice, pod: WirePod, life: PodLife): void {
    const prng = this.#prng;
    life.beginToEnd();
    if (life.couldRun && prng.chance(0.7)) {
      // the phase may be said to be terminal while containers still stop: the manager has to hold it back
      if (life.saysPhase === undefined && prng.chance(0.4)) life.saysPhase = 'Failed';
      else life.advance(prng, this.#now());
      this.report(voice, pod);
      return;
    }
    if (!life.couldRun && prng.chance(0.5)) life.reclaimed = true;
    if (life.couldRun || this.#leavesItToTheManager || !prng.chance(0.6)) this.report(voice, pod);
    else {
      life.saysPhase ??= 'Failed';
      voice.terminate(pod, life);
    }
  }
}
