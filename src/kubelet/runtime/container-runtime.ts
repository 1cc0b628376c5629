import { isStatusManagerError, StatusManagerError } from '../../base/errors.ts';
import type {
  ContainerConfig,
  ContainerDetails,
  ContainerRecord,
  ContainerStats,
  LinuxContainerResources,
  PodSandboxStats,
} from './runtime-containers.ts';
import type { FilesystemUsage, ImageAuth, RuntimeImage } from './runtime-images.ts';
import type { PodSandboxConfig, PodSandboxDetails, PodSandboxRecord } from './runtime-sandboxes.ts';

/** How a call may be cut short. */
export interface RuntimeCall {
  /** Aborts the call; it then rejects with the signal's reason. The runtime may finish what it has begun. */
  readonly signal?: AbortSignal | undefined;
}

/** The most that a command may write, to stdout and stderr together, in bytes. */
export const longestExecOutput = 1024 * 1024;

/** What a command inside a container said. */
export interface ExecSyncResult {
  /** What it wrote to its standard output. */
  readonly stdout: Uint8Array;
  /** What it wrote to its standard error. */
  readonly stderr: Uint8Array;
  /** How it ended. */
  readonly exitCode: number;
}

/** What a stream is to carry: at least one of the three. `tty` excludes `stderr`. */
export interface StreamRequest {
  /** True: through a terminal. */
  readonly tty: boolean;
  /** True: standard input goes to the container. */
  readonly stdin: boolean;
  /** True: standard output comes from the container. */
  readonly stdout: boolean;
  /** True: standard error comes from the container. */
  readonly stderr: boolean;
}

/** Which sandboxes are listed. Absent fields let every one through. */
export interface SandboxFilter {
  /** Those of one pod. */
  readonly podUID?: string;
  /** Those that can (true) or cannot (false) take containers. */
  readonly ready?: boolean;
}

/** Which containers are listed or measured. Absent fields let every one through. */
export interface ContainerFilter {
  /** Those of one pod. */
  readonly podUID?: string;
  /** Those of one sandbox. */
  readonly sandboxID?: string;
  /** That one. */
  readonly containerID?: string;
}

/** How an image is pulled. */
export interface PullImageOptions extends RuntimeCall {
  /** Who pulls; absent: nobody in particular. */
  readonly auth?: ImageAuth | undefined;
  /** The sandbox that the image is for. */
  readonly sandbox?: PodSandboxConfig | undefined;
  /** The runtime handler that the image is for. */
  readonly runtimeHandler?: string | undefined;
}

/**
 * A container runtime, as CRI v1 has it. A call rejects with a {@link RuntimeError}, whose `kind` says what follows. Stopping and
 * removing what is not there succeeds; it ends what runs first. Every method may be called at any time, many at once.
 */
export interface ContainerRuntime {
  /** Who serves, in which version. */
  version(call?: RuntimeCall): Promise<RuntimeVersion>;
  /** Whether the runtime and its network are ready, and what the runtime can do. */
  health(call?: RuntimeCall): Promise<RuntimeHealth>;
  /** How the runtime makes cgroups; undefined where it does not say. */
  cgroupDriver(call?: RuntimeCall): Promise<'cgroupfs' | 'systemd' | undefined>;
  /** Tells the runtime the range of addresses of this node's pods, such as `10.0.0.0/24`. */
  updatePodCIDR(podCIDR: string, call?: RuntimeCall): Promise<void>;

  /** Makes and starts a sandbox, and resolves with its id. */
  runPodSandbox(config: PodSandboxConfig, runtimeHandler: string, call?: RuntimeCall): Promise<string>;
  /** Ends the sandbox and what runs in it, and takes its network away. */
  stopPodSandbox(sandboxID: string, call?: RuntimeCall): Promise<void>;
  /** Removes the sandbox and its containers. */
  removePodSandbox(sandboxID: string, call?: RuntimeCall): Promise<void>;
  /** One sandbox with its network. */
  podSandboxStatus(sandboxID: string, call?: RuntimeCall): Promise<PodSandboxDetails>;
  /** Sandboxes, in no order. */
  listPodSandboxes(filter?: SandboxFilter, call?: RuntimeCall): Promise<readonly PodSandboxRecord[]>;

  /** Makes a container in a sandbox, and resolves with its id. */
  createContainer(sandboxID: string, config: ContainerConfig, sandbox: PodSandboxConfig, call?: RuntimeCall): Promise<string>;
  /** Starts a container that was made. */
  startContainer(containerID: string, call?: RuntimeCall): Promise<void>;
  /** Asks the container to end, and kills it after the timeout; 0 kills at once. Resolves once it has ended. */
  stopContainer(containerID: string, timeoutSeconds: number, call?: RuntimeCall): Promise<void>;
  /** Removes a container. */
  removeContainer(containerID: string, call?: RuntimeCall): Promise<void>;
  /** All that the runtime says of one container. */
  containerStatus(containerID: string, call?: RuntimeCall): Promise<ContainerDetails>;
  /** Containers, in no order. */
  listContainers(filter?: ContainerFilter, call?: RuntimeCall): Promise<readonly ContainerRecord[]>;
  /** Changes the limits of a running container. */
  updateContainerResources(containerID: string, resources: LinuxContainerResources, call?: RuntimeCall): Promise<void>;
  /** Lets the runtime write into a new log file under the same name. */
  reopenContainerLog(containerID: string, call?: RuntimeCall): Promise<void>;
  /** What containers take. */
  listContainerStats(filter?: ContainerFilter, call?: RuntimeCall): Promise<readonly ContainerStats[]>;
  /** What pods take. */
  listPodSandboxStats(filter?: SandboxFilter, call?: RuntimeCall): Promise<readonly PodSandboxStats[]>;

  /**
   * Runs a command inside a container and waits for its end. A timeout of 0 is none; when it passes, the call rejects with kind
   * `timeout`. It rejects with kind `failed` where the command has written more than 1 MiB: whoever runs the container chooses how much.
   */
  execSync(containerID: string, command: readonly string[], timeoutSeconds: number, call?: RuntimeCall): Promise<ExecSyncResult>;
  /** The URL of a stream, served by the runtime, of a command inside a container. */
  exec(containerID: string, command: readonly string[], stream: StreamRequest, call?: RuntimeCall): Promise<string>;
  /** The URL of a stream, served by the runtime, of a container's own process. */
  attach(containerID: string, stream: StreamRequest, call?: RuntimeCall): Promise<string>;
  /** The URL of a stream, served by the runtime, to ports of a sandbox. */
  portForward(sandboxID: string, ports: readonly number[], call?: RuntimeCall): Promise<string>;

  /** Pulls an image, and resolves with the reference that containers are made with. */
  pullImage(image: string, options?: PullImageOptions): Promise<string>;
  /** One image by name, id or reference; undefined where it is not there. */
  imageStatus(image: string, call?: RuntimeCall): Promise<RuntimeImage | undefined>;
  /** All images. */
  listImages(call?: RuntimeCall): Promise<readonly RuntimeImage[]>;
  /** Removes an image. */
  removeImage(image: string, call?: RuntimeCall): Promise<void>;
  /** What the file systems that hold images have used. */
  imageFilesystems(call?: RuntimeCall): Promise<readonly FilesystemUsage[]>;
  /** The same of those that hold what containers write. A runtime without this method has them with the images. */
  containerFilesystems?(call?: RuntimeCall): Promise<readonly FilesystemUsage[]>;

  /**
   * What happens to sandboxes and containers from now on. It ends when the signal aborts, and throws a `RuntimeError` when the
   * runtime goes away or has no events (kind `unimplemented`). Events can be lost: whoever reads them lists from time to time.
   */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
  /** Ends the connection. Calls under way reject with kind `unavailable`. */
  close(): Promise<void>;
}

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

/** What follows from a failed call: whether to try again, and how soon. */
export type RuntimeErrorKind =
  | 'not-found'
  | 'already-exists'
  | 'invalid'
  | 'unavailable'
  | 'timeout'
  | 'unimplemented'
  | 'failed';

/**
 * A call to the container runtime that failed; code ERR_RUNTIME. `message` is what the runtime said, as the kubelet shows it in events.
 *
 * @example
 * ```ts
 * import { RuntimeError } from 'pod-status-manager/kubelet';
 *
 * const error = new RuntimeError('not-found', 'ContainerStatus', 'rpc error: code = NotFound desc = no such container');
 * console.log(error.kind, error.call); // not-found ContainerStatus
 * ```
 */
export class RuntimeError extends StatusManagerError {
  /** What follows from the failure. */
  readonly kind: RuntimeErrorKind;
  /** The call that failed, by its name in CRI, such as `RunPodSandbox`. */
  readonly call: string;

  constructor(kind: RuntimeErrorKind, call: string, message: string, options?: ErrorOptions) {
    super('ERR_RUNTIME', message, options);
    this.name = 'RuntimeError';
    this.kind = kind;
    this.call = call;
  }
}

/**
 * True for a `RuntimeError` (of `kind`, if given), also for one from another copy of the package.
 *
 * @example
 * ```ts
 * import { isRuntimeError, RuntimeError } from 'pod-status-manager/kubelet';
 *
 * const error: unknown = new RuntimeError('not-found', 'RemoveContainer', 'no such container');
 * console.log(isRuntimeError(error), isRuntimeError(error, 'unavailable')); // true false
 * ```
 */
export function isRuntimeError(error: unknown, kind?: RuntimeErrorKind): error is RuntimeError {
  if (!isStatusManagerError(error, 'ERR_RUNTIME') || !('kind' in error)) return false;
  return kind === undefined || error.kind === kind;
}
