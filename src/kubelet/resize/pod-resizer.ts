// Behaviour of pkg/kubelet/kubelet.go (SyncPod, resize conditions) and kuberuntime_manager.go, v1.36.3.

import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText } from '../../base/errors.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { PodResizes } from '../../status/resize/pod-resizes.ts';
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
 * What a pod's sync does for a resize: `actions` tells what is to be restarted, which the sync does; `actuate` does the rest, before
 * anything is started; then, with the runtime's newest records, `noteProgress` and `report` for the status. Every pod is the one that
 * `PodAllocations.allocated` gives, every list of records has the newest of a container first.
 */
export class PodResizer {
  readonly #options: PodResizerOptions;

  constructor(options: PodResizerOptions) {
    this.#options = options;
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
  report(pod: Pod, status: WirePodStatus, details: readonly ContainerDetails[]): WirePodStatus {
    return withReportedResources(pod, status, details, this.#actuated(pod));
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
