import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import type { LinuxContainerResources } from './runtime-containers.ts';
import type { NamespaceOptions, SandboxSecurityContext } from './security.ts';

/** A port of the node that leads to a port of the pod. */
export interface PortMapping {
  /** The protocol of the port. */
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** The port inside the pod. */
  readonly containerPort: number;
  /** The port of the node. */
  readonly hostPort: number;
  /** The node's address that listens; empty: each. */
  readonly hostIP: string;
}

/** What `/etc/resolv.conf` of the pod says. */
export interface DNSConfig {
  /** Addresses of name servers. */
  readonly servers: readonly string[];
  /** Search domains. */
  readonly searches: readonly string[];
  /** Options, such as `ndots:5`. */
  readonly options: readonly string[];
}

/** What names a sandbox. No two sandboxes that the runtime lists have all four in common. */
export interface PodSandboxMetadata {
  /** The pod's name. */
  readonly name: string;
  /** The pod's `metadata.uid`. */
  readonly uid: string;
  /** The pod's namespace. */
  readonly namespace: string;
  /** How many sandboxes the pod had before. */
  readonly attempt: number;
}

/** Limits of a sandbox's cgroup. */
export interface SandboxLinuxConfig {
  /** The cgroup that the pod's containers are put under, such as `/kubepods/burstable/pod1234`. */
  readonly cgroupParent: string;
  /** The rights of the sandbox. */
  readonly securityContext: SandboxSecurityContext;
  /** Kernel settings of the pod's own namespaces, by name. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** What the sandbox itself takes. */
  readonly overhead?: LinuxContainerResources;
  /** What all containers of the pod take together. */
  readonly resources?: LinuxContainerResources;
}

/** What a sandbox is made from. */
export interface PodSandboxConfig {
  /** What names the sandbox. */
  readonly metadata: PodSandboxMetadata;
  /** The pod's host name; empty in the node's network. */
  readonly hostname: string;
  /** The absolute folder that the paths of the containers' log files begin in. */
  readonly logDirectory: string;
  /** Absent: as the node's own. */
  readonly dnsConfig?: DNSConfig;
  /** Ports of the node. */
  readonly portMappings: readonly PortMapping[];
  /** Labels, for finding the sandbox again. */
  readonly labels: Readonly<Record<string, string>>;
  /** Annotations, which the runtime keeps. */
  readonly annotations: Readonly<Record<string, string>>;
  /** What concerns Linux. */
  readonly linux: SandboxLinuxConfig;
}

/** A sandbox as the runtime lists it. */
export interface PodSandboxRecord {
  /** The runtime's id of the sandbox. */
  readonly id: string;
  /** What names the sandbox. */
  readonly metadata: PodSandboxMetadata;
  /** `ready` while the sandbox can take containers. */
  readonly state: 'ready' | 'notready';
  /** When the sandbox was made, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Its labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its annotations. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The runtime handler that it was made with; empty: the default one. */
  readonly runtimeHandler: string;
}

/** A sandbox with its network. */
export interface PodSandboxDetails extends PodSandboxRecord {
  /** The addresses, the primary one first; empty in the node's network. */
  readonly ips: readonly string[];
  /** The namespaces of the sandbox. */
  readonly namespaces?: NamespaceOptions;
}

/**
 * The labels and annotations by which the kubelet finds its sandboxes and containers again
 * (`pkg/kubelet/types/labels.go`, `pkg/kubelet/kuberuntime/labels.go`). Under these names an agent adopts what a kubelet made.
 */
export const runtimeLabels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUID: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
} as const;

/** The fields of a log line that its labels give for a container. A runtime of another maker may have given none. */
export function labelFields(
  labels: Readonly<Record<string, string>> | undefined,
): PodFields & { readonly containerName: string | undefined } {
  const { podNamespace, podName, podUID, containerName } = runtimeLabels;
  const ofPod = podFields({ namespace: labels?.[podNamespace], name: labels?.[podName], uid: labels?.[podUID] });
  return { ...ofPod, containerName: labels?.[containerName] };
}

export const runtimeAnnotations = {
  containerHash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  preStopHandler: 'io.kubernetes.container.preStopHandler',
  ports: 'io.kubernetes.container.ports',
  podDeletionGracePeriod: 'io.kubernetes.pod.deletionGracePeriod',
  podTerminationGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
} as const;
