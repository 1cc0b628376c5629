// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_manager.go (doPodResizeAction), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { LinuxContainerResources } from '../runtime/runtime-containers.ts';
import { type AllocatedAmounts, type ResourceName, resourcesOf } from './pod-allocation.ts';
import type { PodAllocations } from './pod-allocations.ts';
import type { ContainerResize, ResizeActions } from './resize-actions.ts';

export interface ActuateResizeOptions {
  readonly runtime: Pick<ContainerRuntime, 'updateContainerResources' | 'listContainerStats'>;
  readonly cgroups: Pick<PodCgroups, 'podResources' | 'updatePod'>;
  /** The limits of the pod as a whole that follow from its spec. */
  readonly podResources: (pod: Pod) => LinuxContainerResources;
  /** The limits of a container that follow from its spec and its pod's. */
  readonly containerResources: (pod: Pod, container: Container) => LinuxContainerResources;
  readonly allocations: Pick<PodAllocations, 'setActuated' | 'setPodActuated'>;
}

/** Limit and weight of one resource, as the pod's cgroup has them. */
const limitsOf = {
  memory: ({ memoryLimitInBytes }: LinuxContainerResources) => memoryLimitInBytes,
  cpu: ({ cpuQuota }: LinuxContainerResources) => cpuQuota,
};

/**
 * Tells the runtime and the kernel what the pod has been given. A pod's own limit grows before those of its containers and shrinks
 * after them. Rejects with what went wrong; what was done until then is recorded, and the next call does the rest.
 */
export async function actuateResize(
  pod: Pod,
  actions: ResizeActions,
  options: ActuateResizeOptions,
  signal: AbortSignal,
): Promise<void> {
  const podUID = podUIDOf(pod);
  const wanted = options.podResources(pod);
  const current = (await options.cgroups.podResources(pod)) ?? {};
  const touchesAll = actions.restarts.length > 0 || actions.podLevel;
  if (actions.memory.length > 0 || touchesAll) await requireRoom(podUID, wanted, current, actions, options, signal);
  const amounts = new Map<string, AllocatedAmounts>();
  for (const name of ['memory', 'cpu'] as const) {
    if (actions[name].length === 0 && !touchesAll) continue;
    const shrinks = await growPod(name, pod, wanted, current, options);
    for (const one of actions[name]) {
      signal.throwIfAborted();
      amounts.set(
        one.containerID,
        await updateContainer(name, pod, one, amounts.get(one.containerID) ?? one.from, options, signal),
      );
    }
    for (const resources of shrinks) await options.cgroups.updatePod(pod, resources);
  }
  if (actions.podLevel) options.allocations.setPodActuated(podUID);
}

/** Writes what grows; returns what is to be written once the containers have shrunk. A limit that is taken away stays. */
async function growPod(
  name: ResourceName,
  pod: Pod,
  wanted: LinuxContainerResources,
  current: LinuxContainerResources,
  { cgroups }: ActuateResizeOptions,
): Promise<LinuxContainerResources[]> {
  const later: LinuxContainerResources[] = [];
  const parts: { from: number; to: number | undefined; write: LinuxContainerResources }[] = [
    { from: asLimit(limitsOf[name](current)), to: optional(limitsOf[name](wanted)), write: limitPart(name, wanted) },
  ];
  if (name === 'cpu')
    parts.push({ from: current.cpuShares ?? 0, to: wanted.cpuShares, write: { cpuShares: wanted.cpuShares ?? 2 } });
  for (const { from, to, write } of parts) {
    if (to === undefined || to === from) continue;
    if (to > from) await cgroups.updatePod(pod, write);
    else later.unshift(write);
  }
  return later;
}

function limitPart(name: ResourceName, { memoryLimitInBytes = 0, cpuQuota = 0, cpuPeriod }: LinuxContainerResources) {
  return name === 'memory' ? { memoryLimitInBytes } : { cpuQuota, ...(cpuPeriod !== undefined && { cpuPeriod }) };
}

/** No limit is more than any. */
function asLimit(value: number | undefined): number {
  return value === undefined || value <= 0 ? Number.POSITIVE_INFINITY : value;
}

function optional(value: number | undefined): number | undefined {
  return value === undefined || value <= 0 ? undefined : value;
}

/** One resource moves to what is wanted, the other stays as it is. Resolves with what the container has then. */
async function updateContainer(
  name: ResourceName,
  pod: Pod,
  { container, containerID, to }: ContainerResize,
  now: AllocatedAmounts,
  { runtime, containerResources, allocations }: ActuateResizeOptions,
  signal: AbortSignal,
): Promise<AllocatedAmounts> {
  const next: AllocatedAmounts =
    name === 'memory'
      ? { ...now, memoryLimit: to.memoryLimit, memoryRequest: to.memoryRequest }
      : { ...now, cpuLimit: to.cpuLimit, cpuRequest: to.cpuRequest };
  const resources = resourcesOf(next);
  await runtime.updateContainerResources(containerID, containerResources(pod, { ...container, resources }), { signal });
  allocations.setActuated(podUIDOf(pod), container.name, resources);
  return next;
}

/** A limit below what is used would end processes, so it is refused. */
async function requireRoom(
  podUID: string,
  wanted: LinuxContainerResources,
  current: LinuxContainerResources,
  { memory }: ResizeActions,
  { runtime }: ActuateResizeOptions,
  signal: AbortSignal,
): Promise<void> {
  const podLimit = optional(wanted.memoryLimitInBytes);
  const podShrinks = podLimit !== undefined && podLimit < asLimit(current.memoryLimitInBytes);
  const shrinking = memory.filter(({ from, to }) => to.memoryLimit > 0 && to.memoryLimit < asLimit(from.memoryLimit));
  if (!podShrinks && shrinking.length === 0) return;
  const stats = await runtime.listContainerStats({ podUID }, { signal });
  const used = new Map(stats.map(({ containerID, memoryUsageBytes }) => [containerID, memoryUsageBytes]));
  const total = [...used.values()].reduce<number>((sum, bytes = 0) => sum + bytes, 0);
  const problems: string[] = [];
  if (podShrinks && total >= podLimit) {
    problems.push(`attempting to set pod memory limit (${podLimit}) below current usage (${total})`);
  }
  for (const { container, containerID, to } of shrinking) {
    const bytes = used.get(containerID);
    if (bytes === undefined) problems.push(`missing container "${container.name}" memory usage`);
    else if (bytes >= to.memoryLimit) {
      const what = `container "${container.name}" memory limit (${to.memoryLimit})`;
      problems.push(`attempting to set ${what} below current usage (${bytes})`);
    }
  }
  if (problems.length === 0) return;
  const all = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
  throw new Error(`cannot decrease memory limits: ${all}`);
}
