// Behaviour of predicates and priorities that Kubernetes had before v1.22, whose policy reader knows their names no more: pkg/scheduler of
// v1.11 to v1.17, and plugin/pkg/scheduler of v1.8 for NoVolumeNodeConflict.
import type { WireNode, WirePersistentVolume, WirePod } from '../../../api/json/types.ts';
import { computePodQOSClass } from '../../../api/pod/pod-qos-class.ts';
import { findUntoleratedTaint } from '../../../api/selectors/taints.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle, Rejection } from '../../framework/plugin.ts';
import { type Amounts, addAmounts, amountsOf, raiseAmounts, resourceAmounts } from '../../nodes/resource.ts';
import { VolumePlaces } from '../../plugins/volumes/volume-places.ts';

const conditionEvents: readonly ClusterEventWithHint[] = [{ resource: 'Node', actions: ['Add', 'UpdateNodeCondition'] }];

/** The end of other pods changes nothing of it. */
function unresolvable(...reasons: string[]): Rejection {
  return { code: 'UnschedulableAndUnresolvable', reasons };
}

/** By a condition's type: the status that a node must have, if it has the condition, and what is said of any other. */
const wantedConditions: ReadonlyMap<string, readonly [status: string, reason: string]> = new Map([
  ['Ready', ['True', 'node(s) were not ready']],
  ['OutOfDisk', ['False', 'node(s) were out of disk space']],
  ['NetworkUnavailable', ['False', 'node(s) had unavailable network']],
]);

/**
 * `CheckNodeCondition`: rejects a node that is not ready, out of disk space or without its network, as its conditions say, and one that is
 * cordoned, whatever the pod tolerates. `Unknown` is not what it should be. A node without a condition is not rejected for it. All
 * that is wrong is told, in the order of the conditions.
 */
export function checkedConditions(): Plugin {
  return {
    name: 'CheckNodeCondition',
    eventsToRegister: () => [{ resource: 'Node', actions: ['Add', 'UpdateNodeCondition', 'UpdateNodeTaint'] }],
    filter(_state, _pod, { node: { status, spec } }) {
      const wrong = (status?.conditions ?? []).flatMap((condition) => {
        const [wanted, reason] = wantedConditions.get(condition.type) ?? [];
        return reason === undefined || condition.status === wanted ? [] : [reason];
      });
      if (spec?.unschedulable) wrong.push('node(s) were unschedulable');
      return wrong.length === 0 ? undefined : unresolvable(...wrong);
    },
  };
}

/** `CheckNodeMemoryPressure`: rejects a node that reports pressure of memory, for a pod of the class BestEffort; any other pod passes. */
export function nodeMemoryPressure(): Plugin {
  const isSpared = ({ spec }: WirePod): boolean => computePodQOSClass(spec) !== 'BestEffort';
  return pressure('CheckNodeMemoryPressure', 'MemoryPressure', 'node(s) had memory pressure', isSpared);
}

/** `CheckNodeDiskPressure`: rejects a node that reports pressure of its disk, for every pod. */
export function nodeDiskPressure(): Plugin {
  return pressure('CheckNodeDiskPressure', 'DiskPressure', 'node(s) had disk pressure', () => false);
}

/** `CheckNodePIDPressure`: rejects a node that is short of process ids, for every pod. */
export function nodePidPressure(): Plugin {
  return pressure('CheckNodePIDPressure', 'PIDPressure', 'node(s) had pid pressure', () => false);
}

/** Only the status True is pressure: Unknown is none. */
function pressure(name: string, type: string, reason: string, isSpared: (pod: WirePod) => boolean): Plugin {
  const isUnder = ({ status }: WireNode): boolean =>
    (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
  return {
    name,
    eventsToRegister: () => conditionEvents,
    filter: (_state, { pod }, { node }) => (isUnder(node) && !isSpared(pod) ? unresolvable(reason) : undefined),
  };
}

/**
 * `PodToleratesNodeNoExecuteTaints`: rejects a node with a taint of the effect NoExecute that the pod does not tolerate. Taints of other
 * effects do not count here; `PodToleratesNodeTaints` counts both.
 */
export function noExecuteTaints(): Plugin {
  return {
    name: 'PodToleratesNodeNoExecuteTaints',
    eventsToRegister: () => [
      { resource: 'Node', actions: ['Add', 'UpdateNodeTaint'] },
      { resource: 'Pod', actions: ['UpdatePodToleration'] },
    ],
    filter(_state, { pod }, { node }) {
      const taint = findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoExecute']);
      return taint === undefined ? undefined : unresolvable("node(s) had taints that the pod didn't tolerate");
    },
  };
}

/**
 * `NoVolumeNodeConflict`: rejects a node that the volumes of the pod's claims cannot reach by their own node affinity. Each claim that the
 * pod names must be there and bound. The predicate is of a time before claims that wait for the pod's node.
 */
export function volumeNodeConflict(handle: PluginHandle): Plugin {
  const claims = handle.objects(resources.persistentVolumeClaims);
  const volumes = handle.objects(resources.persistentVolumes);
  const places = new VolumePlaces();
  const volumeOf = (pod: WirePod, claimName: string): WirePersistentVolume | string => {
    if (claimName === '') return 'PersistentVolumeClaim had no name';
    const claim = claims.get(pod.metadata?.namespace, claimName);
    if (claim === undefined) return `PersistentVolumeClaim was not found: ${JSON.stringify(claimName)}`;
    const { volumeName } = claim.spec ?? {};
    if (!volumeName) return `PersistentVolumeClaim is not bound: ${JSON.stringify(claimName)}`;
    return volumes.get(undefined, volumeName) ?? `PersistentVolume not found: ${JSON.stringify(volumeName)}`;
  };
  return {
    name: 'NoVolumeNodeConflict',
    eventsToRegister: () => [
      { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
      { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'] },
      { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
    ],
    filter(_state, { pod }, { node }) {
      for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
        if (persistentVolumeClaim == null) continue;
        const volume = volumeOf(pod, persistentVolumeClaim.claimName);
        if (typeof volume === 'string') return unresolvable(volume);
        if (!places.reaches(volume, node)) return unresolvable('node(s) had volume node affinity conflict');
      }
      return undefined;
    },
  };
}

/**
 * `ResourceLimitsPriority`: scores 1 for a node that could give the pod all that its limits of CPU or of memory allow, and 0 for any other.
 * Pods that are there do not count: only the node's allocatable resources. A pod without limits scores 0 everywhere. So it decides only
 * between nodes that other priorities find equal.
 */
export function resourceLimits(): Plugin {
  return {
    name: 'ResourceLimitsPriority',
    eventsToRegister: () => [],
    score(_state, { pod }, { allocatable }) {
      const { milliCPU, memory } = limitsOf(pod);
      return isWithin(milliCPU, allocatable.milliCPU) || isWithin(memory, allocatable.memory) ? 1 : 0;
    },
  };
}

/** The containers together, or, where that is more, the largest init container. */
function limitsOf({ spec }: WirePod) {
  const total: Amounts = new Map();
  for (const container of spec?.containers ?? []) addAmounts(total, amountsOf(container.resources?.limits));
  for (const container of spec?.initContainers ?? []) raiseAmounts(total, amountsOf(container.resources?.limits));
  return resourceAmounts(total);
}

function isWithin(limit: number, allocatable: number): boolean {
  return limit !== 0 && allocatable !== 0 && limit <= allocatable;
}
