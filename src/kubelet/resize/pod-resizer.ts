// Behaviour of pkg/kubelet/kubelet.go (SyncPod, resize conditions) and kuberuntime_manager.go, v1.36.3.

import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText } from '../../base/errors.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { PodResizes } from '../../status/resize/pod-resizes.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import { type ActuateResizeOptions, actuateResize } from './actuate-resize.ts';
import { type PodAllocations, resizeEvent, resizeMessage } from './pod-allocations.ts';
import { withReportedResources } from './reported-resources.ts';
import { isResizeInProgress, type ResizeActions, resizeActionsOf } from './resize-actions.ts';

export interface PodResizerOptions extends Omit<ActuateResizeOptions, 'allocations'> {
  readonly allocations: PodAllocations;
  /** The status manager's conditions of resizes. */
  readonly resizes: PodResizes;
  readonly eventRecorder: EventRecorder;
}

/**
 * What a pod's sync does for a resize. `needsRestart` tells it which containers are to be made again, `resize` changes what can be
 * changed in place, before anything is started, and `report` is for the status. Every pod is the one that `PodAllocations.allocated`
 * gives: its spec has the resources that the pod has been given. Every list of records has the newest of a container first.
 */
export class PodResizer {
  readonly #options: PodResizerOptions;

  constructor(options: PodResizerOptions) {
    this.#options = options;
  }

  /** True where the container must be made again to get its new resources. */
  needsRestart(pod: Pod, { name }: Container, { details }: { readonly details: ContainerDetails }): boolean {
    return this.actions(pod, [details])?.restarts.includes(name) === true;
  }

  /**
   * Gives running containers and the pod's cgroup their new resources, and brings the pod's conditions up to date. Resolves with true
   * where anything of that was changed. Rejects with what went wrong.
   */
  async resize(pod: Pod, { containerDetails }: AgentPodStatus, signal: AbortSignal): Promise<boolean> {
    const { resizes } = this.#options;
    const podUID = podUIDOf(pod);
    const before = resizes.getPodResizeConditions(podUID);
    const actions = this.actions(pod, containerDetails);
    if (actions !== undefined) await this.actuate(pod, actions, signal);
    this.noteProgress(pod, containerDetails);
    return actions !== undefined || before.length !== resizes.getPodResizeConditions(podUID).length;
  }

  /** What is to be done; undefined: nothing. */
  actions(pod: Pod, details: readonly ContainerDetails[]): ResizeActions | undefined {
    return resizeActionsOf(pod, details, this.#actuated(pod));
  }

  /** Changes what can be changed in place. Rejects, with the condition and an event told, where that fails. */
  async actuate(pod: Pod, actions: ResizeActions, signal: AbortSignal): Promise<void> {
    try {
      await actuateResize(pod, actions, this.#options, signal);
    } catch (error) {
      if (!signal.aborted) this.#noteFailure(pod, errorText(error));
      throw error;
    }
  }

  /** Call it for each container that was made, with the pod that it was made for. */
  containerMade(pod: Pod, containerName: string): void {
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    const container = [...initContainers, ...containers].find(({ name }) => name === containerName);
    if (container === undefined) return;
    this.#options.allocations.setActuated(podUIDOf(pod), containerName, container.resources);
  }

  /** Brings the condition up to date, with an event for a resize that has come to its end. */
  noteProgress(pod: Pod, details: readonly ContainerDetails[]): void {
    const { resizes } = this.#options;
    const [podUID, generation] = [podUIDOf(pod), pod.metadata?.generation ?? 0];
    if (isResizeInProgress(pod, details, this.#actuated(pod))) {
      resizes.setPodResizeInProgressCondition(podUID, '', '', generation);
      return;
    }
    const { changed, observedGeneration } = resizes.clearPodResizeInProgressCondition(podUID);
    if (!changed) return;
    this.#options.eventRecorder.event(
      pod,
      'Normal',
      resizeEvent.completed,
      resizeMessage('Pod resize completed', pod, observedGeneration),
    );
  }

  /** The status with the resources that running containers have. */
  report(pod: Pod, status: WirePodStatus, { containerDetails }: Pick<AgentPodStatus, 'containerDetails'>): WirePodStatus {
    return withReportedResources(pod, status, containerDetails, this.#actuated(pod));
  }

  #actuated(pod: Pod) {
    return this.#options.allocations.actuated(podUIDOf(pod));
  }

  #noteFailure(pod: Pod, message: string): void {
    const [podUID, generation] = [podUIDOf(pod), pod.metadata?.generation ?? 0];
    const { changed, observedGeneration } = this.#options.resizes.setPodResizeInProgressCondition(
      podUID,
      'Error',
      message,
      generation,
    );
    if (!changed) return;
    const text = resizeMessage('Pod resize error', pod, observedGeneration, message);
    this.#options.eventRecorder.event(pod, 'Warning', resizeEvent.error, text);
  }
}
