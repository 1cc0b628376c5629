import type { SteadyClock } from '../../base/clock.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { frozenProblem, type PodProblem } from '../../base/problem.ts';
import { answerOf } from '../../client/resources/api-problem.ts';
import { problemOfStatus, refusalProblem } from '../rules/status-problem.ts';
import type { StatusCache, VersionedPodStatus } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import type { Since } from './pod-sync-state.ts';
import type { RequestGate } from './request-gate.ts';
import type { PodSyncPhase, SyncPhases } from './sync-phase.ts';
import type { SyncRecords } from './sync-records.ts';

/** Why the manager has dropped a pod's status. */
export type PodEnd = 'recreated' | 'deleted' | 'over' | 'orphaned';

/** A pod whose status was dropped. */
export interface EndedPod extends Pick<PodProblem, 'podNamespace' | 'podName'> {
  readonly how: PodEnd;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** So many pods whose status was dropped are remembered; the oldest is forgotten first. */
const mostEnded = 200;

/** A status that is repaired in so many batches in a row is fought over. */
const manyRepairs = 3;

/** How often in a row batches have repaired a pod, and since when. */
interface Repairs {
  readonly inARow: number;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

export interface PodProblemsOptions {
  readonly cache: StatusCache;
  readonly agent: AgentView;
  /** Undefined when the manager has no pod client. */
  readonly records: SyncRecords | undefined;
  readonly phases: SyncPhases;
  /** Undefined when the manager has no pod client. */
  readonly gate: Pick<RequestGate, 'pausedUntil' | 'pausedSince'> | undefined;
  readonly clock: SteadyClock;
}

/** What is wrong with each pod as the manager knows it, and what has become of those whose status was dropped. */
export class PodProblems {
  readonly #options: PodProblemsOptions;
  readonly #ended = new BoundedMap<string, EndedPod>(mostEnded);
  /** Pods that were repaired since the last batch began, or in the batch before. */
  #repairs = new Map<string, Repairs>();
  #repairsBefore: ReadonlyMap<string, Repairs> = new Map();

  constructor(options: PodProblemsOptions) {
    this.#options = options;
  }

  /** A batch begins. A pod that it does not repair has peace. */
  beginBatch(): void {
    this.#repairsBefore = this.#repairs;
    this.#repairs = new Map();
  }

  /** Another writer has changed the status, and it is about to be repaired. Returns the problem that this is, where it is one. */
  noteRepair(podUID: string): PodProblem | undefined {
    const { inARow = 0, since = this.#options.clock.now() } = this.#repairsBefore.get(podUID) ?? {};
    this.#repairs.set(podUID, { inARow: inARow + 1, since });
    return inARow + 1 < manyRepairs ? undefined : this.of(podUID);
  }

  /** True for a pod that was repaired since the last batch began. */
  wasRepaired(podUID: string): boolean {
    return this.#repairs.has(podUID);
  }

  /** The pod's status is being dropped. */
  noteEnd(podUID: string, how: PodEnd): void {
    const { cache, clock } = this.#options;
    const entry = cache.get(podUID);
    this.#repairs.delete(podUID);
    if (entry === undefined) return;
    const { podNamespace, podName } = entry;
    const before = this.#ended.get(podUID);
    const at = before?.how === how ? before.at : clock.now();
    this.#ended.set(podUID, { podNamespace, podName, how, at });
  }

  /** True for a pod of which it was found before that another one has its name. */
  wasRecreated(podUID: string): boolean {
    return this.#ended.get(podUID)?.how === 'recreated';
  }

  /** How a pod has ended that has no status; undefined for any other. */
  endOf(podUID: string): EndedPod | undefined {
    return this.#options.cache.get(podUID) === undefined ? this.#ended.get(podUID) : undefined;
  }

  /**
   * What is wrong with one pod: with the way of its status first, then by its status alone. `phase`: for a caller that has asked for it
   * already. Never throws.
   */
  of(podUID: string, phase?: PodSyncPhase): PodProblem | undefined {
    const { cache } = this.#options;
    if (phase === 'in-sync' && this.#isQuiet(podUID)) return undefined;
    const named = cache.get(podUID) ?? cache.troubles.refusalOf(podUID) ?? this.#ended.get(podUID);
    if (named === undefined) return undefined;
    const { podNamespace, podName } = named;
    const found = callGuarded(() => this.#find(podUID), ignoreFailure);
    return found && frozenProblem({ ...found, podUID, podNamespace, podName });
  }

  /**
   * The problems of all pods. It looks at those alone of which something is known that may not be well; at every pod while all wait, or
   * while a request that gets no answer may keep others waiting.
   */
  all(): PodProblem[] {
    const { cache, records, gate } = this.#options;
    const known = [
      cache.troubles.podUIDs(),
      this.#ended.keys(),
      this.#repairsBefore.keys(),
      records?.podUIDs() ?? [],
      this.#options.agent.unsafePods(),
    ];
    const podUIDs = new Set(known.flatMap((some) => [...some]));
    const found = this.#ofPods(podUIDs);
    const mayHoldOthers = gate?.pausedUntil !== undefined || found.some(({ kind }) => kind === noAnswer.kind);
    if (!mayHoldOthers) return found;
    return [...found, ...this.#ofPods(cache.podUIDs().filter((podUID) => !podUIDs.has(podUID)))];
  }

  /** True for a pod of which nothing is known but its status. Most pods are quiet: nothing is made for them. */
  #isQuiet(podUID: string): boolean {
    const { cache, records } = this.#options;
    const isFoughtOver = this.#repairs.has(podUID) || this.#repairsBefore.has(podUID);
    const isSafe = this.#options.agent.safetyFailure(podUID) === undefined;
    return isSafe && records?.state(podUID) === undefined && !isFoughtOver && !cache.troubles.knows(podUID);
  }

  #ofPods(podUIDs: Iterable<string>): PodProblem[] {
    return Array.from(podUIDs, (podUID) => this.of(podUID)).filter((found) => found !== undefined);
  }

  #find(podUID: string): Found | undefined {
    const { cache } = this.#options;
    const { troubles } = cache;
    const entry = cache.get(podUID);
    const refusal = troubles.refusalOf(podUID);
    if (refusal !== undefined && (entry !== undefined || this.#options.agent.pod(podUID) !== undefined)) {
      return refusalProblem(refusal);
    }
    if (entry === undefined) return this.#ofEndedPod(podUID);
    const since = troubles.toldSince(podUID);
    const told = since === undefined ? undefined : problemOfStatus(entry.status);
    // the status says how often a container has failed, and not since when: between two failures it runs, and is well
    const timed = told !== undefined && told.attempt > 1 ? told : told && { ...told, since };
    return this.#ofSync(podUID, entry) ?? this.#ofRepairs(podUID) ?? this.#ofSafety(podUID, entry) ?? timed;
  }

  /** A pod that another one has taken the place of, and that the agent still has. Anything else that has ended is well. */
  #ofEndedPod(podUID: string): Found | undefined {
    const end = this.#ended.get(podUID);
    if (end?.how !== 'recreated' || this.#options.agent.pod(podUID) === undefined) return undefined;
    return {
      kind: 'recreated',
      message: `${reasonOfEnd(end)}, and the agent still has this one`,
      since: end.at,
      attempt: 0,
      help: 'End what runs of the pod with this uid, and take it out of the pod manager; the other pod has a uid of its own.',
    };
  }

  /** Nobody knows whether the pod still runs: its terminal phase, and its deletion, wait. */
  #ofSafety(podUID: string, { at }: VersionedPodStatus): Found | undefined {
    const failure = this.#options.agent.safetyFailure(podUID);
    if (failure === undefined) return undefined;
    const { method, message } = failure;
    const words = `${method}() failed, so that nobody knows what of the pod still runs, and the end of the pod is not told: ${message}`;
    return { kind: 'deletion-safety', message: words, since: at, attempt: 0, help: safetyHelp };
  }

  #ofRepairs(podUID: string): Found | undefined {
    const repairs = this.#repairs.get(podUID) ?? this.#repairsBefore.get(podUID);
    if (repairs === undefined || repairs.inARow < manyRepairs) return undefined;
    const { inARow, since } = repairs;
    const message = `another writer changes the status again and again: it was repaired in ${inARow} batches in a row`;
    const help = 'Find the other writer: managedFields of the pod name it (kubectl get pod -o yaml --show-managed-fields).';
    return { kind: 'fought-over', message, since, attempt: 0, help };
  }

  #ofSync(podUID: string, entry: VersionedPodStatus): Found | undefined {
    const { records, phases, gate, clock } = this.#options;
    if (records === undefined) return undefined;
    const state = records.state(podUID);
    const isOnItsWay = state?.failure === undefined && state?.wait === undefined && gate?.pausedUntil === undefined;
    // what is on its way is most of what is known in a storm of changes
    const begun = state?.since?.elapsed ?? entry.agesFrom;
    if (isOnItsWay && clock.elapsed() - begun < longMs) return undefined;
    const phase = phases.phaseOf(podUID);
    if (state?.failure !== undefined) {
      const retryAt = state.wait?.kind === 'backoff' ? state.wait.retryAt : this.#triedAt(phase);
      const { what, words, since } = state.failure;
      const ending = phase === 'quarantined' ? '; it is sent again once the status or the pod changes' : '';
      const message = `${what}: ${answerOf(state.lastError?.message ?? '')}${ending}`;
      return { ...words, message, since, attempt: state.failures, retryAt, ...(phase === 'quarantined' && quarantined) };
    }
    if (phase === 'paused') {
      const message = 'no status is sent: all requests wait after an answer that concerns every pod';
      return {
        kind: 'paused',
        message,
        since: Math.max(entry.at, gate?.pausedSince ?? 0),
        attempt: 0,
        retryAt: gate?.pausedUntil,
      };
    }
    return this.#ofPhase(podUID, phase, state?.since, entry);
  }

  /** When a pod that waits for nothing of its own is tried next: after the pause of all, or now. */
  #triedAt(phase: PodSyncPhase): number | undefined {
    const { gate, clock } = this.#options;
    if (phase === 'paused') return gate?.pausedUntil;
    return phase === 'in-flight' || phase === 'pending' ? clock.now() : undefined;
  }

  /** What only lasts too long. `begun`: when what is under way, or waited for, began. */
  #ofPhase(podUID: string, phase: PodSyncPhase, begun: Since | undefined, entry: VersionedPodStatus): Found | undefined {
    const { agent, clock } = this.#options;
    const { at, elapsed } = begun ?? { at: entry.at, elapsed: entry.agesFrom };
    if (clock.elapsed() - elapsed < longMs) return undefined;
    switch (phase) {
      case 'deleting':
        return { ...heldByFinalizers, since: at };
      case 'gone':
        return agent.isOrdinaryPod(podUID) && agent.pod(podUID) !== undefined ? { ...gone, since: at } : undefined;
      case 'in-flight':
        return { ...noAnswer, since: at };
      case 'pending':
        return { ...waitsForTurn, since: at };
      default:
        return undefined;
    }
  }

  /** What is wrong with the way of the pod's status alone: what a log line of a request tells. */
  ofRequests(podUID: string): Pick<PodProblem, 'kind' | 'since' | 'help'> | undefined {
    const state = this.#options.records?.state(podUID);
    if (state?.failure === undefined) return undefined;
    const { since, words } = state.failure;
    return { ...words, since, ...(this.#options.phases.phaseOf(podUID) === 'quarantined' && quarantined) };
  }
}

/** What is wrong in one pod, beside the pod. */
type Found = Omit<PodProblem, 'podUID' | 'podNamespace' | 'podName'>;

/** A wait, a request or a pod that is gone is worth a problem once it has lasted so long. */
const longMs = 10_000;

/** What has become of a pod whose status was dropped, in words. */
export function reasonOfEnd({ how, podNamespace, podName }: EndedPod): string {
  switch (how) {
    case 'recreated':
      return `the pod was deleted, and the apiserver has another one named ${podNamespace}/${podName}: the status of this one was dropped`;
    case 'deleted':
      return 'the pod has ended and is deleted on the apiserver: its status was dropped';
    case 'over':
      return 'the pod is no longer there and nothing of it runs: its status was dropped';
    case 'orphaned':
      return 'the agent no longer named this pod: its status was dropped';
  }
}

const safetyHelp = 'Mend the method that is named: until it answers, the pod counts as one that could still run.';

const quarantined = {
  kind: 'quarantined',
  help: 'Let the agent, or its provider, give a status that the apiserver takes: the message names what it refuses.',
};

const gone = {
  kind: 'gone',
  message: 'the apiserver no longer has the pod, and the agent still does',
  attempt: 0,
  help: 'End what runs of the pod, and take it out of the pod manager.',
};

const heldByFinalizers = {
  kind: 'held-by-finalizers',
  message: 'the pod has ended and its deletion was accepted, but finalizers hold the object on the apiserver',
  attempt: 0,
  help: 'See who is to remove the finalizers in metadata.finalizers of the pod, and why it does not.',
};

const noAnswer = {
  kind: 'no-answer',
  message: 'the apiserver has not answered a request for the pod yet',
  attempt: 0,
  help: 'See whether the apiserver is overloaded, or something between here and there holds requests.',
};

const waitsForTurn = {
  kind: 'waits-for-turn',
  message: 'the newest status still waits for its turn',
  attempt: 0,
  help: 'See why requests take long, or raise `concurrency`.',
};
