// Behaviour of pkg/kubelet/prober/worker.go (doProbe), v1.36.3, with its default feature gates.
import type { ContainerStatus, Pod, PodStatus } from '../../api/json/types.ts';
import {
  type Container,
  containerShouldRestart,
  findMatchingRestartRule,
  hasRestartAllContainersRule,
  isRestartableInitContainer,
} from '../../api/pod/pod-containers.ts';
import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import { ranBeforeAgent, runningSince } from './agent-start.ts';
import type { ProbeResult, ProbeSettings, ProbeType } from './probe-types.ts';

export interface ProbeDefinition {
  readonly pod: Pod;
  readonly container: Container;
  readonly type: ProbeType;
  readonly settings: ProbeSettings;
}

/** What names a probe in a log line. */
export function probeFields({
  pod,
  container,
  type,
}: ProbeDefinition): PodFields & { readonly containerName: string; readonly probe: ProbeType } {
  return { ...podFields(pod.metadata), containerName: container.name, probe: type };
}

/** What is due at this moment. */
export interface ProbeStep {
  /** The container whose result nobody may see any more: another one has taken its place. */
  readonly forget?: string;
  /** Results of the container that it is about now, in order. */
  readonly results: readonly ProbeResult[];
  /** `wait`: no probe now. `end`: no probe ever again. */
  readonly next: 'probe' | 'wait' | 'end';
}

/** When a container is looked at. */
export interface LookTimes {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** By the clock that only grows, in milliseconds. */
  readonly elapsed: number;
  /** In milliseconds since the epoch. */
  readonly agentStartedAt: number;
}

const initialResults: Readonly<Record<ProbeType, ProbeResult>> = {
  liveness: 'Success',
  readiness: 'Failure',
  startup: 'Unknown',
};

/** What one probe knows of its container: which one it is, how often it has said the same, and whether it is on hold. */
export class ProbedContainer {
  readonly #definition: ProbeDefinition;
  #containerID: string | undefined;
  /** The probe says nothing until there is another container. */
  #onHold = false;
  #lastResult: ProbeResult | undefined;
  #sameResults = 0;
  /** The start that was last reported, when it was first seen, and how long ago it was then. */
  #start: { readonly reported: number; readonly seenAt: number; readonly ageMs: number } | undefined;

  constructor(definition: ProbeDefinition) {
    this.#definition = definition;
  }

  /** The container that was last seen. */
  get containerID(): string | undefined {
    return this.#containerID;
  }

  /** What is due, given the pod's status at this moment. */
  observe(status: PodStatus | undefined, times: LookTimes): ProbeStep {
    if (status === undefined) return { results: [], next: 'wait' };
    if (status.phase === 'Failed' || status.phase === 'Succeeded') return { results: [], next: 'end' };
    const found = findContainerStatus(status, this.#definition.container.name);
    if (found === undefined) return { results: [], next: 'wait' };
    const { forget, results } = this.#meet(found, times.agentStartedAt);
    const { results: more, next } = this.#decide(status, found, times);
    return { ...(forget !== undefined && { forget }), results: [...results, ...more], next };
  }

  /** Counts what a probe has said. The result that is to be told; undefined below the threshold. */
  conclude(result: 'Success' | 'Failure'): ProbeResult | undefined {
    const { type, settings } = this.#definition;
    this.#sameResults = this.#lastResult === result ? this.#sameResults + 1 : 1;
    this.#lastResult = result;
    const threshold = result === 'Success' ? settings.successThreshold : settings.failureThreshold;
    if (this.#sameResults < threshold) return undefined;
    if (type === 'startup' || (type === 'liveness' && result === 'Failure')) {
      this.#onHold = true;
      this.#sameResults = 0;
    }
    return result;
  }

  /** Another container gets the result that holds until its first probe. */
  #meet(found: ContainerStatus, agentStartedAt: number): Omit<ProbeStep, 'next'> {
    if (found.containerID === this.#containerID) return { results: [] };
    const { pod, container, type } = this.#definition;
    const forget = this.#containerID;
    this.#containerID = found.containerID;
    this.#onHold = false;
    const isSidecar =
      isRestartableInitContainer(container) && Boolean(pod.spec?.initContainers?.some(({ name }) => name === container.name));
    const results: ProbeResult[] = [];
    // a sidecar that has started counts as started, so that the pod counts as initialized
    if (isSidecar && type === 'startup' && found.started) results.push('Success');
    if (!ranBeforeAgent(found, agentStartedAt)) results.push(initialResults[type]);
    return { ...(forget !== undefined && { forget }), results };
  }

  #decide(status: PodStatus, found: ContainerStatus, times: LookTimes): Omit<ProbeStep, 'forget'> {
    const { pod, type, settings } = this.#definition;
    if (this.#onHold) return { results: [], next: 'wait' };
    if (!found.state?.running) {
      return { results: ['Failure'], next: this.#mayRunAgain(status, found) ? 'wait' : 'end' };
    }
    // a pod that is being deleted ends quietly
    if (pod.metadata?.deletionTimestamp && type !== 'readiness') return { results: ['Success'], next: 'end' };
    const isTooEarly = this.#secondsOf(found, times) < settings.initialDelaySeconds;
    // the startup probe is for the time before the container has started, the others for the time after
    if (isTooEarly || Boolean(found.started) === (type === 'startup')) return { results: [], next: 'wait' };
    return { results: [], next: 'probe' };
  }

  /**
   * How long the container has run, in whole seconds; without end where nobody knows its start. A start in the future counts as
   * the moment at which it was seen. Once it was seen, the wall clock counts no more.
   */
  #secondsOf(found: ContainerStatus, { now, elapsed }: LookTimes): number {
    const reported = runningSince(found);
    if (reported === undefined) return Number.POSITIVE_INFINITY;
    if (this.#start?.reported !== reported) this.#start = { reported, seenAt: elapsed, ageMs: Math.max(0, now - reported) };
    return Math.trunc((this.#start.ageMs + elapsed - this.#start.seenAt) / 1000);
  }

  #mayRunAgain(status: PodStatus, found: ContainerStatus): boolean {
    const terminated = found.state?.terminated;
    if (!terminated) return true;
    const exitCode = terminated.exitCode ?? 0;
    const { pod, container } = this.#definition;
    return containerShouldRestart(container, pod.spec?.restartPolicy, exitCode) || allContainersRestart(pod, status);
  }
}

/** The status of the container of this name that has an id; a regular container before an init container. */
function findContainerStatus(status: PodStatus, name: string): (ContainerStatus & { containerID: string }) | undefined {
  for (const list of [status.containerStatuses, status.initContainerStatuses]) {
    const found = list?.find((container) => container.name === name);
    if (found?.containerID) return { ...found, containerID: found.containerID };
  }
  return undefined;
}

/** True while the whole pod is restarted in place, or has to be. */
function allContainersRestart(pod: Pod, status: PodStatus): boolean {
  if (status.conditions?.some((condition) => condition.type === 'AllContainersRestarting' && condition.status === 'True')) {
    return true;
  }
  if (!hasRestartAllContainersRule(pod.spec)) return false;
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  // of two with one name the first counts
  const byName = new Map(statuses.toReversed().map((one) => [one.name, one]));
  return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].some((container) => {
    const terminated = byName.get(container.name)?.state?.terminated;
    return terminated && findMatchingRestartRule(container, terminated.exitCode ?? 0)?.action === 'RestartAllContainers';
  });
}

/** How many workers write to the series of each name, which pods of one name share. */
export class Namesakes {
  readonly #counts = new Map<string, number>();

  begin(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** True when it was the last one of this name. */
  end(name: string): boolean {
    const left = (this.#counts.get(name) ?? 1) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
    return left <= 0;
  }
}
