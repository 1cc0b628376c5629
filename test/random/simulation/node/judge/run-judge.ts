import { isTerminalPhase } from '../../../../../src/api/pod/pod-identity.ts';
import type { Pod } from '../../../../../src/index.ts';
import type { NodeFound } from '../rules.ts';
import type { ContainerRecord, SandboxRecord } from '../runtime/records.ts';
import type { RuntimeWitness, SimulatedRuntime } from '../runtime/simulated-runtime.ts';
import { ToldPods } from './told-pods.ts';

export interface RunJudgeParts {
  readonly now: () => number;
  readonly found: NodeFound;
  readonly runtime: () => SimulatedRuntime;
  /** For people who look into a failure. */
  readonly note: (line: string) => void;
}

/** A call, a sync that it interrupts, a look of housekeeping: each takes some seconds. */
const slackMs = 20_000;
/** How long the agent waits after a failure, and how long a status may take to catch up. */
const retryMs = 17_000;
/** A probe may be under way, and its status may be old, for so long after the end of its container. */
const probeSlackMs = 30_000;

/** Judges what runs, by what the runtime does and by what the agent was told. It knows nothing of the agent's parts. */
export class RunJudge implements RuntimeWitness {
  readonly told: ToldPods;
  /** Every container that ever ran, by its id. */
  readonly ledger = new Map<string, ContainerRecord>();
  readonly #parts: RunJudgeParts;
  readonly #runningNames = new Map<string, ContainerRecord>();
  readonly #faultUntilMs = new Map<string | undefined, number>();
  readonly #sick = new Set<string>();
  readonly #askedGrace = new Map<string, number>();
  #isUp = false;
  #beganMs = 0;

  constructor(parts: RunJudgeParts) {
    this.#parts = parts;
    this.told = new ToldPods(parts.now);
  }

  agentBegan(): void {
    this.#isUp = true;
    this.#beganMs = this.#parts.now();
  }

  agentEnded(): void {
    this.#isUp = false;
    this.told.forget();
    this.#askedGrace.clear();
    this.#sick.clear();
  }

  tell(source: string, pods: readonly Pod[]): void {
    this.#parts.note(`told by ${source}: ${pods.map(describe).join(', ')}`);
    this.told.tell(source, pods, this.#remains());
  }

  faultUntil(podUID: string | undefined, untilMs: number): void {
    this.#faultUntilMs.set(podUID, Math.max(untilMs, this.#faultUntilMs.get(podUID) ?? 0));
  }

  livenessFailed(container: ContainerRecord): void {
    this.#sick.add(container.id);
  }

  /** True: the pod was told to end at some time, so that it may have failed without a failed container. */
  mustHaveEnded(podUID: string): boolean {
    return this.told.wasDue(podUID);
  }

  /** The agent itself has decided it. */
  evicted(podUID: string, gracePeriodSeconds: number): void {
    this.told.end(podUID, gracePeriodSeconds, 'evicted');
  }

  /** The agent probes a container. While another one of its pod runs, a status that is out of date may still name it. */
  probed(containerID: string, container: ContainerRecord | undefined): void {
    const { now, found, runtime } = this.#parts;
    const record = this.ledger.get(containerID);
    if (
      record?.endOfRun === undefined ||
      runtime()
        .runningPods()
        .some(({ uid }) => uid === record.pod.uid)
    )
      return;
    const ends = [...this.ledger.values()].filter(({ pod }) => pod.uid === record.pod.uid);
    const lastMs = Math.max(this.#faultOf(record.pod.uid), ...ends.map(({ endOfRun }) => endOfRun?.endedMs ?? 0));
    if (now() - lastMs > probeSlackMs) found('nothing is probed that has ended', `${container} is probed`);
  }

  containerStarted(container: ContainerRecord): void {
    const { found, note } = this.#parts;
    note(`${container} starts`);
    this.ledger.set(container.id, container);
    const key = `${container.pod.uid}/${container.name}`;
    const other = this.#runningNames.get(key);
    if (other?.isRunning) found('no pod runs twice', `${container} starts while ${other} runs`);
    this.#runningNames.set(key, container);
    // what another agent has left under this name is found a moment later, as by the kubelet
    const isAsked = container.pod.isStatic && this.told.knows(container.pod.uid);
    const isOwn = ({ start, pod }: ContainerRecord): boolean => start.startedMs >= this.#beganMs && this.told.knows(pod.uid);
    const twin = isAsked && this.#parts.runtime().running.find((each) => isTwin(each, container) && isOwn(each));
    if (twin) found('no pod runs twice', `${container} starts while ${twin}, a static pod of the same name, runs`);
    // what the agent before it has written at last may reach the server, and this agent, later
    const isOver = isTerminalPhase(this.told.wanted(container.pod.uid)?.status?.phase);
    if (isOver && !container.pod.isStatic) found('nothing of an ended pod starts', `${container} starts`);
  }

  /** Something of the pod has changed in the runtime. */
  podChanged(podUID: string): void {
    if (this.#remains().has(podUID)) return;
    this.told.settle(podUID);
  }

  stopAsked(container: ContainerRecord, gracePeriodSeconds: number): void {
    const { found, note } = this.#parts;
    note(`${container} is told to end within ${gracePeriodSeconds} s`);
    const least = this.#leastGrace(container);
    if (least === undefined) {
      found('none is killed without cause', `${container} is told to end`);
      return;
    }
    if (gracePeriodSeconds < least)
      found('none is killed before its grace is over', `${container}: ${gracePeriodSeconds} s, nobody said less than ${least} s`);
    if (this.told.due(container.pod.uid) === undefined) return;
    const before = this.#askedGrace.get(container.id) ?? Number.POSITIVE_INFINITY;
    if (gracePeriodSeconds > before)
      found('a grace period only shrinks', `${container}: ${before} s, then ${gracePeriodSeconds} s`);
    this.#askedGrace.set(container.id, gracePeriodSeconds);
  }

  sandboxStopAsked(sandbox: SandboxRecord, running: readonly ContainerRecord[]): void {
    for (const container of running) {
      // a start that was given up may take effect after the others have ended
      const { sinceMs = Number.POSITIVE_INFINITY } = this.told.due(container.pod.uid) ?? {};
      if (container.start.startedMs > sinceMs) continue;
      this.#parts.found('none is killed before its grace is over', `${container} ends with its sandbox ${sandbox.id}`);
    }
  }

  /** Called again and again. */
  look(): void {
    if (!this.#isUp) return;
    const { now, found, runtime } = this.#parts;
    for (const uid of this.#remains()) this.told.lookAtRemains(uid);
    for (const container of runtime().running) {
      const due = this.told.due(container.pod.uid);
      if (due === undefined) continue;
      const graceMs = due.deadlineMs - due.sinceMs;
      const afterFaultMs = this.#faultOf(container.pod.uid) + retryMs + graceMs;
      const latestMs = Math.max(due.deadlineMs, afterFaultMs, container.start.startedMs + graceMs) + slackMs;
      if (now() > latestMs)
        found(
          'none outlives its grace',
          `${container} runs ${Math.round((now() - due.sinceMs) / 1000)} s after it was ${due.why}`,
        );
    }
  }

  /** The shortest grace that anything allows; undefined: nothing allows that the container ends. */
  #leastGrace({ id, pod, name, start }: ContainerRecord): number | undefined {
    const due = this.told.due(pod.uid);
    const wanted = this.told.wanted(pod.uid);
    const image = wanted?.spec?.containers.find((each) => each.name === name)?.image;
    const isOutdated = image !== undefined && image !== start.image;
    const own = Math.max(1, wanted?.spec?.terminationGracePeriodSeconds ?? 30);
    const restarts = isOutdated || this.#sick.has(id) ? own : Number.POSITIVE_INFINITY;
    const least = Math.min(due?.leastGraceSeconds ?? Number.POSITIVE_INFINITY, restarts);
    return least === Number.POSITIVE_INFINITY ? undefined : least;
  }

  #faultOf(podUID: string | undefined): number {
    return Math.max(this.#faultUntilMs.get(podUID) ?? 0, this.#faultUntilMs.get(undefined) ?? 0);
  }

  #remains(): Set<string> {
    return new Set(
      this.#parts
        .runtime()
        .runningPods()
        .map(({ uid }) => uid),
    );
  }
}

function describe({ metadata, status }: Pod): string {
  const { name, uid, deletionTimestamp, deletionGracePeriodSeconds } = metadata ?? {};
  return `${name} ${uid} ${status?.phase}${deletionTimestamp ? ` to end in ${deletionGracePeriodSeconds} s` : ''}`;
}

function isTwin(one: ContainerRecord, other: ContainerRecord): boolean {
  const isSameName = one.pod.name === other.pod.name && one.pod.namespace === other.pod.namespace;
  return one.pod.isStatic && isSameName && one.pod.uid !== other.pod.uid;
}
