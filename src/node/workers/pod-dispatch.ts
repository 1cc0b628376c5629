// Behaviour of HandlePodAdditions, HandlePodUpdates, HandlePodRemoves, HandlePodReconcile and HandlePodSyncs in
// pkg/kubelet/kubelet.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase, podUIDOf } from '../../api/pod/pod-identity.ts';
import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { callGuarded } from '../../base/guard.ts';
import type { PodProblem } from '../../base/problem.ts';
import { cachedStatusOf } from '../../status/cached-status.ts';
import { needToReconcilePodReadiness } from '../../status/conditions/generate-runtime-conditions.ts';
import type { PodUpdate } from '../config/pod-changes.ts';
import { PodAdmissions } from './pod-admissions.ts';
import type { ResolvedLoopOptions } from './sync-loop-options.ts';
import type { KillPodOptions, UpdatePodOptions } from './workers-options.ts';

/** A pod with its mirror pod, where it has one. */
interface KnownPair {
  readonly pod: Pod;
  readonly mirrorPod: Pod | undefined;
}

/**
 * Hands each change of a pod to the pod manager, then to the workers. No method waits. What fails for one pod is logged, and
 * the next pod is handled.
 */
export class PodDispatch {
  readonly #options: ResolvedLoopOptions;
  /** The pods that went to the workers since {@link takeDispatched} was last called. */
  #dispatched = new Set<string>();
  readonly #admissions: PodAdmissions;
  /** While pods are added: those that are active, by uid, so that many are not looked through once for each. */
  #active: Map<string, Pod> | undefined;

  /** The pods whose wait for an admission is over. */
  #dueAdmissions = new Set<string>();
  #updates = 0;

  /** `admissionDue`: told that {@link beginDue} has something to do. */
  constructor(options: ResolvedLoopOptions, admissionDue: () => void) {
    this.#options = options;
    this.#admissions = new PodAdmissions(options, (podUID) => {
      this.#dueAdmissions.add(podUID);
      admissionDue();
    });
  }

  /** How many updates of sources were handled. */
  get updates(): number {
    return this.#updates;
  }

  /** `sourcesReady`: every source has been heard from, so that a pod that is missing is gone. */
  apply({ op, source, pods }: PodUpdate, sourcesReady: () => boolean): void {
    this.#updates += 1;
    if (op === 'ADD') this.#addAll(pods.toSorted(byCreationTime));
    else if (op === 'UPDATE' || op === 'DELETE') this.#each(pods, (pod) => this.#update(pod));
    else if (op === 'RECONCILE') this.#each(pods, (pod) => this.#reconcile(pod));
    else if (op === 'REMOVE') this.#each(pods, (pod) => this.#remove(pod, sourcesReady));
    else this.#options.logger.error({ op, source }, 'the sync loop does not know this operation: PodConfig must be Incremental');
  }

  /** Syncs these pods again, as they are. A uid of no pod is passed over. */
  syncs(podUIDs: Iterable<string>): void {
    const { podManager } = this.#options;
    for (const podUID of podUIDs) {
      const pod = this.#guard(podFields({ uid: podUID }), () => podManager.getPodByUID(podUID));
      if (pod !== undefined) this.#guard(podFields(pod.metadata), () => this.#toWorkers('sync', this.#known(pod)));
    }
  }

  /** Begins a pod that the workers do not know, if it may run here: true when it went to them. */
  begin(pod: Pod): boolean {
    return this.#begin(this.#known(pod));
  }

  /** True for a pod that has not begun, because nobody could say whether it may run. */
  awaitsAdmission(podUID: string): boolean {
    return this.#admissions.awaits(podUID);
  }

  /** Asks again for the pods of which nobody could say whether they may run, and whose wait is over. */
  beginDue(): void {
    const due = this.#dueAdmissions;
    this.#dueAdmissions = new Set();
    this.#amongActive(() => {
      for (const podUID of due) {
        if (!this.#admissions.awaits(podUID)) continue;
        const pod = this.#guard(podFields({ uid: podUID }), () => this.#options.podManager.getPodByUID(podUID));
        if (pod === undefined || this.#isInactive(pod)) this.#admissions.forget(podUID);
        else this.#guard(podFields(pod.metadata), () => this.begin(pod));
      }
    });
  }

  /** What is wrong with the pods that wait for an admission. */
  problems(): PodProblem[] {
    return this.#admissions.problems();
  }

  problemOf(podUID: string): PodProblem | undefined {
    return this.#admissions.problem(podUID);
  }

  /** Leaves no timer. */
  stop(): void {
    this.#admissions.stop();
  }

  kill(pod: Pod): void {
    this.#send({ updateType: 'kill', pod });
  }

  /** Ends what the runtime runs of a pod that the agent has no object of. */
  killRunning(runningPod: RunningPod, killPodOptions: KillPodOptions): void {
    this.#send({ updateType: 'kill', runningPod, killPodOptions });
  }

  /** The pods of the agent that are not over. */
  activePods(): Pod[] {
    return this.#options.podManager.getPods().filter((pod) => !this.#isInactive(pod));
  }

  /** The uids that went to the workers since the last call. */
  takeDispatched(): ReadonlySet<string> {
    const dispatched = this.#dispatched;
    this.#dispatched = new Set();
    return dispatched;
  }

  #addAll(pods: readonly Pod[]): void {
    this.#amongActive(() => this.#each(pods, (pod) => this.#add(pod)));
  }

  #amongActive(handle: () => void): void {
    this.#active = new Map(this.activePods().map((pod) => [podUIDOf(pod), pod]));
    handle();
    this.#active = undefined;
  }

  #add(given: Pod): void {
    const found = this.#put(given);
    if (found === undefined) return;
    const { pod, wasMirror } = found;
    if (!wasMirror && !this.#isInactive(pod)) this.#active?.set(podUIDOf(pod), pod);
    if (wasMirror) this.#toWorkers('update', found);
    else this.#begin(found);
  }

  #begin(known: KnownPair): boolean {
    const { pod } = known;
    const isNew = !this.#options.podWorkers.isPodTerminationRequested(podUIDOf(pod)) && !isTerminalPhase(pod.status?.phase);
    if (!isNew) this.#admissions.forget(podUIDOf(pod));
    else if (!this.#admit(pod)) return false;
    this.#toWorkers('create', known);
    return true;
  }

  #update(given: Pod): void {
    const found = this.#put(given);
    if (found !== undefined) this.#toWorkers('update', found);
  }

  #reconcile(given: Pod): void {
    const found = this.#put(given);
    // a change of the status alone is mostly the agent's own write: one sync has led to it, and needs no second one
    if (found !== undefined && needToReconcilePodReadiness(found.pod)) this.#toWorkers('sync', found);
  }

  #remove(given: Pod, sourcesReady: () => boolean): void {
    const { podManager, logger } = this.#options;
    podManager.removePod(given);
    this.#admissions.forget(podUIDOf(given));
    const { pod, wasMirror } = podManager.getPodAndMirrorPod(given);
    if (wasMirror) {
      if (pod !== undefined) this.#toWorkers('update', this.#known(pod));
    } else if (sourcesReady()) this.kill(given);
    else logger.debug(podFields(given.metadata), 'a removed pod is ended once every source has been heard from');
  }

  #put(given: Pod): (KnownPair & { readonly wasMirror: boolean }) | undefined {
    const { podManager, logger } = this.#options;
    podManager.replacePod(given);
    const { pod, mirrorPod, wasMirror } = podManager.getPodAndMirrorPod(given);
    // of a mirror pod, what the pod manager shows now counts
    if (pod !== undefined) return wasMirror ? { ...this.#known(pod), wasMirror } : { pod, mirrorPod, wasMirror };
    logger.debug(podFields(given.metadata), 'a mirror pod without its static pod is passed over');
    return undefined;
  }

  #known(pod: Pod): KnownPair {
    const { mirrorPod } = this.#options.podManager.getPodAndMirrorPod(pod);
    return { pod, mirrorPod };
  }

  #toWorkers(updateType: 'create' | 'update' | 'sync', { pod, mirrorPod }: KnownPair): void {
    if (updateType !== 'create' && this.#isHeld(pod)) return;
    this.#send({ updateType, pod, ...(mirrorPod !== undefined && { mirrorPod }) });
  }

  /** True for a pod that waits for an admission: no change of it begins it. One that is deleted or over waits no longer. */
  #isHeld({ metadata, status }: Pod): boolean {
    const podUID = metadata?.uid ?? '';
    if (!this.#admissions.awaits(podUID)) return false;
    if (metadata?.deletionTimestamp == null && !isTerminalPhase(status?.phase)) return true;
    this.#admissions.forget(podUID);
    return false;
  }

  #send(options: UpdatePodOptions): void {
    const { podWorkers, clock } = this.#options;
    this.#dispatched.add(options.pod === undefined ? (options.runningPod?.uid ?? '') : podUIDOf(options.pod));
    podWorkers.updatePod({ ...options, startTime: clock.now() });
  }

  /** False: the pod is refused and Failed, or nobody could say, and it waits. */
  #admit(pod: Pod): boolean {
    const uid = podUIDOf(pod);
    const others = (): Pod[] => [...(this.#active?.values() ?? this.activePods())].filter((other) => podUIDOf(other) !== uid);
    const answer = this.#admissions.ask(pod, others);
    if (answer === 'refused') this.#active?.delete(uid);
    return answer === 'admitted';
  }

  #isInactive(pod: Pod): boolean {
    const { podWorkers, statusManager } = this.#options;
    const uid = podUIDOf(pod);
    if (podWorkers.isPodKnownTerminated(uid)) return true;
    const told = cachedStatusOf(statusManager, uid) ?? statusManager.getPodStatus(uid);
    const isTerminal = isTerminalPhase(pod.status?.phase) || isTerminalPhase(told?.phase);
    return isTerminal && !podWorkers.isPodTerminationRequested(uid);
  }

  #each(pods: readonly Pod[], handle: (pod: Pod) => void): void {
    for (const pod of pods) this.#guard(podFields(pod?.metadata), () => handle(pod));
  }

  #guard<T>(fields: PodFields, call: () => T): T | undefined {
    return callGuarded(call, (err) => this.#options.logger.error({ ...fields, err }, 'the sync loop could not handle a pod'));
  }
}

function byCreationTime(one: Pod, other: Pod): number {
  return createdAt(one) - createdAt(other);
}

/** 0 for a pod that does not say it, such as a static pod. */
function createdAt(pod: Pod): number {
  const time = pod?.metadata?.creationTimestamp;
  return (time == null ? 0 : new Date(time).getTime()) || 0;
}
