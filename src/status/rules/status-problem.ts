import type { Pod, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import type { PodProblem, Problem } from '../../base/problem.ts';

type WireTerminated = NonNullable<NonNullable<WireContainerStatus['state']>['terminated']>;

/** What is wrong with a pod by its status alone. */
export type StatusProblem = Pick<Problem, 'kind' | 'message' | 'attempt' | 'retryAt' | 'help'>;

/** Why a container waits while nothing is wrong. */
const ordinaryWaits: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

const helpOfWait: Readonly<Record<string, string>> = {
  CrashLoopBackOff: 'See why the container ends: what it wrote last, where it runs, says more. It is started again and again.',
  ErrImagePull: 'Correct the name or the tag of the image, or give the pod a pull secret for its registry.',
  ImagePullBackOff: 'Correct the name or the tag of the image, or give the pod a pull secret for its registry.',
  RegistryUnavailable: "See whether this node can reach the image's registry.",
  ImageInspectError: 'See what the container runtime says of the image.',
  InvalidImageName: 'Correct the name of the image.',
  ErrImageNeverPull: 'Bring the image to the node, or let it be pulled: its pull policy is Never.',
  CreateContainerConfigError: 'Create what the message names, such as a config map or a secret, or mark it as optional.',
  CreateContainerError: 'Correct what the container runtime names, such as the command or a mount.',
  RunContainerError: 'Correct what the container runtime names, such as the command or a mount.',
  PreCreateHookError: 'See what the hook says.',
  PostStartHookError: 'See what the hook wrote, and correct it.',
};

const outOfMemory = "Raise the container's memory limit, or make it use less: the kernel ended it.";

/** By the reason of a pod that failed as such. A pod is never run again: its controller, if it has one, makes another one. */
const ofFailedPod: Readonly<Record<string, { readonly kind: string; readonly help: string }>> = {
  Evicted: { kind: 'evicted', help: 'Raise what the pod requests of what ran short, or give the node more of it.' },
  Preempting: { kind: 'preempted', help: 'Make room on the node: a pod of a higher priority took it.' },
  NodeAffinity: { kind: 'refused', help: "Correct the pod's node selector or affinity, or the node's labels." },
  NotFound: {
    kind: 'pod-lost',
    help: 'See what became of it where the provider runs its pods; a controller, if the pod has one, makes another pod.',
  },
  DeadlineExceeded: { kind: 'deadline-exceeded', help: 'Raise activeDeadlineSeconds, or make the pod faster.' },
};
const runsShort = { kind: 'refused', help: 'Wait until the node no longer runs short of what the message names, or free it.' };
const noRoom = { kind: 'no-room', help: 'Make room on the node, or lower what the pod requests.' };
const otherFailure = { kind: 'refused', help: undefined };

/** True for a status that tells of trouble. It is asked of every status that is set: it makes nothing. */
function tellsOfTrouble({ phase, reason, initContainerStatuses, containerStatuses }: WirePodStatus): boolean {
  if (phase === 'Failed') return Boolean(reason);
  if (phase === 'Succeeded') return false;
  return waitingContainer(initContainerStatuses) !== undefined || waitingContainer(containerStatuses) !== undefined;
}

/** What is wrong with the pod, by its status alone: it was refused or evicted, or a container waits because something failed. */
export function problemOfStatus(status: WirePodStatus): StatusProblem | undefined {
  if (!tellsOfTrouble(status)) return undefined;
  if (status.phase === 'Failed') return failedPod(status);
  const container = waitingContainer(status.initContainerStatuses) ?? waitingContainer(status.containerStatuses);
  return container && waitingProblem(container);
}

function failedPod({ reason = '', message = '' }: WirePodStatus): StatusProblem {
  return { ...wordsOfFailed(reason, message), message: `the pod has failed: ${sentence(reason, message)}`, attempt: 0 };
}

function wordsOfFailed(reason: string, message: string): Pick<StatusProblem, 'kind' | 'help'> {
  if (reason === 'Evicted' && message.startsWith('Pod was rejected')) return runsShort;
  if (reason.startsWith('OutOf')) return noRoom;
  return (Object.hasOwn(ofFailedPod, reason) ? ofFailedPod[reason] : undefined) ?? otherFailure;
}

function waitingContainer(statuses: readonly WireContainerStatus[] = []): WireContainerStatus | undefined {
  return statuses.find(({ state }) => state?.waiting !== undefined && !ordinaryWaits.has(state.waiting.reason ?? ''));
}

function waitingProblem({ name, state, lastState, restartCount = 0 }: WireContainerStatus): StatusProblem {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const ended = lastState?.terminated;
  const isOutOfMemory = ended?.reason === 'OOMKilled';
  const end = ended === undefined ? '' : `; it ended last with ${endText(ended)}`;
  return {
    kind: isOutOfMemory ? 'oom-killed' : kebabCase(reason),
    message: `the container ${name} waits: ${sentence(reason, end === '' ? message : message.slice(0, longestBeside))}${end}`,
    // the run that waits to begin is not counted yet
    attempt: reason === 'CrashLoopBackOff' ? restartCount + 1 : 0,
    ...(reason === 'CrashLoopBackOff' && endOfBackOff(message, ended?.finishedAt)),
    help: isOutOfMemory ? outOfMemory : Object.hasOwn(helpOfWait, reason) ? helpOfWait[reason] : undefined,
  };
}

/** When the container is started again, as the words of a kubelet say it: `back-off 1m20s restarting failed container`. */
function endOfBackOff(message: string, finishedAt: string | null | undefined): Pick<StatusProblem, 'retryAt'> {
  const [, hours = 0, minutes = 0, seconds = 0] = backOffWords.exec(message) ?? [];
  const delayMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  const retryAt = Date.parse(finishedAt ?? '') + delayMs;
  return delayMs > 0 && Number.isFinite(retryAt) ? { retryAt } : {};
}

const backOffWords = /^back-off (?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,4}(?:\.\d{1,9})?)s)? ?restarting failed container/;

function sentence(reason: string, message: string): string {
  return message === '' ? reason : `${reason}: ${message.slice(0, longestPart)}`;
}

/** What is taken of a message of somebody else: the problem as a whole is cut as well. */
const longestPart = 500;
/** The same where two are told. */
const longestBeside = 200;

/** `exit code 128 (StartError): no disk`. What ended a container comes last in what it wrote. */
function endText({ exitCode, reason, message = '' }: WireTerminated): string {
  const words = message.trim().slice(-longestBeside);
  return `exit code ${exitCode}${reason ? ` (${reason})` : ''}${words === '' ? '' : `: ${words}`}`;
}

/** `ImagePullBackOff` is `image-pull-back-off`. */
function kebabCase(reason: string): string {
  return reason
    .slice(0, longestKind)
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase();
}

const longestKind = 60;

/** A status that was refused, and how many in a row. */
export interface RefusedStatus extends Pick<PodProblem, 'podNamespace' | 'podName' | 'attempt'> {
  /** Which rule forbids it. */
  readonly reason: string;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
}

/** The agent has set a status that the rules forbid. */
export function refusalProblem({ reason, since, attempt }: RefusedStatus): StatusProblem & Pick<Problem, 'since'> {
  const help = 'Set a status that can follow: a container that has ended does not run again by itself.';
  return { kind: 'status-refused', message: `the agent set a status that the rules forbid: ${reason}`, since, attempt, help };
}

/** So many pods' refusals are remembered; the oldest is forgotten first. */
const mostRefused = 1000;

/** Of which pods the agent's own statuses tell that something is wrong: the status says it, or was refused. */
export class StatusTroubles {
  /** Since when the status of a pod tells of trouble, in milliseconds since the epoch. */
  readonly #told = new Map<string, number>();
  readonly #refused = new BoundedMap<string, RefusedStatus>(mostRefused);

  /** A status that the agent itself has set was not refused. */
  accepted(podUID: string): void {
    this.#refused.delete(podUID);
  }

  /** The pod has a new status. */
  stored(podUID: string, status: WirePodStatus, now: number): void {
    if (!tellsOfTrouble(status)) this.#told.delete(podUID);
    else if (!this.#told.has(podUID)) this.#told.set(podUID, now);
  }

  refused(podUID: string, { metadata }: Pod, reason: string, now: number): RefusedStatus {
    const { since = now, attempt = 0 } = this.#refused.get(podUID) ?? {};
    const { namespace: podNamespace = '', name: podName = '' } = metadata ?? {};
    const refusal = { podNamespace, podName, reason, since, attempt: attempt + 1 };
    this.#refused.set(podUID, refusal);
    return refusal;
  }

  /** Forgets every pod that is not known. */
  retain(knownPodUIDs: { has(podUID: string): boolean }): void {
    for (const podUID of this.podUIDs()) if (!knownPodUIDs.has(podUID)) this.drop(podUID);
  }

  drop(podUID: string): void {
    this.#told.delete(podUID);
    this.#refused.delete(podUID);
  }

  /** True for a pod of which something is known here. */
  knows(podUID: string): boolean {
    return this.#told.has(podUID) || this.#refused.get(podUID) !== undefined;
  }

  /** Since when the pod's status tells of trouble; undefined where it tells of none. */
  toldSince(podUID: string): number | undefined {
    return this.#told.get(podUID);
  }

  refusalOf(podUID: string): RefusedStatus | undefined {
    return this.#refused.get(podUID);
  }

  /** Every pod of which something is known here. */
  podUIDs(): Iterable<string> {
    return new Set([...this.#refused.keys(), ...this.#told.keys()]);
  }
}
