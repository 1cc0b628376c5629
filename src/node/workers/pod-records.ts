// Behaviour of pkg/kubelet/pod_workers.go, v1.36.3: what may be done for a pod, and what a call that has ended means.

import { buildPodFullName, isStaticPod, isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { LateMap } from '../../base/concurrency/late-collections.ts';
import { type PendingUpdate, PodRecord, type PodWorkerState } from './pod-record.ts';
import { StaticPodOrder } from './static-pod-order.ts';
import { effectiveGracePeriod, shrinkingGracePeriod, type TakenUpdate, takeUpdate } from './take-update.ts';
import type { UpdatePodOptions } from './workers-options.ts';

/** One call that is due. */
export interface Work {
  readonly state: PodWorkerState;
  readonly update: PendingUpdate;
}

/** What a lane does next: a call, nothing, or nothing until a later retry. */
export type NextPodStep =
  | { readonly step: 'call'; readonly work: Work }
  | { readonly step: 'none'; readonly completed?: readonly (() => void)[] }
  | { readonly step: 'wait' };

/** What a call that succeeded has led to. */
export interface Ending {
  /** True when the pod entered its next state, so that the next call is due at once. */
  readonly isPhaseTransition: boolean;
  /** True when nothing is left to do for the pod. */
  readonly isOver: boolean;
  /** To be called now. */
  readonly completed: readonly (() => void)[];
}

/** One pod that the workers know. */
export interface KnownPod {
  /** What the workers do for the pod. */
  readonly state: PodWorkerState;
  /** True when the pod was not among the desired ones. */
  readonly orphan: boolean;
  /** True when the workers have had an object of the pod. */
  readonly hasConfig: boolean;
  /** True for a static pod. */
  readonly static: boolean;
}

/** What the runtime is known to have of a pod; undefined: not known. */
export type ReadRuntime = (podUID: string) => RuntimePodStatus | undefined;

const nothing: readonly (() => void)[] = [];

/** All pods that the workers know, and the rules that change what they know. No method waits. */
export class PodRecords {
  readonly #records = new LateMap<string, PodRecord>();
  readonly #staticPods: StaticPodOrder;
  readonly #gracePeriodOf: typeof effectiveGracePeriod;
  readonly #exactlyAsKubelet: boolean;
  readonly #readRuntime: ReadRuntime;
  #isSynced = false;
  #changes = 0;

  constructor({ exactlyAsKubelet }: { readonly exactlyAsKubelet: boolean }, readRuntime: ReadRuntime) {
    this.#exactlyAsKubelet = exactlyAsKubelet;
    this.#readRuntime = readRuntime;
    this.#staticPods = new StaticPodOrder({ keepsPlaces: exactlyAsKubelet });
    this.#gracePeriodOf = exactlyAsKubelet ? effectiveGracePeriod : shrinkingGracePeriod;
  }

  /** True once the agent has named its pods, so that a pod without a record is none of them. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Grows when a pod comes, is forgotten, goes on to another state or is to be created again. A sync alone changes nothing. */
  get changes(): number {
    return this.#changes;
  }

  get(podUID: string): PodRecord | undefined {
    return this.#records.get(podUID);
  }

  all(): Iterable<PodRecord> {
    return this.#records.values();
  }

  startedStaticPod(fullName: string): PodRecord | undefined {
    const uid = this.#staticPods.startedUID(fullName);
    return uid === undefined ? undefined : this.#records.get(uid);
  }

  update(podUID: string, options: UpdatePodOptions): [PodRecord, TakenUpdate] {
    let record = this.#records.get(podUID);
    const isNew = record === undefined;
    record ??= this.#add(podUID, options);
    const { state, isRestartRequested } = record;
    const taken = takeUpdate(record, options, isNew, this.#gracePeriodOf);
    if (record.state !== state || record.isRestartRequested !== isRestartRequested) this.#changes += 1;
    return [record, taken];
  }

  /** Takes the update that waits, if its call may be made. */
  begin(record: PodRecord): NextPodStep {
    const update = record.pending;
    if (update === undefined || this.#records.get(record.uid) !== record) return { step: 'none' };
    const work: Work = { state: record.state, update };
    if (!record.isStarted && update.pod !== undefined) {
      const isToStop = record.isTerminationRequested;
      if (isStaticPod(update.pod)) {
        if (isToStop && !this.#isToBeStopped(record)) return { step: 'none', completed: this.#endUnstarted(record) };
        // what runs already is stopped without its turn, and others wait for its end
        if (isToStop) this.#staticPods.takeTurn(fullNameOf(record), record.uid);
        else if (!this.#tryStart(record)) return { step: 'wait' };
      }
      record.isStarted = true;
    }
    record.pending = undefined;
    remember(record, update);
    return { step: 'call', work };
  }

  /** Says that the containers are about to be stopped: no call of syncPod follows. */
  acknowledgeTerminating(record: PodRecord): void {
    if (record.isTerminationRequested) record.isTerminationStarted = true;
  }

  /** A call has succeeded. `isTerminal`: syncPod has said that the pod has come to its end. */
  succeed(record: PodRecord, { state, update }: Work, isTerminal: boolean): Ending {
    if (state === 'terminated') {
      this.#finish(record);
      return { isPhaseTransition: false, isOver: true, completed: takeCompleted(record) };
    }
    if (state === 'terminating') {
      this.#changes += 1;
      record.isTerminated = true;
      const completed = takeCompleted(record);
      const isOver = update.pod === undefined;
      if (isOver) {
        // the agent has no object of the pod: there is no status to tell, and nothing to remember
        this.#finish(record);
        this.#records.delete(record.uid);
      } else requeue(record);
      return { isPhaseTransition: !isOver, isOver, completed };
    }
    if (isTerminal) {
      this.#changes += 1;
      record.isTerminationRequested = true;
      record.isTerminationStarted = true;
      requeue(record);
    }
    return { isPhaseTransition: isTerminal, isOver: false, completed: nothing };
  }

  /**
   * Forgets the pods that are over and not desired, or to be created again, and begins the end of pods that are not desired.
   * `wake` is called for each pod that has something to do, `dropped` with what a forgotten pod still had to call.
   */
  syncKnown(
    desired: ReadonlySet<string>,
    wake: (record: PodRecord) => void,
    dropped: (record: PodRecord, completed: readonly (() => void)[]) => void,
  ): Map<string, KnownPod> {
    this.#isSynced = true;
    const known = new Map<string, KnownPod>();
    for (const [uid, record] of this.#records) {
      const orphan = !desired.has(uid);
      if ((orphan || record.isRestartRequested) && this.#forgetOrEnd(record, orphan)) {
        dropped(record, takeCompleted(record));
        continue;
      }
      if (record.pending !== undefined && orphan) wake(record);
      const pod = (record.active ?? record.pending)?.pod;
      known.set(uid, {
        state: record.state,
        orphan,
        hasConfig: pod !== undefined,
        static: pod !== undefined && isStaticPod(pod),
      });
    }
    return known;
  }

  #add(podUID: string, { pod, runningPod }: UpdatePodOptions): PodRecord {
    const { name = '', namespace = '' } = pod?.metadata ?? runningPod ?? {};
    const record = new PodRecord(podUID, name, namespace);
    this.#changes += 1;
    this.#records.set(podUID, record);
    if (pod == null) return record;
    if (isTerminalPhase(pod.status?.phase) && isRuntimeTerminal(this.#readRuntime(podUID))) {
      // the pod ended before the agent started: only what follows its end is left to do
      record.isTerminationRequested = true;
      record.isTerminationStarted = true;
      record.isTerminated = true;
    }
    if (isStaticPod(pod)) this.#staticPods.wait(fullNameOf(record), podUID);
    return record;
  }

  /** True when it is the static pod's turn among those of its full name. */
  #tryStart(record: PodRecord): boolean {
    const isOver = (uid: string): boolean => {
      const other = this.#records.get(uid);
      return other === undefined || (other.isTerminationRequested && !this.#isToBeStopped(other));
    };
    return this.#staticPods.tryStart(fullNameOf(record), record.uid, isOver);
  }

  /** True for a pod of which containers may run though it never started here. */
  #isToBeStopped(record: PodRecord): boolean {
    return !this.#exactlyAsKubelet && !record.isTerminated && this.#isObserved(record);
  }

  /** Looks into the runtime, too: what an agent before this one has started has its own grace period. */
  #isObserved(record: PodRecord): boolean {
    if (!record.isObservedInRuntime && !this.#exactlyAsKubelet) {
      const status = this.#readRuntime(record.uid);
      record.isObservedInRuntime = status !== undefined && !isRuntimeTerminal(status);
    }
    return record.isObservedInRuntime;
  }

  #endUnstarted(record: PodRecord): readonly (() => void)[] {
    record.isTerminated = true;
    this.#finish(record);
    return takeCompleted(record);
  }

  #finish(record: PodRecord): void {
    this.#changes += 1;
    record.isTerminated = true;
    record.isFinished = true;
    record.pending = undefined;
    record.podStatusFn = undefined;
    this.#staticPods.release(fullNameOf(record), record.uid);
  }

  /** True when the pod is forgotten. */
  #forgetOrEnd(record: PodRecord, orphan: boolean): boolean {
    if (!record.isFinished && !orphan) return false;
    this.#changes += 1;
    if (!record.isFinished) {
      record.isDeleted = true;
      if (record.isStarted || this.#isObserved(record)) {
        if (!record.isTerminationRequested) {
          const { pod } = record.active ?? record.pending ?? {};
          record.isTerminationRequested = true;
          record.gracePeriodSeconds = this.#gracePeriodOf(record.gracePeriodSeconds, pod, undefined);
        }
        requeue(record);
        return false;
      }
    }
    this.#records.delete(record.uid);
    this.#staticPods.release(fullNameOf(record), record.uid);
    return true;
  }
}

function fullNameOf({ name, namespace }: PodRecord): string {
  return buildPodFullName(name, namespace);
}

/** What is known of the pod from now on: the last object, and the last grace period. */
function remember(record: PodRecord, { pod, runningPod, gracePeriodSeconds }: PendingUpdate): void {
  const { active } = record;
  record.active = {
    pod: pod ?? active?.pod,
    runningPod,
    gracePeriodSeconds: gracePeriodSeconds ?? active?.gracePeriodSeconds,
  };
}

/** Repeats the last update, unless a newer one waits or there was none. */
function requeue(record: PodRecord): void {
  if (record.pending !== undefined || record.active === undefined) return;
  record.pending = { ...record.active, updateType: 'sync', mirrorPod: undefined, startTime: undefined };
}

function takeCompleted(record: PodRecord): readonly (() => void)[] {
  const { completed = nothing } = record;
  record.completed = undefined;
  return completed;
}

/** As a cache of somebody's own may answer. */
interface MaybeRecords {
  readonly containers: readonly (RuntimePodStatus['containers'][number] | null | undefined)[];
  readonly sandboxes: readonly (RuntimePodStatus['sandboxes'][number] | null | undefined)[];
}

/** True when nothing of the pod runs. What is not known may run. */
function isRuntimeTerminal(status: RuntimePodStatus | undefined): boolean {
  if (status === undefined) return false;
  const { containers, sandboxes }: MaybeRecords = status;
  return containers.every((one) => one?.state !== 'running') && !sandboxes.some((one) => one?.ready);
}
