// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_manager.go (computePodResizeAction, IsPodResizeInProgress), v1.36.3.

import { lookupBy } from '../../api/json/json.ts';
import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import {
  type AllocatedAmounts,
  allocatedAmountsOf,
  type PodAllocation,
  type ResourceName,
  sameAmounts,
  sameOf,
} from './pod-allocation.ts';

/** A running container whose limits are to change. */
export interface ContainerResize {
  readonly container: Container;
  readonly containerID: string;
  readonly from: AllocatedAmounts;
  readonly to: AllocatedAmounts;
}

/** What a resize of a pod takes. */
export interface ResizeActions {
  /** In the order in which it is to be done: what gets less comes first. */
  readonly memory: readonly ContainerResize[];
  /** The same of the processor. */
  readonly cpu: readonly ContainerResize[];
  /** The names of containers that are to be started anew, by their `resizePolicy`. */
  readonly restarts: readonly string[];
  /** True: the pod as a whole has other resources than before. */
  readonly podLevel: boolean;
}

/**
 * What differs between what the pod has been given, which is `pod`, and what the runtime was told. `details`: the newest record of
 * each container first. Undefined: nothing differs. Throws ERR_INVALID_ARGUMENT for what is no quantity.
 */
export function resizeActionsOf(
  pod: Pod,
  details: readonly ContainerDetails[],
  actuated: PodAllocation,
): ResizeActions | undefined {
  const changed = changedContainers(pod, details, actuated);
  const restarts = changed.filter(needsRestart);
  const updates = changed.filter((one) => !needsRestart(one));
  const podLevel = !sameAmounts(allocatedAmountsOf(undefined, pod.spec?.resources), allocatedAmountsOf(undefined, actuated.pod));
  if (changed.length === 0 && !podLevel) return undefined;
  return {
    memory: inOrder('memory', updates),
    cpu: inOrder('cpu', updates),
    restarts: restarts.map(({ container }) => container.name),
    podLevel,
  };
}

/** True while the runtime has not been told what the pod has been given. */
export function isResizeInProgress(pod: Pod, details: readonly ContainerDetails[], actuated: PodAllocation): boolean {
  return resizeActionsOf(pod, details, actuated) !== undefined;
}

function changedContainers({ spec }: Pod, details: readonly ContainerDetails[], actuated: PodAllocation): ContainerResize[] {
  const newestOf = lookupBy(details, ({ metadata }) => metadata.name);
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap((container) => {
    const newest = newestOf(container.name);
    const known = actuated.containers[container.name];
    if (newest?.state !== 'running' || known === undefined) return [];
    const from = allocatedAmountsOf(actuated.pod, known);
    const to = allocatedAmountsOf(spec?.resources, container.resources);
    return sameAmounts(from, to) ? [] : [{ container, containerID: newest.id, from, to }];
  });
}

function needsRestart({ container, from, to }: ContainerResize): boolean {
  return (container.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      (resourceName === 'cpu' || resourceName === 'memory') &&
      !sameOf(resourceName, from, to),
  );
}

/** A limit that moves counts before a request. */
function inOrder(name: ResourceName, updates: readonly ContainerResize[]): ContainerResize[] {
  const differs = updates.filter(({ from, to }) => !sameOf(name, from, to));
  const isLess = ({ from, to }: ContainerResize): boolean =>
    from[`${name}Limit`] === to[`${name}Limit`]
      ? to[`${name}Request`] < from[`${name}Request`]
      : to[`${name}Limit`] < from[`${name}Limit`];
  return [...differs.filter(isLess), ...differs.filter((one) => !isLess(one))];
}
