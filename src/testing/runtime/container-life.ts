import type { ContainerConfig } from '../../kubelet/runtime/runtime-containers.ts';
import type { PodSandboxConfig } from '../../kubelet/runtime/runtime-sandboxes.ts';

/** How one container of a {@link FakeRuntime} lives. Without any member it runs until it is stopped, and ends with exit code 0. */
export interface ContainerLife {
  /** How long the container runs until it ends by itself, in milliseconds. Default: until it is stopped. */
  readonly runsMs?: number;
  /** The exit code with which it ends by itself, or when it is asked to end. A container that is killed ends with 137. Default 0. */
  readonly exitCode?: number;
  /** Why it ended, in one word, such as `OOMKilled`. Default `Completed` for exit code 0, else `Error`. */
  readonly reason?: string;
  /** What the runtime says of its end. Default: nothing. */
  readonly message?: string;
  /** What it writes into its termination message file when it ends by itself or is asked to. Default: nothing. */
  readonly terminationMessage?: string;
  /** True: it does not end when it is asked to, and is killed when the time is up. Default false. */
  readonly ignoresSigterm?: boolean;
  /** How long it needs to end when it is asked to, in milliseconds. Default 0. */
  readonly stopTakesMs?: number;
  /** How long the start takes, in milliseconds. Default 0. */
  readonly startTakesMs?: number;
  /** The message with which the start fails; the container then ends with exit code 128. Default: the start succeeds. */
  readonly startError?: string;
  /** Lines that it writes to its log when it starts. Default: none. */
  readonly logs?: readonly string[];
  /** The memory that it uses, in bytes. Default 10 MiB. */
  readonly memoryBytes?: number;
  /** The processor time that it uses, in thousandths of a processor. Default 1. */
  readonly cpuMillicores?: number;
}

/** Whose life is asked for. */
export interface LifeRequest {
  /** What the sandbox was made from. */
  readonly sandbox: PodSandboxConfig;
  /** What the container was made from. */
  readonly config: ContainerConfig;
  /** How often the container had been made before: 0 for the first one. */
  readonly attempt: number;
}

/** How a container of a {@link FakeRuntime} is killed from outside, as by the kernel or by an operator. */
export interface ContainerEnd {
  /** Its exit code. Default 137. */
  readonly exitCode?: number;
  /** Why it ended, in one word. Default `Error`, and `Completed` for exit code 0. */
  readonly reason?: string;
  /** The same for people. Default: nothing. */
  readonly message?: string;
}

export const killedExitCode = 137;

/** The word for an end that nobody has named. */
export function endReason(exitCode: number): string {
  return exitCode === 0 ? 'Completed' : 'Error';
}
