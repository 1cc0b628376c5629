/** `created`: exists but has not been started; `unknown`: the runtime could not say. */
export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One container as the container runtime lists it. A container that was restarted has several records, the newest first. */
export interface RuntimeContainer {
  /** The container's name in the pod's spec. */
  readonly name: string;
  /** What the runtime says that it does. */
  readonly state: RuntimeContainerState;
  /** Of an exited container. */
  readonly exitCode?: number;
}

/** One pod sandbox as the container runtime lists it. */
export interface RuntimeSandbox {
  /** True while the sandbox can take containers. */
  readonly ready: boolean;
  /** True when the sandbox shares the node's network namespace. */
  readonly hostNetwork?: boolean;
  /** What the runtime says of the sandbox's network; absent when it says nothing, `ip` empty while there is no address. */
  readonly network?: {
    /** The primary address; empty while there is none. */
    readonly ip: string;
  };
}

/** The status of one container as the container runtime has it. Times are in milliseconds since the epoch. */
export interface RuntimeContainerStatus extends RuntimeContainer {
  /** With the runtime's name before it: `containerd://1234`. */
  readonly id: string;
  /** When the container was made. Absent: before every container whose time is known. */
  readonly createdAt?: number;
  /** Of a container that has been started. */
  readonly startedAt?: number;
  /** Of an exited container. */
  readonly finishedAt?: number;
  /** The image as the runtime names it. */
  readonly image?: string;
  /** What the image name led to, such as a digest. */
  readonly imageRef?: string;
  /** How often the container had been made before. Default 0. */
  readonly restartCount?: number;
  /** Why it is in this state, in one word. */
  readonly reason?: string;
  /** The same for people; of an exited container its termination message. */
  readonly message?: string;
  /** True for a container of the sandbox that is in use. */
  readonly active?: boolean;
}

/** What the container runtime knows of one pod. */
export interface RuntimePodStatus {
  /** The pod's `metadata.uid`. */
  readonly podUID: string;
  /** The pod's name. */
  readonly name?: string;
  /** The pod's namespace. */
  readonly namespace?: string;
  /** The pod's addresses, the primary one first; empty for a pod in the node's network. */
  readonly ips: readonly string[];
  /** All containers that the runtime still lists, the newest first. */
  readonly containers: readonly RuntimeContainerStatus[];
  /** All sandboxes that the runtime still lists, the newest first. */
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** A pod that the container runtime runs, also one that the agent has no object of. */
export interface RunningPod {
  /** The pod's `metadata.uid`, as the runtime keeps it. */
  readonly uid: string;
  /** The pod's name. */
  readonly name: string;
  /** The pod's namespace. */
  readonly namespace: string;
  /** The containers that the runtime lists. Absent where it does not say. */
  readonly containers?: readonly RuntimeContainer[];
}
