import { lookupByName } from '../../api/json/json.ts';
import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { type Container, containersOfPod } from '../../api/pod/pod-containers.ts';
import { localAnnotationKeys, sameContent } from '../config/pod-changes.ts';
import type { PodMethod } from './long-calls.ts';
import type { PodRejection } from './pod-rejected-error.ts';

/** A call of the provider that has not settled. */
export interface ProviderCallReport {
  /** The method that was called. */
  readonly method: PodMethod;
  /** When it was called, in milliseconds since the epoch. */
  readonly since: number;
}

/** A call of the provider that waits for its turn: it is not made yet. */
export interface WaitingCall extends ProviderCallReport {
  /** What it waits for. */
  readonly turns: { readonly underWay: number; readonly waiting: number };
}

/** The end of a pod while a call of `createPod` or `updatePod` has not settled. */
export interface EndBesideChange {
  /** When the call was asked to end, in milliseconds since the epoch. */
  readonly askedAt: number;
  /** `deletePod` waits for the call until then, and once it was called itself, the end of the pod; in milliseconds since the epoch. */
  readonly until: number;
  /** True once `deletePod` was called all the same. */
  readonly isDeleteCalled: boolean;
}

/** A call of `createPod` or `updatePod` that has not settled. */
export interface ProviderChange {
  readonly method: 'createPod' | 'updatePod';
  /** Asks the call to end soon. */
  readonly abort: (reason?: unknown) => void;
  /** False while it waits for its turn: the provider knows nothing of it. */
  isBegun: boolean;
  /** When it began, or while it waits since when, in milliseconds since the epoch. */
  since: number;
  /** That it takes too long, once it does: its signal has aborted then. */
  late: string | undefined;
  /** When that was found, in milliseconds since the epoch. */
  lateAt?: number;
  /** Set once the pod is to end: the deletion waits for the aborted call. */
  end?: EndBesideChange;
  /** Never rejects. */
  readonly settled: Promise<void>;
  /** True while a sync waits for its end; otherwise the end is told of. */
  isAwaited: boolean;
}

/** The last failure of `createPod` or `updatePod`. */
export interface ProviderFailure {
  /** The method that failed. */
  readonly method: 'createPod' | 'updatePod';
  /** What it threw or was rejected with, in words. */
  readonly message: string;
  /** How many in a row. */
  readonly attempt: number;
  /** When the first of them was, in milliseconds since the epoch. */
  readonly since: number;
  /** True where the call takes too long: the message says so. */
  readonly isLate: boolean;
  /** When it is made again, in milliseconds since the epoch: to be told. */
  readonly retryAt: number;
  /** The same by `clock.elapsed()`: to be waited for. */
  readonly dueAt: number;
  /** The version of the pod that it was given. */
  readonly pod: Pod;
}

/** The last failure of `deletePod`. */
export interface DeleteFailure extends Omit<ProviderFailure, 'method' | 'pod' | 'isLate'> {
  /** What the call threw or was rejected with, in words; `message` says also what was not done. */
  readonly cause: string;
  /** Of the call that failed. */
  readonly gracePeriodSeconds: number;
  /** When the grace period of the first call in a row is over, by `clock.elapsed()`. */
  readonly graceEndsAt: number;
}

/** Why the provider does not say how a pod is. */
export interface AnswerFailure extends Pick<ProviderFailure, 'message' | 'attempt' | 'since' | 'retryAt'> {}

/** Why the pod is not handed to the provider, or not its newest version. */
export interface HeldFailure extends Pick<ProviderFailure, 'message' | 'attempt' | 'since' | 'retryAt'> {
  /** What is missing, and what would help. */
  readonly kind: string;
  readonly help: string | undefined;
}

/** Another pod of the same name that the provider still has. */
export interface Namesake {
  readonly podUID: string;
  /** Since when it is waited for, in milliseconds since the epoch. */
  readonly since: number;
}

/** What the node knows of one pod and its provider. */
export class ProvidedPod {
  readonly uid: string;
  /** As the agent has it now. */
  pod: Pod;
  /** As the provider was last given it; undefined while it does not have it. */
  given: Pod | undefined;
  /** What the provider answered last; undefined: nothing yet, or that there is no such pod. */
  answer: WirePodStatus | undefined;
  /** True once the provider has answered, whatever it said. */
  isAsked = false;
  /** True while the provider has something of the pod, as far as is known. */
  isHeld = false;
  /** True for a pod that an earlier run of the agent has told to run, and that the provider's own list does not have. */
  isUnlisted = false;
  /** True while `deletePod` must be called whatever the provider says of the pod: a call was aborted that may have begun it. */
  isUncertain = false;
  /** True once `deletePod` has done its work. */
  isDeleted = false;
  /** True once nothing is left to do for the pod. */
  isTerminated = false;
  /** Since when a pod that was there is not, by `clock.elapsed()`. */
  missingSince: number | undefined;
  change: ProviderChange | undefined;
  /** The last call of `deletePod`, until it has settled. `since`: when it began, in milliseconds since the epoch; undefined while it waits. */
  deletion: { readonly since: number | undefined } | undefined;
  /** The calls that wait for their turn. */
  readonly waits = new Set<WaitingCall>();
  /** Why the provider will never run the pod. */
  rejection: PodRejection | undefined;
  /** How many calls of `getPodStatus` are waited for. */
  questions = 0;
  failure: ProviderFailure | undefined;
  deleteFailure: DeleteFailure | undefined;
  /** That the pod still runs although its grace period is over. `since`: when it was over, in milliseconds since the epoch. */
  lateEnd: Pick<ProviderFailure, 'message' | 'attempt' | 'since'> | undefined;
  /** The last failure of `getPodStatus`, while no answer has followed. */
  answerFailure: AnswerFailure | undefined;
  /** What the pod refers to and what is not there. */
  held: HeldFailure | undefined;
  /** Why the files of a pod that the provider has are no longer brought up to date. */
  staleFiles: HeldFailure | undefined;
  /** What keeps the pod from being created. */
  namesake: Namesake | undefined;
  /** What was told last of the pod while it ended. */
  toldEnding: WirePodStatus | undefined;
  /** True once the status manager was told of the pod. */
  isTold = false;
  /** How many calls of `getPodStatus` were given up and have not settled. */
  unsettled = 0;
  /** When `getPodStatus` was last called, in milliseconds since the epoch. */
  askedAt = Number.NEGATIVE_INFINITY;
  /** The same by `clock.elapsed()`. */
  askedAtElapsed = Number.NEGATIVE_INFINITY;
  /** The last event, so that it is not repeated. */
  lastEvent: string | undefined;

  /** When the node learned of it, in milliseconds since the epoch. */
  readonly since: number;

  constructor(uid: string, pod: Pod, since: number) {
    this.uid = uid;
    this.pod = pod;
    this.since = since;
  }

  noteAnswer(answer: WirePodStatus | undefined): void {
    this.isAsked = true;
    this.answerFailure = undefined;
    this.answer = answer;
    if (answer === undefined) return;
    this.isHeld = true;
    this.isUnlisted = false;
    this.missingSince = undefined;
    // a pod that was there before this run of the agent is taken over as it is
    this.given ??= this.pod;
  }

  /** A pod of the same uid begins again after this one has ended. */
  beginAgain(): void {
    this.isTerminated = false;
    this.toldEnding = undefined;
    this.isUncertain = false;
    this.isDeleted = false;
    this.missingSince = undefined;
    this.failure = undefined;
    this.rejection = undefined;
    this.held = undefined;
    this.staleFiles = undefined;
    this.deleteFailure = undefined;
    this.lateEnd = undefined;
  }

  /** The provider has nothing of the pod any more. */
  noteGone(): void {
    this.isHeld = false;
    this.isUnlisted = false;
    this.missingSince = undefined;
    this.given = undefined;
  }

  /** The call under way that tells most: of `deletePod`, then of the others that change the pod, then of `getPodStatus`. */
  get underWay(): ProviderCallReport | undefined {
    const { deletion, change, questions, askedAt } = this;
    if (deletion?.since !== undefined) return { method: 'deletePod', since: deletion.since };
    if (change?.isBegun) return { method: change.method, since: change.since };
    return questions === 0 ? undefined : { method: 'getPodStatus', since: askedAt };
  }

  /** The call that waits for its turn: the one that waits longest, if there are several. */
  get waiting(): WaitingCall | undefined {
    for (const call of this.waits) return call;
    return undefined;
  }

  /** True when the provider was given another version of the pod. */
  get needsUpdate(): boolean {
    const { given, pod } = this;
    if (given === undefined || given === pod) return false;
    if (!isSameVersion(given, pod)) return true;
    // the next comparison costs nothing
    this.given = pod;
    return false;
  }
}

/** True for two objects of a pod between which a provider sees no difference. */
export function isSameVersion(one: Pod, other: Pod): boolean {
  return (
    sameContent(one.spec, other.spec) &&
    sameContent(labelsOf(one), labelsOf(other)) &&
    sameContent(annotationsOf(one), annotationsOf(other))
  );
}

function labelsOf({ metadata }: Pod): object {
  return metadata?.labels ?? {};
}

/** Those that are not the agent's own. */
function annotationsOf({ metadata }: Pod): object {
  const entries = Object.entries(metadata?.annotations ?? {});
  return Object.fromEntries(entries.filter(([key]) => !localAnnotationKeys.includes(key)));
}

/**
 * A pod that the provider lists, with what its containers are started with as the pod has it: the provider may have been given plain
 * values, and the apiserver changes none of that in a pod.
 */
export function withStartOf(listed: Pod, pod: Pod): Pod {
  const started = lookupByName(containersOfPod(pod));
  const likeThose = <C extends Pick<Container, 'name'>>(containers: readonly C[]): C[] =>
    containers.map((container) => {
      const { env: _env, envFrom: _envFrom, command: _command, args: _args, ...rest } = container as C & Partial<Container>;
      const { env, envFrom, command, args } = started(container.name) ?? {};
      const start = { ...(env && { env }), ...(envFrom && { envFrom }), ...(command && { command }), ...(args && { args }) };
      return { ...rest, ...start } as C;
    });
  const { spec } = listed;
  if (spec == null) return listed;
  const { containers, initContainers, ephemeralContainers } = spec;
  return {
    ...listed,
    spec: {
      ...spec,
      containers: likeThose(containers),
      ...(initContainers && { initContainers: likeThose(initContainers) }),
      ...(ephemeralContainers && { ephemeralContainers: likeThose(ephemeralContainers) }),
    },
  };
}
