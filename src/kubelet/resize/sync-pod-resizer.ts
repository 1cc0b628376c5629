import type { Pod, WirePodStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { PodResizes } from '../../status/resize/pod-resizes.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import type { PodResizer } from './pod-resizer.ts';

/** A `PodResizer` as a pod's sync calls it. Every pod has the resources in its spec that it has been given. */
export class SyncPodResizer {
  readonly #resizer: PodResizer;
  readonly #resizes: PodResizes;

  constructor(resizer: PodResizer, resizes: PodResizes) {
    this.#resizer = resizer;
    this.#resizes = resizes;
  }

  /** True where the container must be made again to get its new resources. */
  needsRestart(pod: Pod, { name }: Container, { details }: { readonly details: ContainerDetails }): boolean {
    return this.#resizer.actions(pod, [details])?.restarts.includes(name) === true;
  }

  /**
   * Gives running containers and the pod's cgroup their new resources, and brings the pod's conditions up to date. Resolves with true
   * where anything of that was changed. Rejects with what went wrong.
   */
  async resize(pod: Pod, { containerDetails }: AgentPodStatus, signal: AbortSignal): Promise<boolean> {
    const podUID = podUIDOf(pod);
    const before = this.#resizes.getPodResizeConditions(podUID);
    const actions = this.#resizer.actions(pod, containerDetails);
    if (actions !== undefined) await this.#resizer.actuate(pod, actions, signal);
    this.#resizer.noteProgress(pod, containerDetails);
    return actions !== undefined || before.length !== this.#resizes.getPodResizeConditions(podUID).length;
  }

  containerMade(pod: Pod, containerName: string): void {
    this.#resizer.containerMade(pod, containerName);
  }

  /** The status with the resources that running containers have. */
  report(pod: Pod, status: WirePodStatus, { containerDetails }: AgentPodStatus): WirePodStatus {
    return this.#resizer.report(pod, status, containerDetails);
  }
}
