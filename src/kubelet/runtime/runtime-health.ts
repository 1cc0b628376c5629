import type { ContainerDetails } from './runtime-containers.ts';
import type { PodSandboxDetails } from './runtime-sandboxes.ts';

/** What is served, and by whom. */
export interface RuntimeVersion {
  /** Such as `containerd`; container ids begin with it. */
  readonly runtimeName: string;
  /** The runtime's own version. */
  readonly runtimeVersion: string;
  /** The version of CRI, such as `v1`. */
  readonly runtimeApiVersion: string;
}

/** One thing that the runtime says of itself. */
export interface RuntimeCondition {
  /** `RuntimeReady`, `NetworkReady`, or one of the runtime's own. */
  readonly type: string;
  /** True: it is so. */
  readonly status: boolean;
  /** Why it is not, in one word. */
  readonly reason: string;
  /** The same for people. */
  readonly message: string;
}

/** A way of running containers that a RuntimeClass can ask for. */
export interface RuntimeHandler {
  /** Its name; empty: the default one. */
  readonly name: string;
  /** True: it knows mounts that cannot be written at any depth. */
  readonly recursiveReadOnlyMounts: boolean;
  /** True: it knows user namespaces. */
  readonly userNamespaces: boolean;
}

/** What the runtime says of itself. */
export interface RuntimeHealth {
  /** Whether it is ready, and its network. */
  readonly conditions: readonly RuntimeCondition[];
  /** The ways of running containers that it has. */
  readonly handlers: readonly RuntimeHandler[];
  /** What it can do beyond what every runtime can. */
  readonly features: {
    /** True: it knows the supplemental groups policy `Strict`. */
    readonly supplementalGroupsPolicy: boolean;
  };
}

/** Something that happened to a container or a sandbox. */
export interface RuntimeEvent {
  /** What happened. */
  readonly type: 'created' | 'started' | 'stopped' | 'deleted';
  /** The id of the container or of the sandbox. */
  readonly containerID: string;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** The pod's `metadata.uid`; empty where the runtime does not say. */
  readonly podUID: string;
  /** The pod's sandbox right after; absent where the runtime does not say. */
  readonly sandbox?: PodSandboxDetails;
  /** The pod's containers right after; absent where the runtime does not say. */
  readonly containers?: readonly ContainerDetails[];
}
