import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Pod } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { safeRandom } from '../../base/random.ts';
import { type EventRecorder, safeEventRecorder } from '../../client/events/event-recorder.ts';
import { type CheckedNodeLimits, checkedNodeLimits, type NodeLimits } from '../cgroups/cgroup-resources.ts';
import type { SubPathMount } from './container-mounts.ts';
import type { EnvironmentObjects } from './environment.ts';
import { defaultProcPaths, type ProcPaths } from './security-context.ts';
import type { Service } from './service-environment.ts';

/** What of the node goes into its sandboxes and containers. */
export interface ContainerConfigsOptions {
  /** The absolute folder of the agent's files. Hosts files and termination logs are in its folder `pods`. */
  readonly rootDirectory: string;
  /** The absolute folder of the logs of containers. Default `/var/log/pods`. */
  readonly podLogsDirectory?: string;
  /** Gives secrets and config maps. */
  readonly objects: EnvironmentObjects;
  /** The cluster's services; undefined until they have been read once. Default: none. */
  readonly services?: () => Iterable<Service> | undefined;
  /** Resolves once the services have been read, or after a short wait for that. Default: nobody waits. */
  readonly awaitServices?: (signal: AbortSignal) => Promise<void>;
  /** Gives the cgroup that the pod's containers are put under. */
  readonly cgroups: { podParent(pod: Pod): string };
  /** What of the node decides over the limits of its pods. */
  readonly limits?: NodeLimits;
  /** What the node can give to pods, by resource. Default: nothing is known. */
  readonly nodeAllocatable?: () => ResourceQuantities;
  /** The addresses that the node was given: the first one decides which family comes first. Default: none, and IPv4. */
  readonly nodeIPs?: () => readonly string[];
  /** The addresses that the node has, the primary one first. Default: `nodeIPs`. */
  readonly hostIPs?: () => readonly string[];
  /** The addresses of the cluster's name servers. Default none: pods then resolve names as the node does. */
  readonly clusterDNS?: readonly string[];
  /** The domain of the cluster's names, such as `cluster.local`. Default: none. */
  readonly clusterDomain?: string;
  /** The file that says how the node resolves names. Default `/etc/resolv.conf`; empty: pods of policy `Default` resolve none. */
  readonly resolvConf?: string;
  /** The node's own hosts file, for pods in its network. Default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** True: a container without a seccomp profile gets the runtime's own. Default false. */
  readonly seccompDefault?: boolean;
  /** The folder of the node's own seccomp profiles. Default: `seccomp` in `rootDirectory`. */
  readonly seccompProfileRoot?: string;
  /** True: files get SELinux labels. Default: as the kernel says. */
  readonly selinux?: boolean;
  /** True where the handler of the runtime can keep mounts below a mount from being written. Default: it cannot. */
  readonly recursiveReadOnly?: (runtimeHandler: string) => boolean;
  /** Gives the path of a part of a volume that leads nowhere else. Default: sub paths are refused. */
  readonly prepareSubPath?: (pod: Pod, request: SubPathMount, signal: AbortSignal) => Promise<string>;
  /** Writes events about what had to be left out. */
  readonly eventRecorder: EventRecorder;
  /** Gives numbers from 0 to 1, for names of files. Default `Math.random`. */
  readonly random?: () => number;
}

/** The options with their defaults. */
export interface ResolvedContainerConfigs extends Required<Omit<ContainerConfigsOptions, 'limits'>> {
  readonly limits: CheckedNodeLimits;
  readonly procPaths: ProcPaths;
}

/** The options with their defaults. */
export function resolveContainerConfigs(options: ContainerConfigsOptions): ResolvedContainerConfigs {
  const { rootDirectory, podLogsDirectory = '/var/log/pods', objects, cgroups, eventRecorder } = options;
  return {
    rootDirectory,
    podLogsDirectory,
    objects,
    cgroups,
    eventRecorder: safeEventRecorder(eventRecorder),
    services: options.services ?? (() => []),
    awaitServices: options.awaitServices ?? (async () => {}),
    limits: checkedNodeLimits(options.limits ?? {}, totalmem()),
    nodeAllocatable: options.nodeAllocatable ?? (() => ({})),
    nodeIPs: options.nodeIPs ?? (() => []),
    hostIPs: options.hostIPs ?? options.nodeIPs ?? (() => []),
    clusterDNS: options.clusterDNS ?? [],
    clusterDomain: options.clusterDomain ?? '',
    resolvConf: options.resolvConf ?? '/etc/resolv.conf',
    hostsFile: options.hostsFile ?? '/etc/hosts',
    seccompDefault: options.seccompDefault ?? false,
    seccompProfileRoot: options.seccompProfileRoot ?? `${rootDirectory}/seccomp`,
    selinux: options.selinux ?? existsSync('/sys/fs/selinux/enforce'),
    recursiveReadOnly: options.recursiveReadOnly ?? (() => false),
    prepareSubPath: options.prepareSubPath ?? refuseSubPath,
    random: safeRandom(options.random ?? Math.random),
    procPaths: defaultProcPaths(),
  };
}

async function refuseSubPath(): Promise<never> {
  throw new Error('this agent has no sub paths');
}
