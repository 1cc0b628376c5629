import { isTerminalPhase, podUIDOf } from '../../../../../src/api/pod/pod-identity.ts';
import { isMirrorPod, type WireContainerStatus, type WirePod } from '../../../../../src/index.ts';
import type { StoreEvent } from '../../parts/simulated-objects.ts';
import type { NodeFound } from '../rules.ts';
import type { ContainerRecord } from '../runtime/records.ts';
import type { SimulatedRuntime } from '../runtime/simulated-runtime.ts';
import type { RunJudge } from './run-judge.ts';

export interface ServerJudgeParts {
  readonly found: NodeFound;
  readonly runtime: SimulatedRuntime;
  readonly runs: RunJudge;
  readonly count: (what: string) => void;
}

type State = NonNullable<WireContainerStatus['state']>;

/** Judges each version of a pod that the server stores, by what has really run. */
export class ServerJudge {
  readonly #parts: ServerJudgeParts;

  constructor(parts: ServerJudgeParts) {
    this.#parts = parts;
  }

  /** `byAgent`: the agent's own write. */
  stored({ type, object, previous }: StoreEvent, byAgent: boolean): void {
    const pod = object as WirePod;
    if (type === 'DELETED') {
      if (byAgent && !isMirrorPod(pod)) this.#judgeRemoval(pod);
      return;
    }
    if (!byAgent || pod.status === undefined) return;
    this.#judgeContainers(pod, previous as WirePod | undefined);
    if (!isMirrorPod(pod)) this.#judgePhase(pod, previous as WirePod | undefined);
  }

  #judgeRemoval(pod: WirePod): void {
    const { found, runtime, count } = this.#parts;
    count('pod finished on the server');
    if (pod.metadata?.deletionTimestamp === undefined)
      found('a pod leaves the server when nothing of it runs', `${nameOf(pod)} was not to be deleted`);
    const running = runtime.containersOf(podUIDOf(pod)).find(({ isRunning }) => isRunning);
    if (running) found('a pod leaves the server when nothing of it runs', `${running} runs`);
  }

  #judgePhase(pod: WirePod, previous: WirePod | undefined): void {
    const { found, runtime, count } = this.#parts;
    const [phase, before] = [pod.status?.phase, previous?.status?.phase];
    if (isTerminalPhase(before) && phase !== before)
      found('an ended pod stays ended', `${nameOf(pod)}: ${before}, then ${phase}`);
    if (!isTerminalPhase(phase) || phase === before) return;
    count(`told: ${phase}`);
    const running = runtime.containersOf(podUIDOf(pod)).find(({ isRunning }) => isRunning);
    if (running) found('what is told to have ended runs no more', `${nameOf(pod)} is told ${phase}: ${running} runs`);
    const ends = (pod.spec?.containers ?? []).map(({ name }) => this.#lastRun(podUIDOf(pod), name)?.endOfRun?.exitCode);
    if (phase === 'Succeeded' && !ends.every((exitCode) => exitCode === 0))
      found('every end that is told has happened', `${nameOf(pod)} is told Succeeded: exit codes ${ends}`);
    if (phase === 'Failed' && !this.#mayHaveFailed(pod, ends))
      found('every end that is told has happened', `${nameOf(pod)} is told Failed: exit codes ${ends}`);
  }

  #mayHaveFailed(pod: WirePod, ends: readonly (number | undefined)[]): boolean {
    const init = (pod.spec?.initContainers ?? []).map(({ name }) => this.#lastRun(podUIDOf(pod), name)?.endOfRun?.exitCode);
    const hasFailed = [...ends, ...init].some((exitCode) => exitCode !== undefined && exitCode !== 0);
    return hasFailed || this.#parts.runs.mustHaveEnded(podUIDOf(pod));
  }

  #judgeContainers(pod: WirePod, previous: WirePod | undefined): void {
    const { status } = pod;
    const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const old = [...(previous?.status?.initContainerStatuses ?? []), ...(previous?.status?.containerStatuses ?? [])];
    for (const container of all) {
      if (container.state?.running) this.#judgeRunning(pod, container, container.state.running.startedAt);
      for (const state of [container.state, container.lastState])
        if (state?.terminated) this.#judgeEnd(pod, container, state.terminated);
      const before = old.find(({ name }) => name === container.name)?.restartCount ?? 0;
      const isSamePod = previous?.metadata?.uid === pod.metadata?.uid && !isMirrorPod(pod);
      if (isSamePod && (container.restartCount ?? 0) < before)
        this.#parts.found(
          'a restart count never goes back',
          `${nameOf(pod)}/${container.name}: ${before}, then ${container.restartCount}`,
        );
    }
  }

  #judgeRunning(pod: WirePod, { name, containerID }: WireContainerStatus, startedAt: unknown): void {
    const record = this.#parts.runs.ledger.get(containerID ?? '');
    const isTrue = record !== undefined && isOf(record, pod, name) && isSecondOf(startedAt, record.start.startedAt);
    if (!isTrue)
      this.#parts.found('what the server says is what runs', `${nameOf(pod)}/${name} is told to run as ${containerID}`);
  }

  #judgeEnd(pod: WirePod, { name, lastState }: WireContainerStatus, told: NonNullable<State['terminated']>): void {
    const { runs, found } = this.#parts;
    const { containerID, exitCode, reason, startedAt, finishedAt } = told;
    if (containerID === undefined || containerID === '') {
      const last = this.#lastRun(isMirrorPod(pod) ? '' : podUIDOf(pod), name);
      // a container that waited to run again when its pod ended: as by the kubelet, its last state says how it ended
      const isKnown = lastState?.terminated?.containerID === last?.id;
      if (last !== undefined && !isKnown)
        found('every end that is told has happened', `${nameOf(pod)}/${name}: ${reason} ${exitCode}, but ${last} was there`);
      return;
    }
    const record = runs.ledger.get(containerID);
    const end = record?.endOfRun;
    const isTrue =
      record !== undefined &&
      end !== undefined &&
      isOf(record, pod, name) &&
      end.exitCode === exitCode &&
      end.reason === reason &&
      isSecondOf(startedAt, record.start.startedAt) &&
      isSecondOf(finishedAt, end.finishedAt);
    if (!isTrue)
      found('every end that is told has happened', `${nameOf(pod)}/${name}: ${JSON.stringify(told)}, not ${JSON.stringify(end)}`);
  }

  #lastRun(podUID: string, name: string): ContainerRecord | undefined {
    const runs = [...this.#parts.runs.ledger.values()].filter(({ pod, name: each }) => pod.uid === podUID && each === name);
    return runs.at(-1);
  }
}

/** A mirror pod stands for every static pod of its name. */
function isOf({ pod, name }: ContainerRecord, shown: WirePod, containerName: string): boolean {
  const isPod = isMirrorPod(shown) ? pod.isStatic && pod.name === shown.metadata?.name : pod.uid === podUIDOf(shown);
  return isPod && name === containerName;
}

function isSecondOf(shown: unknown, ms: number): boolean {
  return typeof shown === 'string' && Date.parse(shown) === Math.floor(ms / 1000) * 1000;
}

function nameOf({ metadata }: WirePod): string {
  return `${metadata?.name} (${metadata?.uid})`;
}
