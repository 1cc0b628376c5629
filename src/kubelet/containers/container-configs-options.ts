import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { EnvironmentObjects } from '../../node/environment/environment.ts';
import type { Service } from '../../node/environment/service-environment.ts';
import type { CheckedNodeLimits } from '../cgroups/cgroup-resources.ts';
import type { DeviceAllocation } from '../devices/device-plugin.ts';
import type { IDMapping } from '../runtime/security.ts';
import type { MountSettings } from './container-mounts.ts';
import type { ProcPaths } from './security-context.ts';

/** What of the node goes into its sandboxes and containers. */
export interface ContainerConfigsOptions extends MountSettings {
  /** The absolute folder of the logs of containers. */
  readonly podLogsDirectory: string;
  /** Gives secrets and config maps. */
  readonly objects: EnvironmentObjects;
  /** The cluster's services; undefined until they have been read once. */
  readonly services: () => Iterable<Service> | undefined;
  /** Resolves once the services have been read, or after a short wait for that. */
  readonly awaitServices: (signal: AbortSignal) => Promise<void>;
  /** Gives the cgroup that the pod's containers are put under. */
  readonly cgroups: { podParent(pod: Pod): string };
  readonly limits: CheckedNodeLimits;
  /** Gives the ids of a pod with a user namespace of its own; undefined for any other pod. */
  readonly idsOf: (pod: Pod, runtimeHandler: string) => Promise<IDMapping | undefined>;
  /** The names of the devices that a container has by claims of its pod. Undefined: a pod with claims is refused. */
  readonly claimedDevicesOf: ((pod: Pod, container: Container) => Promise<readonly string[]>) | undefined;
  /** What the container needs for the devices that it has been given; undefined where it has none. Absent: no container has any. */
  readonly devicesOf?: (pod: Pod, container: Container, signal: AbortSignal) => Promise<DeviceAllocation | undefined>;
  /** What the node can give to pods, by resource. */
  readonly nodeAllocatable: () => ResourceQuantities;
  /** The addresses that the node was given: the first one decides which family comes first. Without one it is IPv4. */
  readonly nodeIPs: () => readonly string[];
  /** The addresses that the node has, the primary one first. */
  readonly hostIPs: () => readonly string[];
  /** The addresses of the cluster's name servers. Without one pods resolve names as the node does. */
  readonly clusterDNS: readonly string[];
  /** The file that says how the node resolves names. Empty: pods of policy `Default` resolve none. */
  readonly resolvConf: string;
  /** True: a container without a seccomp profile gets the runtime's own. */
  readonly seccompDefault: boolean;
  /** The folder of the node's own seccomp profiles. */
  readonly seccompProfileRoot: string;
  readonly procPaths: ProcPaths;
  /** Writes events about what had to be left out. */
  readonly eventRecorder: EventRecorder;
}
