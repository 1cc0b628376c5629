// Behaviour of pkg/kubelet/kubelet_pods.go generateAPIPodStatus and convertStatusToAPIStatus, v1.36.3.

import { lookupByName } from '../../api/json/json.ts';
import type { Pod, PodStatus, WirePodStatus } from '../../api/json/types.ts';
import { hasRestartAllContainersRule } from '../../api/pod/pod-containers.ts';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { requireKnownOptions, requireObject } from '../../base/options.ts';
import { canonicalPodStatus } from '../../status/canonical/canonical-status.ts';
import { allContainersShouldRestart } from '../../status/conditions/generate-runtime-conditions.ts';
import { assemblePodStatus, type Eviction } from './assemble-pod-status.ts';
import { byName } from './container-order.ts';
import { containerStatuses, initContainerStatuses, type WaitingReasons } from './container-statuses.ts';
import { podIPsInOrder } from './pod-ips.ts';
import { type ContainerProbeStates, withInitProbeStates, withoutProbes, withProbeStates } from './probe-states.ts';
import { requireRuntimeStatus } from './require-runtime-status.ts';

/** What a status is made of. `pod` and `runtimeStatus` are needed. */
export interface GeneratePodStatusOptions {
  /** With the API copy of its status. */
  readonly pod: Pod;
  /** What the container runtime knows of the pod. */
  readonly runtimeStatus: RuntimePodStatus;
  /** The status manager's status of the pod. Default: the API copy, `pod.status`. */
  readonly previous?: PodStatus | undefined;
  /** No container of the pod will be started again, whatever its restart policy says. Default false. */
  readonly podIsTerminal?: boolean | undefined;
  /** The node's addresses, of which the first decides which family comes first. Default: `hostIPs`. */
  readonly nodeIPs?: readonly string[] | undefined;
  /** The node's addresses as the pod shows them: one, or one of each family. Default: none. */
  readonly hostIPs?: readonly string[] | undefined;
  /** Why containers could not be started last, by the container's name, such as a `Map`. */
  readonly reasons?: WaitingReasons | undefined;
  /** What the probes say, such as a `ProbeManager`. Default: nobody probes, and what runs is started and ready. */
  readonly probes?: ContainerProbeStates | undefined;
  /** The agent wants the pod gone from its node: it has failed. */
  readonly eviction?: Eviction | undefined;
  /** The pod's resize conditions, as `StatusManager.resizes` has them. Default: none. */
  readonly resizeConditions?: PodStatus['conditions'] | undefined;
}

const knownOptions: readonly (keyof GeneratePodStatusOptions)[] = [
  'pod',
  'runtimeStatus',
  'previous',
  'podIsTerminal',
  'nodeIPs',
  'hostIPs',
  'reasons',
  'probes',
  'eviction',
  'resizeConditions',
];

/**
 * The status of a pod that follows from what the container runtime knows of it: phase, reason, conditions, the statuses of
 * all containers of the spec, addresses, resources and quality of service, for `StatusManager.setPodStatus`, which adds the
 * times and the generation. Restart counts never go back, what was terminal stays so, and conditions of others stay.
 *
 * Changes nothing it is given. Throws ERR_INVALID_OPTION for an unknown option, and ERR_INVALID_ARGUMENT for a pod, a runtime
 * status or a status before that is none, for a record of a container without a name, an id or one of the four states, or with
 * a count, a code, a time or a text that is none, and for a resource of the spec that is no quantity.
 *
 * @example
 * ```ts
 * import { generatePodStatus } from 'pod-status-manager/node';
 * import { buildPod } from 'pod-status-manager/testing';
 *
 * const pod = buildPod();
 * const app = { id: 'containerd://1', name: 'app', state: 'running', startedAt: Date.now(), active: true } as const;
 * const runtimeStatus = { podUID: 'uid-of-pod-1', ips: ['10.0.0.7'], containers: [app], sandboxes: [{ ready: true }] };
 * const { phase, podIP } = generatePodStatus({ pod, runtimeStatus });
 * console.log(phase, podIP); // Running 10.0.0.7
 * ```
 */
export function generatePodStatus(options: GeneratePodStatusOptions): WirePodStatus {
  requireKnownOptions('options', options, knownOptions);
  const { pod, runtimeStatus, hostIPs = [], nodeIPs = hostIPs, probes = withoutProbes } = options;
  requireObject('pod', pod);
  requireRuntimeStatus(runtimeStatus);
  const old = canonicalPodStatus(options.previous ?? pod.status ?? {});
  const { containers: records, sandboxes } = runtimeStatus;
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const podIsRestarting =
    hasRestartBegun(pod, old) && allContainersShouldRestart([...initContainers, ...containers], old, records);
  const view = {
    pod,
    records,
    firstListed: lookupByName(records),
    newest: newestTwo(records),
    podIsRestarting,
    reasons: options.reasons,
  };
  const regularNames = new Set(containers.map(({ name }) => name));
  const regular = containerStatuses(view, containers, old.containerStatuses);
  const init = initContainerStatuses(view, initContainers, old.initContainerStatuses);
  return assemblePodStatus(pod, old, {
    containerStatuses: byName(withProbeStates(pod, regular, probes)),
    initContainerStatuses: withInitProbeStates(pod, initContainers, init, probes),
    ephemeralContainerStatuses: byName(containerStatuses(view, ephemeralContainers, old.ephemeralContainerStatuses)),
    beforeProbes: [...regular, ...init],
    podIsTerminal: options.podIsTerminal === true,
    podHasInitialized: records.some(({ name, active }) => active === true && regularNames.has(name)),
    podIPs: podIPsInOrder(runtimeStatus.ips, nodeIPs),
    hostIPs,
    sandboxes,
    runtimeContainers: records,
    eviction: options.eviction,
    resizeConditions: options.resizeConditions,
  });
}

/** Only a rule can have all containers restarted, unless a former spec's rule has. */
function hasRestartBegun(pod: Pod, old: WirePodStatus): boolean {
  return hasRestartAllContainersRule(pod.spec) || old.conditions?.some(({ type }) => type === 'AllContainersRestarting') === true;
}

/** The two newest records of each container, as the runtime lists them where it lists those of one time. */
function newestTwo(records: readonly RuntimeContainerStatus[]): (name: string) => readonly RuntimeContainerStatus[] {
  const byName = new Map<string, RuntimeContainerStatus[]>();
  for (const record of records.toSorted((a, b) => createdAt(b) - createdAt(a))) {
    const held = byName.get(record.name);
    if (held === undefined) byName.set(record.name, [record]);
    else if (held.length < 2) held.push(record);
  }
  return (name) => byName.get(name) ?? [];
}

/** A record without a time is older than any other. */
function createdAt({ createdAt: ms = Number.MIN_SAFE_INTEGER }: RuntimeContainerStatus): number {
  return ms;
}
