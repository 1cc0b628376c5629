import type { BasicPodManager, StatusManager, WirePod } from '../../../../src/index.ts';
import type { ContainerLife } from '../life/container-life.ts';
import type { PodLife } from '../life/pod-life.ts';
import type { Prng } from '../prng.ts';
import type { Found } from '../rules.ts';
import { completed, finished, probed, saysTheSame, terminated } from './consequences.ts';
import type { Ledger } from './ledger.ts';
import { kept, type PlainStatus, plain } from './plain-status.ts';
import { spelled } from './spelling.ts';
import { statusOf } from './status-of.ts';

/** What the agent uses of a manager. A mutant may stand in between. */
export type Manager = Pick<
  StatusManager,
  'setPodStatus' | 'setContainerReadiness' | 'setContainerStartup' | 'terminatePod' | 'getPodStatus'
>;

export interface VoiceParts {
  readonly manager: Manager;
  readonly podManager: Pick<BasicPodManager, 'getPodByUID' | 'getMirrorPodByPod'>;
  readonly ledger: Ledger;
  readonly prng: Prng;
  readonly found: Found;
  /** Calls `act` with the node's wall clock, which stands still meanwhile. */
  readonly atOneInstant: <T>(act: (nowMs: number) => T) => T;
  /** True when the manager may have dropped what it had of this pod. */
  readonly mayBeDropped: (life: PodLife) => boolean;
  readonly log: (words: () => string) => void;
}

interface Memory {
  mark: number;
  status: PlainStatus;
  /** The manager has finished this pod for its agent: the agent's phase no longer counts. */
  isFinishedByManager: boolean;
}

/** Makes the calls of one process of the agent to its manager, and records in the ledger what must follow of each. */
export class Voice {
  readonly #parts: VoiceParts;
  /** What this process said last, by uid. The manager of a new process knows only what the apiserver shows. */
  readonly #said = new Map<string, Memory>();
  #isSpeaking = false;

  constructor(parts: VoiceParts) {
    this.#parts = parts;
  }

  hasSpokenOf(uid: string): boolean {
    return this.#said.has(uid);
  }

  get uids(): readonly string[] {
    return [...this.#said.keys()];
  }

  /** The manager is told to drop what it has of these pods. */
  forget(uids: readonly string[]): void {
    for (const uid of uids) this.#said.delete(uid);
  }

  /** Says how the pod is. With `again` the same words as the last time. Returns what the manager answers. */
  set(pod: WirePod, life: PodLife, { again = false } = {}): boolean {
    const { ledger, manager, podManager, prng, atOneInstant, log } = this.#parts;
    const memory = this.#remembered(life);
    const mark = again && memory !== undefined ? memory.mark : ledger.nextMark(life.owner);
    const generation = pod.metadata?.generation;
    const status = statusOf(life, mark, {
      overlooksPhase: prng.chance(0.2),
      generation: prng.chance(0.7) ? generation : undefined,
    });
    ledger.updates++;
    return atOneInstant((nowMs) => {
      const previous = memory?.status ?? plain(((podManager.getMirrorPodByPod(pod) ?? pod) as WirePod).status ?? {});
      let next = completed(kept(plain(status), life.shape), previous, secondOf(nowMs), generation);
      if (memory?.isFinishedByManager) next = withHowItEnded(next, memory.status);
      const isNews = pod.metadata?.deletionTimestamp !== undefined || memory === undefined || !saysTheSame(next, memory.status);
      if (isNews) this.#record(life, mark, next, memory?.isFinishedByManager);
      log(() => `agent: ${life.name} (${life.uid}) is ${status.phase}, mark ${mark}`);
      return this.#speak(() => manager.setPodStatus(pod, spelled(status, prng)));
    });
  }

  /** Says what a probe found of a container. */
  probe(what: 'readiness' | 'startup', life: PodLife, container: ContainerLife): void {
    const { ledger, manager, podManager, atOneInstant, log } = this.#parts;
    const { uid, shape } = life;
    const { containerID, ready, started } = container;
    ledger.updates++;
    atOneInstant((nowMs) => {
      const memory = this.#remembered(life);
      const pod = podManager.getPodByUID(uid);
      const result = what === 'readiness' ? { ready } : { started };
      const next = memory && pod && probed(memory.status, containerID, result, { shape, pod, now: secondOf(nowMs) });
      if (memory && next) this.#record(life, memory.mark, next, memory.isFinishedByManager);
      log(() => `agent: ${what} of ${life.name} (${uid}), ${container.name}: ${what === 'readiness' ? ready : started}`);
      this.#speak(() =>
        what === 'readiness'
          ? manager.setContainerReadiness(uid, containerID, ready)
          : manager.setContainerStartup(uid, containerID, started),
      );
    });
  }

  /** Says that nothing of the pod runs any more, and never will. Nothing when the manager has no status of it. */
  terminate(pod: WirePod, life: PodLife): void {
    const memory = this.#remembered(life);
    if (memory === undefined) return;
    life.finished = true;
    this.#parts.ledger.updates++;
    const next = terminated(memory.status, pod, life.isStatic);
    this.#record(life, memory.mark, next, memory.isFinishedByManager);
    life.giveUp({ ...next, conditions: [] });
    this.#parts.log(() => `agent: terminatePod ${life.name} (${life.uid})`);
    this.#speak(() => this.#parts.manager.terminatePod(pod));
  }

  /** Says that a container runs which has ended for good. The manager must refuse. */
  tryIllegal(pod: WirePod, life: PodLife, nowText: string): void {
    const status = this.#remembered(life)?.status;
    const container = status?.containerStatuses?.find(({ state }) => state?.terminated !== undefined);
    if (container === undefined || life.shape.restartPolicy !== 'Never') return;
    this.#parts.ledger.updates++;
    const running = { ...container, state: { running: { startedAt: nowText } } };
    const isTaken = this.#speak(() =>
      this.#parts.manager.setPodStatus(pod, { ...(status as object), conditions: [], containerStatuses: [running] }),
    );
    if (isTaken) this.#parts.found('illegal transitions are refused', `${life.name} (${life.uid}), ${container.name}`);
  }

  /** To be called with every `podRemoved` event. The manager may finish a pod by itself, but only one that is over. */
  podRemoved(uid: string): void {
    const memory = this.#said.get(uid);
    const life = this.#parts.ledger.life(uid);
    if (this.#isSpeaking || memory === undefined || life === undefined) return;
    const pod = this.#parts.podManager.getPodByUID(uid) as WirePod | undefined;
    const isOver = life.deletionSeen && life.reclaimed && !life.couldRun && !life.isStatic;
    if (!isOver) this.#parts.found('only what has ended is deleted', `${life.name} (${uid}) was finished by the manager`);
    this.#parts.log(() => `agent: the manager has finished ${life.name} (${uid})`);
    const next = finished(memory.status, pod ?? {}, life.shape);
    this.#record(life, memory.mark, next, true);
    life.giveUp({ ...next, conditions: [] });
  }

  /** What the manager must still know of this pod. */
  #remembered(life: PodLife): Memory | undefined {
    const { manager, found, prng, mayBeDropped } = this.#parts;
    const memory = this.#said.get(life.uid);
    const mayBe = mayBeDropped(life);
    // a status that must be there is read now and then only: a read costs more than a call
    if (memory === undefined || (!mayBe && !prng.chance(0.1))) return memory;
    if (manager.getPodStatus(life.uid) !== undefined) return memory;
    if (!mayBe) found('a status is dropped only when its pod is gone', `${life.name} (${life.uid})`);
    return undefined;
  }

  #record(life: PodLife, mark: number, status: PlainStatus, isFinishedByManager = false): void {
    this.#parts.ledger.record(life.owner, mark, status);
    this.#said.set(life.uid, { mark, status, isFinishedByManager });
  }

  #speak<T>(call: () => T): T {
    this.#isSpeaking = true;
    try {
      return call();
    } finally {
      this.#isSpeaking = false;
    }
  }
}

export function secondOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Phase, reason and message of a pod that the manager has finished. */
function withHowItEnded(next: PlainStatus, ended: PlainStatus): PlainStatus {
  const { phase: _phase, reason: _reason, message: _message, ...rest } = next;
  const { phase, reason, message } = ended;
  return { ...rest, ...(phase && { phase }), ...(reason && { reason }), ...(message && { message }) };
}
