import type { ContainerRuntime } from '../../../src/kubelet/runtime/container-runtime.ts';

/** A container runtime under test, and what the tests need around it. */
export interface RuntimeSubject {
  readonly runtime: ContainerRuntime;
  /** The cgroup in which the runtime puts sandboxes. Default: a path, one for each pod, as without systemd. */
  readonly cgroupParent?: string;
  /** The name of an image with a shell that the runtime has. */
  readonly image: string;
  /** The name of another image, which can be pulled and removed. */
  readonly pullableImage: string;
  /** The name of an image that no registry has. */
  readonly missingImage: string;
  /** Waits for work that takes time. */
  settled<T>(work: Promise<T>): Promise<T>;
  /** Lets time pass until the condition holds; throws if it never does. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Milliseconds since the epoch, as the runtime counts them. */
  now(): number;
  /** The text of a file that a container wrote, such as a log; empty while there is none. */
  readFile(path: string): Promise<string>;
  /** Ends the runtime's server as a crash does. Containers go on. */
  takeDown(): Promise<void>;
  /** Starts the server again. */
  bringUp(): Promise<void>;
  /** Removes what the tests have made, and ends the connection. */
  close(): Promise<void>;
}

/** Makes a subject that nothing was done with. */
export type MakeRuntimeSubject = () => Promise<RuntimeSubject>;
