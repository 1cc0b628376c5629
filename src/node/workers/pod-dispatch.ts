// Behaviour of HandlePodAdditions, HandlePodUpdates, HandlePodRemoves, HandlePodReconcile and HandlePodSyncs in
// pkg/kubelet/kubelet.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isTerminalPhase, podFullName, podUIDOf } from '../../api/pod/pod-identity.ts';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { callGuarded } from '../../base/guard.ts';
import { needToReconcilePodReadiness } from '../../status/conditions/generate-runtime-conditions.ts';
import type { PodUpdate } from '../config/pod-changes.ts';
import { isAdmission, type ResolvedLoopOptions } from './sync-loop-options.ts';
import type { KillPodOptions, UpdatePodOptions } from './workers-options.ts';

/**
 * Hands each change of a pod to the pod manager, then to the workers. No method waits. What fails for one pod is logged, and
 * the next pod is handled.
 */
export class PodDispatch {
  readonly #options: ResolvedLoopOptions;
  /** The pods that went to the workers since {@link takeDispatched} was last called. */
  #dispatched = new Set<string>();
  /** The uids of the pods that nobody could say of whether they may run. */
  readonly #awaitsAdmission = new Set<string>();
  /** While pods are added: those that are active, by uid, so that many are not looked through once for each. */
  #active: Map<string, Pod> | undefined;

  constructor(options: ResolvedLoopOptions) {
    this.#options = options;
  }

  /** `sourcesReady`: every source has been heard from, so that a pod that is missing is gone. */
  apply({ op, source, pods }: PodUpdate, sourcesReady: () => boolean): void {
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
      const pod = this.#guard({ podUID }, () => podManager.getPodByUID(podUID));
      if (pod !== undefined) this.#guard({ podUID }, () => this.#toWorkers('sync', pod));
    }
  }

  /** Begins a pod that the workers do not know, if it may run here: true when it went to them. */
  begin(pod: Pod): boolean {
    const { podWorkers } = this.#options;
    const uid = podUIDOf(pod);
    const isNew = !podWorkers.isPodTerminationRequested(uid) && !isTerminalPhase(pod.status?.phase);
    if (isNew && !this.#admit(pod)) return false;
    this.#toWorkers('create', pod);
    return true;
  }

  /** True for a pod that has not begun, because nobody could say whether it may run. */
  awaitsAdmission(podUID: string): boolean {
    return this.#awaitsAdmission.has(podUID);
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
    this.#active = new Map(this.activePods().map((pod) => [podUIDOf(pod), pod]));
    this.#each(pods, (pod) => this.#add(pod));
    this.#active = undefined;
  }

  #add(given: Pod): void {
    const found = this.#put(given);
    if (found.pod === undefined) return;
    if (!found.wasMirror && !this.#isInactive(found.pod)) this.#active?.set(podUIDOf(found.pod), found.pod);
    if (found.wasMirror) this.#toWorkers('update', found.pod);
    else this.begin(found.pod);
  }

  #update(given: Pod): void {
    const { pod } = this.#put(given);
    if (pod !== undefined) this.#toWorkers('update', pod);
  }

  #reconcile(given: Pod): void {
    const { pod } = this.#put(given);
    // a change of the status alone is mostly the agent's own write: one sync has led to it, and needs no second one
    if (pod !== undefined && needToReconcilePodReadiness(pod)) this.#toWorkers('sync', pod);
  }

  #remove(given: Pod, sourcesReady: () => boolean): void {
    const { podManager, logger } = this.#options;
    podManager.removePod(given);
    this.#awaitsAdmission.delete(podUIDOf(given));
    const { pod, wasMirror } = podManager.getPodAndMirrorPod(given);
    if (wasMirror) {
      if (pod !== undefined) this.#toWorkers('update', pod);
    } else if (sourcesReady()) this.kill(given);
    else logger.debug({ podUID: podUIDOf(given) }, 'a removed pod is ended once every source has been heard from');
  }

  #put(given: Pod): { readonly pod: Pod | undefined; readonly wasMirror: boolean } {
    const { podManager, logger } = this.#options;
    podManager.replacePod(given);
    const found = podManager.getPodAndMirrorPod(given);
    if (found.pod === undefined) logger.debug({ pod: podFullName(given) }, 'a mirror pod without its static pod is passed over');
    return found;
  }

  #toWorkers(updateType: 'create' | 'update' | 'sync', pod: Pod): void {
    const { mirrorPod } = this.#options.podManager.getPodAndMirrorPod(pod);
    this.#send({ updateType, pod, ...(mirrorPod !== undefined && { mirrorPod }) });
  }

  #send(options: UpdatePodOptions): void {
    const { podWorkers, clock } = this.#options;
    this.#dispatched.add(options.pod === undefined ? (options.runningPod?.uid ?? '') : podUIDOf(options.pod));
    podWorkers.updatePod({ ...options, startTime: clock.now() });
  }

  /** False: the pod is refused and Failed, or nobody could say, and it waits. */
  #admit(pod: Pod): boolean {
    const { admitPod, statusManager, eventRecorder, logger, metrics } = this.#options;
    if (admitPod === undefined) return true;
    const uid = podUIDOf(pod);
    const others = [...(this.#active?.values() ?? this.activePods())].filter((other) => podUIDOf(other) !== uid);
    let hasFailed = false;
    const answer: unknown = callGuarded(
      () => admitPod(pod, others),
      (err) => {
        hasFailed = true;
        logger.error({ err, podUID: uid }, 'admitPod failed; the pod waits');
      },
    );
    if (!isAdmission(answer)) {
      this.#awaitsAdmission.add(uid);
      if (!hasFailed) logger.warn({ podUID: uid }, 'admitPod did not answer; the pod waits');
      return false;
    }
    this.#awaitsAdmission.delete(uid);
    if (answer.admit) return true;
    this.#active?.delete(uid);
    const { reason, message } = answer;
    eventRecorder.event(pod, 'Warning', reason, message);
    metrics.increment('kubelet_admission_rejections_total', { reason });
    const { qosClass } = pod.status ?? {};
    const status = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` };
    statusManager.setPodStatus(pod, qosClass === undefined ? status : { ...status, qosClass });
    return false;
  }

  #isInactive(pod: Pod): boolean {
    const { podWorkers, statusManager } = this.#options;
    const uid = podUIDOf(pod);
    if (podWorkers.isPodKnownTerminated(uid)) return true;
    const isTerminal = isTerminalPhase(pod.status?.phase) || isTerminalPhase(statusManager.getPodStatus(uid)?.phase);
    return isTerminal && !podWorkers.isPodTerminationRequested(uid);
  }

  #each(pods: readonly Pod[], handle: (pod: Pod) => void): void {
    for (const pod of pods) this.#guard({ podUID: pod?.metadata?.uid }, () => handle(pod));
  }

  #guard<T>(fields: object, call: () => T): T | undefined {
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
