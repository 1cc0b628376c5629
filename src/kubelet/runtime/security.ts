/** Whose namespace a container uses: its pod's, its own, the node's, or that of another container. */
export type NamespaceMode = 'pod' | 'container' | 'node' | 'target';

/** Ids of users, or of groups: each of the container is one of the machine. */
export interface IDMapping {
  /** The first id on the machine. */
  readonly hostID: number;
  /** The first id in the container. */
  readonly containerID: number;
  /** How many ids there are. */
  readonly length: number;
}

/** The namespaces of a sandbox or a container. */
export interface NamespaceOptions {
  /** The network namespace. */
  readonly network: NamespaceMode;
  /** The namespace of process ids. */
  readonly pid: NamespaceMode;
  /** The namespace of System V IPC. */
  readonly ipc: NamespaceMode;
  /** The id of the container whose process ids are shared, with `pid: 'target'`. */
  readonly targetID?: string;
  /** The ids of the pod's own user namespace, the same of users and of groups. Absent: the pod has the machine's ids. */
  readonly users?: IDMapping;
}

/** Labels of SELinux. Absent or empty: the runtime chooses. */
export interface SELinuxOptions {
  /** The SELinux user. */
  readonly user?: string;
  /** The SELinux role. */
  readonly role?: string;
  /** The SELinux type. */
  readonly type?: string;
  /** The SELinux level, such as `s0:c1,c2`. */
  readonly level?: string;
}

/** A seccomp or AppArmor profile. */
export interface SecurityProfile {
  /** Where the profile comes from. */
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost';
  /** The file of a seccomp profile or the name of an AppArmor profile, with type `Localhost`. */
  readonly localhostRef?: string;
}

/** Whether the groups of the image's `/etc/group` are added to those of the pod (`Merge`) or not (`Strict`). */
export type SupplementalGroupsPolicy = 'Merge' | 'Strict';

/** The rights of a sandbox. */
export interface SandboxSecurityContext {
  /** The namespaces of the sandbox. */
  readonly namespaces: NamespaceOptions;
  /** Labels of SELinux. */
  readonly selinuxOptions?: SELinuxOptions;
  /** The numeric user of the sandbox's own process. */
  readonly runAsUser?: number;
  /** The numeric group of the sandbox's own process. */
  readonly runAsGroup?: number;
  /** True: the root file system cannot be written. */
  readonly readonlyRootfs?: boolean;
  /** Further numeric groups. */
  readonly supplementalGroups: readonly number[];
  /** How groups of the image count. */
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  /** True: a container of the sandbox may be privileged. */
  readonly privileged: boolean;
  /** The seccomp profile. */
  readonly seccomp?: SecurityProfile;
  /** The AppArmor profile. */
  readonly apparmor?: SecurityProfile;
}

/** Capabilities of Linux, without `CAP_`. */
export interface Capabilities {
  /** Capabilities that are added. */
  readonly add: readonly string[];
  /** Capabilities that are taken away. */
  readonly drop: readonly string[];
}

/** The rights of a container. */
export interface ContainerSecurityContext {
  /** Capabilities beside the runtime's own set. */
  readonly capabilities?: Capabilities;
  /** True: the container may do what the node may. */
  readonly privileged: boolean;
  /** The namespaces of the container. */
  readonly namespaces: NamespaceOptions;
  /** Labels of SELinux. */
  readonly selinuxOptions?: SELinuxOptions;
  /** The numeric user. Absent with `runAsUsername`. */
  readonly runAsUser?: number;
  /** The user by name, as the image has it. */
  readonly runAsUsername?: string;
  /** The numeric group. */
  readonly runAsGroup?: number;
  /** True: the root file system cannot be written. */
  readonly readonlyRootfs: boolean;
  /** Further numeric groups. */
  readonly supplementalGroups: readonly number[];
  /** How groups of the image count. */
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  /** True: no process of the container can gain rights. */
  readonly noNewPrivs: boolean;
  /** Paths that are hidden. */
  readonly maskedPaths: readonly string[];
  /** Paths that cannot be written. */
  readonly readonlyPaths: readonly string[];
  /** The seccomp profile. */
  readonly seccomp?: SecurityProfile;
  /** The AppArmor profile. */
  readonly apparmor?: SecurityProfile;
}
