// Rules of Executor, pkg/scheduler/framework/preemption, v1.36.3.

import type { WirePod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { CancelTimer, Clock, SteadyClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { BoundedMap } from '../../base/concurrency/bounded-map.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type Problem, problemFields } from '../../base/problem.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import { type ChangeAction, evictionsOf, type NominatedPods, type PostFilterAction } from '../framework/plugin.ts';
import type { SchedulerClient } from '../framework/scheduler-client.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

export interface PreemptionExecutorOptions {
  readonly client: Pick<SchedulerClient, 'patchStatus' | 'deletePod' | 'event'>;
  readonly nominated: NominatedPods;
  /** The pod as the watch has brought it; undefined where it is gone. */
  readonly currentPod: (pod: PodInfo) => WirePod | undefined;
  /** Takes the node back from a pod whose binding has not been sent yet, so that it need not be deleted. False for any other pod. */
  readonly withdraw: (pod: PodInfo) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of the end of each preemption; `failure` is why a victim could not be deleted, if that is so. Must not throw. Default: nobody is. */
  readonly onEnd?: (preemptor: PodInfo, failure: { readonly error: unknown } | undefined) => void;
  /** Why a victim could not be deleted, for the log: a word, and what would help. Default: the error alone. */
  readonly explainFailure?: (error: unknown) => Pick<Problem, 'kind' | 'help'>;
}

/** What is to be done for one pod. */
export interface Preemption {
  readonly preemptor: PodInfo;
  readonly nodeName: string;
  readonly victims: readonly PodInfo[];
}

/** How many victims of one preemption are deleted at a time. */
const victimsAtATime = 16;
/** How long one request may take, in milliseconds: meanwhile the pod is not tried. */
const requestTimeoutMs = 120_000;

/** Makes room in the cluster: marks and deletes victims, and takes the node from lesser pods that were promised it. */
export class PreemptionExecutor {
  readonly #options: PreemptionExecutorOptions;
  /** By the uid of the pod that preempts. Its value is the last victim, once that is the only one left. */
  readonly #running = new Map<string, PodInfo | undefined>();

  constructor(options: PreemptionExecutorOptions) {
    this.#options = options;
  }

  /**
   * True while victims of the pod still have to be deleted. It is false as soon as the last one is seen to end, even if the
   * answer to its deletion is not there yet: the event that lets the pod in must find it ready.
   */
  isPreempting(podUID: string): boolean {
    if (!this.#running.has(podUID)) return false;
    const last = this.#running.get(podUID);
    if (last === undefined) return true;
    const current = this.#options.currentPod(last);
    return current !== undefined && current.metadata?.uid === last.uid && !isEnding(current);
  }

  /**
   * Resolves to true when the deletion of every victim has begun, and to false where one failed: the pod should be tried again
   * then. Victims that are ending already are left to end. Never rejects.
   */
  async execute(preemption: Preemption, signal: AbortSignal): Promise<boolean> {
    const { preemptor, nodeName } = preemption;
    try {
      const victims = preemption.victims.filter(({ pod }) => !isEnding(pod));
      const last = victims.at(-1);
      if (last === undefined) return true;
      this.#running.set(preemptor.uid, undefined);
      const cleared = await this.#clearNominations(preemption, signal);
      await inParallel(victims.slice(0, -1), victimsAtATime, (victim) => this.#preempt(preemption, victim, signal));
      this.#running.set(preemptor.uid, last);
      await this.#preempt(preemption, last, signal);
      this.#options.onEnd?.(preemptor, undefined);
      return cleared;
    } catch (err) {
      if (!signal.aborted) {
        this.#options.onEnd?.(preemptor, { error: err });
        const problem = problemFields(this.#options.explainFailure?.(err) ?? {});
        this.#options.logger.error(
          { err, errorClass: classifyApiError(err), ...podFields(preemptor), node: nodeName, ...problem },
          'a victim of preemption could not be deleted',
        );
      }
      return false;
    } finally {
      this.#running.delete(preemptor.uid);
    }
  }

  /** Resolves to false where a change failed: the pod should be tried again then. Never rejects. */
  async carryOut(pod: PodInfo, changes: readonly ChangeAction[], signal: AbortSignal): Promise<boolean> {
    let isDone = true;
    await inParallel(changes, victimsAtATime, async ({ what, change }) => {
      try {
        await this.#ask((over) => change(over), signal);
      } catch (err) {
        isDone = false;
        if (signal.aborted) return;
        const problem = problemFields(this.#options.explainFailure?.(err) ?? {});
        const fields = { err, errorClass: classifyApiError(err), ...podFields(pod), reason: what, ...problem };
        this.#options.logger.error(fields, 'what would let a pod fit could not be done');
      }
    });
    return isDone;
  }

  async #preempt({ preemptor, nodeName }: Preemption, victim: PodInfo, signal: AbortSignal): Promise<void> {
    const { client, withdraw } = this.#options;
    signal.throwIfAborted();
    const inMemory = withdraw(victim);
    if (!inMemory) {
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: `${preemptor.pod.spec?.schedulerName ?? ''}: preempting to accommodate a higher priority pod`,
      };
      await this.#ask((over) => client.patchStatus(victim.pod, { condition }, over), signal);
      await this.#ask((over) => client.deletePod(victim.pod, over), signal);
    }
    const note = `Preempted by pod ${preemptor.uid} on node ${nodeName}${inMemory ? ' (in kube-scheduler memory).' : ''}`;
    const [pod, related] = [victim.pod, preemptor.pod];
    callGuarded(
      () => client.event({ pod, related, type: 'Normal', reason: 'Preempted', action: 'Preempting', note }),
      ignoreFailure,
    );
  }

  #ask(request: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const late = (): Error => new Error(`no answer within ${requestTimeoutMs} ms`);
    return callWithin(request, { clock: this.#options.clock, timeoutMs: requestTimeoutMs, signal, late });
  }

  /** They may no longer fit there. Without the promise they are tried again at once, and may find another node. */
  async #clearNominations({ preemptor, nodeName }: Preemption, signal: AbortSignal): Promise<boolean> {
    const { client, nominated, logger } = this.#options;
    const lesser = nominated.onNode(nodeName).filter(({ priority }) => priority < preemptor.priority);
    let cleared = true;
    await inParallel(lesser, victimsAtATime, async (info) => {
      try {
        await this.#ask((over) => client.patchStatus(info.pod, { nominatedNodeName: '' }, over), signal);
      } catch (err) {
        cleared = false;
        if (!signal.aborted)
          logger.warn(
            { err, errorClass: classifyApiError(err), ...podFields(info), node: nodeName },
            'a lesser pod could not be told that its node is taken',
          );
      }
    });
    return cleared;
  }
}

function isEnding({ metadata }: WirePod): boolean {
  return metadata?.deletionTimestamp != null;
}

/** Works on the items in order, on a few at a time. Begins no other one after a failure; settles when those begun have settled. */
async function inParallel<Item>(items: readonly Item[], most: number, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (errors.length > 0) return;
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
}

/** The wait after the second failure in a row at one pod, and after those that follow. */
const retryWait = { firstMs: 1000, longestMs: 60_000 };
/** Of so many pods the failures are counted. */
const mostFailing = 1000;

/** A pod's preemptions that are under way. */
interface RunningPreemptions {
  count: number;
  /** The pod is bound, or gone: how they end is of no interest. */
  isOver: boolean;
}

/** A pod waits for its next try. */
interface RetryWait {
  readonly cancel: CancelTimer;
  /** When it ends, by `elapsed` of the clock. */
  readonly endsAtMs: number;
}

/** Carries out what postFilter has decided, beside the scheduling of other pods. */
export class Preemptions {
  readonly #executor: PreemptionExecutor;
  readonly #clock: SteadyClock;
  readonly #activate: (podUID: string) => void;
  readonly #running = new Set<Promise<void>>();
  readonly #runningOf = new Map<string, RunningPreemptions>();
  /** By the uid of the pod that preempts, how many have failed in a row. */
  readonly #failures = new BoundedMap<string, number>(mostFailing);
  /** By the uid of the pod that preempts. */
  readonly #waits = new Map<string, RetryWait>();
  #giveUp = new AbortController();
  #isStopped = false;

  /** `activate` is called for a pod for which no room could be made: it is to be tried again. */
  constructor(executor: PreemptionExecutor, clock: SteadyClock, activate: (podUID: string) => void) {
    this.#executor = executor;
    this.#clock = clock;
    this.#activate = activate;
  }

  /** How many are under way. */
  get size(): number {
    return this.#running.size;
  }

  begin(preemptor: PodInfo, actions: readonly PostFilterAction[]): void {
    const { uid } = preemptor;
    if (actions.length === 0 || this.#isStopped) return;
    this.#endWait(uid);
    const { signal } = this.#giveUp;
    const ofPod = this.#runningOf.get(uid) ?? { count: 0, isOver: false };
    this.#runningOf.set(uid, ofPod);
    ofPod.count += 1;
    ofPod.isOver = false;
    const work: Promise<void> = this.#carryOut(preemptor, actions, signal).then((isDone) => {
      this.#running.delete(work);
      ofPod.count -= 1;
      if (ofPod.count === 0) this.#runningOf.delete(uid);
      if (isDone || ofPod.isOver) this.#failures.delete(uid);
      else if (!this.#isStopped) this.#tryAgain(uid, signal.aborted);
    });
    this.#running.add(work);
  }

  async #carryOut(preemptor: PodInfo, actions: readonly PostFilterAction[], signal: AbortSignal): Promise<boolean> {
    const evictions = evictionsOf(actions);
    const changes = actions.filter((action) => action.kind === 'change');
    const victims = evictions.map(({ victim }) => victim);
    const [first] = evictions;
    const done = await Promise.all([
      this.#executor.carryOut(preemptor, changes, signal),
      first === undefined || this.#executor.execute({ preemptor, nodeName: first.nodeName, victims }, signal),
    ]);
    return done.every((isDone) => isDone);
  }

  /** When the pod is tried again for which no room could be made, by `elapsed` of the clock; undefined where it does not wait for that. */
  retryAtMs(podUID: string): number | undefined {
    return this.#waits.get(podUID)?.endsAtMs;
  }

  /** The pod is bound, or gone: it waits for no other try, and none follows from what is under way. */
  forget(podUID: string): void {
    this.#endWait(podUID);
    this.#failures.delete(podUID);
    const ofPod = this.#runningOf.get(podUID);
    if (ofPod !== undefined) ofPod.isOver = true;
  }

  async flush(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Gives up what is under way: no other victim is marked or deleted. The pods that no room was made for are to be tried again. */
  abort(reason: string): void {
    this.#giveUp.abort(new Error(reason));
    this.#giveUp = new AbortController();
    for (const uid of [...this.#waits.keys()]) {
      this.#endWait(uid);
      this.#activate(uid);
    }
  }

  /** Gives up what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.abort('the scheduler was stopped');
    await this.flush();
  }

  /** At once where it was given up, or has failed for the first time; then a server that refuses it is left alone for longer and longer. */
  #tryAgain(uid: string, wasGivenUp: boolean): void {
    const failures = (this.#failures.get(uid) ?? 0) + 1;
    if (wasGivenUp) this.#failures.delete(uid);
    else this.#failures.set(uid, failures);
    if (wasGivenUp || failures === 1) {
      this.#activate(uid);
      return;
    }
    const ended = (): void => {
      this.#waits.delete(uid);
      this.#activate(uid);
    };
    const waitMs = nthDelayMs(failures - 1, retryWait);
    this.#endWait(uid);
    this.#waits.set(uid, { cancel: this.#clock.setTimer(ended, waitMs), endsAtMs: this.#clock.elapsed() + waitMs });
  }

  #endWait(uid: string): void {
    this.#waits.get(uid)?.cancel();
    this.#waits.delete(uid);
  }
}
