import {
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  type WirePod,
  type WirePodCondition,
  type WirePodStatus,
} from '../../src/index.ts';
import type { VirtualPod } from './virtual-pod.ts';

/** An address for documentation. `hostIP` and the first of `hostIPs` must be the same. */
const hostIP = '192.0.2.10';

/** The conditions that this node writes; every other one on a pod belongs to another writer. */
export const ownConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

/**
 * Makes a pod's status from the runtime's view, as a kubelet does. Conditions of other writers are passed on unchanged (a
 * readiness gate may need them). The server sets `qosClass`; the manager sets the times of conditions.
 */
export function makePodStatus(pod: WirePod, runtime: VirtualPod): WirePodStatus {
  const containerStatuses = runtime.containers.map(({ status }) => status);
  const initContainerStatuses = runtime.initContainers.map(({ status }) => status);
  const all = [...initContainerStatuses, ...containerStatuses];
  const phase = phaseOf(runtime);
  const old = pod.status;
  const foreign = foreignConditions(pod);
  const conditions: WirePodCondition[] = [
    ...foreign,
    { type: 'PodReadyToStartContainers', status: runtime.ip === undefined || runtime.isStopping ? 'False' : 'True' },
    generatePodInitializedCondition(pod, old, all, phase),
    generatePodReadyCondition(pod, old, foreign, all, phase),
    generateContainersReadyCondition(pod, old, all, phase),
    { type: 'PodScheduled', status: 'True' },
  ];
  return {
    phase,
    conditions,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(runtime.ip !== undefined && { podIP: runtime.ip, podIPs: [{ ip: runtime.ip }] }),
    ...(initContainerStatuses.length > 0 && { initContainerStatuses }),
    containerStatuses,
  };
}

export function foreignConditions(pod: WirePod): WirePodCondition[] {
  return (pod.status?.conditions ?? []).filter(({ type }) => !ownConditions.has(type));
}

function phaseOf({ containers, isCompleted, isRunning, isStopping, restartPolicy }: VirtualPod): string {
  const allSucceeded = containers.every(({ exitCode }) => exitCode === 0);
  // a stopped pod ends as its containers ended, whatever its restart policy; a pod that never ran has failed
  if (isStopping && !isRunning) return allSucceeded ? 'Succeeded' : 'Failed';
  if (isCompleted && restartPolicy !== 'Always') {
    if (allSucceeded) return 'Succeeded';
    if (restartPolicy === 'Never') return 'Failed';
  }
  return containers.some(({ hasRun }) => hasRun) ? 'Running' : 'Pending';
}
