import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { errorText } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { frozenProblem, type PodProblem, problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import { helped } from '../problem-help.ts';

/** The answer to the question whether a pod that is new on this node may run here. A pod that is refused is Failed, for good. */
export type Admission = { readonly admit: true } | { readonly admit: false; readonly reason: string; readonly message: string };

/**
 * Nobody can say yet whether the pod may run: it waits, and is asked for again as soon as `until` settles, however that does. Nothing is
 * wrong with it meanwhile.
 */
export interface AdmissionLater {
  /** What makes it another answer than an {@link Admission}. */
  readonly admit: 'later';
  /** Settles when there is more to say. */
  readonly until: PromiseLike<unknown>;
  /** What is waited for, as a problem of the pod says it once that has taken two seconds. Default: nothing is said. */
  readonly message?: string;
}

function isLater(value: unknown): value is AdmissionLater {
  if (typeof value !== 'object' || value === null || !('admit' in value) || !('until' in value)) return false;
  return value.admit === 'later' && isThenable(value.until);
}

/** True for what an embedder's function may answer. */
export function isAdmission(value: unknown): value is Admission {
  if (typeof value !== 'object' || value === null || !('admit' in value)) return false;
  if (value.admit === true) return true;
  if (value.admit !== false || !('reason' in value) || !('message' in value)) return false;
  return typeof value.reason === 'string' && value.reason !== '' && typeof value.message === 'string';
}

export interface PodAdmissionsOptions {
  readonly admitPod: ((pod: Pod, activePods: readonly Pod[]) => Admission | AdmissionLater) | undefined;
  readonly statusManager: Pick<StatusManager, 'setPodStatus'>;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How long a pod waits until it is asked for again. */
const again = { firstMs: 1000, longestMs: 30_000 };

/** A pod of which nobody could say whether it may run. */
interface WaitingPod {
  readonly names: Pick<PodProblem, 'podUID' | 'podNamespace' | 'podName'>;
  readonly failures: FailureRun;
  /** When it is asked for again, by `Clock.elapsed`. */
  dueAt: number;
}

/** A pod of which it takes a while to say whether it may run. */
interface LaterPod {
  readonly names: WaitingPod['names'];
  /** What is waited for; undefined once that has settled. */
  until: PromiseLike<unknown> | undefined;
  message: string | undefined;
  /** When it was asked for first, by `Clock.elapsed`. */
  readonly since: number;
}

/** A wait that is shorter is no problem. */
const patienceMs = 2000;

/** Asks whether pods may run that are new on this node. */
export class PodAdmissions {
  readonly #options: PodAdmissionsOptions;
  /** Told that the wait of a pod is over. */
  readonly #due: (podUID: string) => void;
  readonly #waiting = new LateMap<string, WaitingPod>();
  /** The pods of which there is no answer yet. */
  readonly #later = new LateMap<string, LaterPod>();
  readonly #timers: KeyedTimers<string>;
  readonly #recoveries: RecoveryLines;

  constructor(options: PodAdmissionsOptions, due: (podUID: string) => void) {
    this.#options = options;
    this.#due = due;
    this.#timers = new KeyedTimers(options.clock);
    this.#recoveries = new RecoveryLines(options);
  }

  /** True for a pod that has not begun, because nobody could say whether it may run. */
  awaits(podUID: string): boolean {
    return this.#waiting.has(podUID) || this.#later.has(podUID);
  }

  forget(podUID: string): void {
    this.#waiting.delete(podUID);
    this.#later.delete(podUID);
    this.#timers.cancel(podUID);
  }

  /** Leaves no timer. */
  stop(): void {
    this.#timers.cancelAll();
    this.#recoveries.stop();
  }

  /** The pods of which nobody can say whether they may run. */
  problems(): PodProblem[] {
    const podUIDs = new Set([...this.#waiting.keys(), ...this.#later.keys()]);
    return Array.from(podUIDs).flatMap((podUID) => this.problem(podUID) ?? []);
  }

  problem(podUID: string): PodProblem | undefined {
    return this.#problemOf(this.#waiting.get(podUID)) ?? this.#waitOf(this.#later.get(podUID));
  }

  /**
   * `refused`: the pod is Failed now, and an event says why. `waits`: nobody could say; `due` is told when it is to be asked for again, and
   * until then nobody is asked.
   */
  ask(pod: Pod, others: () => readonly Pod[]): 'admitted' | 'refused' | 'waits' {
    const { admitPod, clock } = this.#options;
    if (admitPod === undefined) return 'admitted';
    const podUID = podUIDOf(pod);
    const waiting = this.#waiting.get(podUID);
    if (waiting !== undefined && clock.elapsed() < waiting.dueAt) return 'waits';
    if (this.#later.get(podUID)?.until !== undefined) return 'waits';
    const answer = answered(admitPod, pod, others());
    if (isLater(answer)) {
      this.#await(pod, answer);
      return 'waits';
    }
    if ('cause' in answer) {
      this.#wait(pod, answer);
      return 'waits';
    }
    this.forget(podUID);
    waiting?.failures.succeeded();
    if (answer.admit) return 'admitted';
    this.#refuse(pod, answer.reason, answer.message);
    return 'refused';
  }

  /** It is asked for once `until` has settled. */
  #await(pod: Pod, { until, message }: AdmissionLater): void {
    const podUID = podUIDOf(pod);
    const later: LaterPod = this.#later.get(podUID) ?? {
      ...{ names: namesOf(pod), until: undefined, message: undefined },
      since: this.#options.clock.elapsed(),
    };
    this.#later.set(podUID, later);
    later.message = typeof message === 'string' ? message : undefined;
    later.until = until;
    const ask = (): void => {
      if (this.#later.get(podUID)?.until !== until) return;
      // it waits still: only an answer ends that
      later.until = undefined;
      this.#due(podUID);
    };
    Promise.resolve(until).then(ask, ask);
  }

  #wait(pod: Pod, { cause: err, words }: NoAnswer): void {
    const { clock, logger, eventRecorder } = this.#options;
    const podUID = podUIDOf(pod);
    const waiting = this.#waiting.get(podUID) ?? this.#newWaiting(pod);
    this.#waiting.set(podUID, waiting);
    const { attempt } = waiting.failures.failed(words);
    const delayMs = nthDelayMs(attempt, again);
    waiting.dueAt = clock.elapsed() + delayMs;
    const problem = this.#problemOf(waiting);
    const fields = problemFields(problem ?? {}, clock.now());
    logger.warn({ err, ...podFields(pod.metadata), ...fields }, 'admitPod failed; the pod waits');
    if (attempt === 1 && problem !== undefined) eventRecorder.event(pod, 'Warning', 'FailedAdmission', problem.message);
    // without a timer the next look at all pods asks
    callGuarded(() => this.#timers.set(podUID, delayMs, () => this.#due(podUID)), ignoreFailure);
  }

  #newWaiting(pod: Pod): WaitingPod {
    const { clock, logger } = this.#options;
    const failures = new FailureRun(clock, (ended) => {
      if (!this.#recoveries.take()) return;
      logger.info({ ...podFields(pod.metadata), ...ended }, 'admitPod works again');
    });
    return { names: namesOf(pod), failures, dueAt: 0 };
  }

  #problemOf(waiting: WaitingPod | undefined): PodProblem | undefined {
    const failing = waiting?.failures.failing;
    if (waiting === undefined || failing === undefined) return undefined;
    const { clock } = this.#options;
    const { message, attempt, since } = failing;
    const retryAt = clock.now() + Math.max(0, waiting.dueAt - clock.elapsed());
    return frozenProblem({ ...helped('admission'), ...waiting.names, message: `admitPod() ${message}`, attempt, since, retryAt });
  }

  #waitOf(later: LaterPod | undefined): PodProblem | undefined {
    if (later?.message === undefined) return undefined;
    const { clock } = this.#options;
    const waitedMs = clock.elapsed() - later.since;
    if (waitedMs < patienceMs) return undefined;
    const since = Math.round(clock.now() - waitedMs);
    return frozenProblem({ ...helped('admission-waits'), ...later.names, message: later.message, attempt: 0, since });
  }

  #refuse(pod: Pod, reason: string, message: string): void {
    const { statusManager, eventRecorder, logger, metrics } = this.#options;
    eventRecorder.event(pod, 'Warning', reason, message);
    metrics.increment('kubelet_admission_rejections_total', { reason });
    const { qosClass } = pod.status ?? {};
    const status = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` };
    const problem = problemFields(problemOfStatus(status) ?? {});
    logger.warn({ ...podFields(pod.metadata), reason: `${reason}: ${message}`, ...problem }, 'a pod may not run on this node');
    statusManager.setPodStatus(pod, qosClass === undefined ? status : { ...status, qosClass });
  }
}

function namesOf(pod: Pod): WaitingPod['names'] {
  const { namespace: podNamespace = '', name: podName = '' } = pod.metadata ?? {};
  return { podUID: podUIDOf(pod), podNamespace, podName };
}

const neither = 'answered neither { admit: true } nor { admit: false, reason, message }';

interface NoAnswer {
  readonly cause: unknown;
  /** What the function did. */
  readonly words: string;
}

/** The answer, or why there is none. */
function answered(
  admitPod: NonNullable<PodAdmissionsOptions['admitPod']>,
  pod: Pod,
  activePods: readonly Pod[],
): Admission | AdmissionLater | NoAnswer {
  let thrown: { readonly error: unknown } | undefined;
  const answer: unknown = callGuarded(
    () => admitPod(pod, activePods),
    (error) => {
      thrown ??= { error };
    },
  );
  if (thrown !== undefined) return { cause: thrown.error, words: `failed: ${errorText(thrown.error)}` };
  if (isAdmission(answer) || isLater(answer)) return answer;
  const words = isThenable(answer) ? 'answered with a promise, and has to answer at once' : neither;
  return { cause: new TypeError(`admitPod() ${words}`), words };
}
