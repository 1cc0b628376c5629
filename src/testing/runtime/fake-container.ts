import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { RuntimeError } from '../../kubelet/runtime/container-runtime.ts';
import type {
  ContainerConfig,
  ContainerDetails,
  ContainerRecord,
  ContainerState,
  ContainerStats,
  LinuxContainerResources,
} from '../../kubelet/runtime/runtime-containers.ts';
import { type PodSandboxConfig, runtimeAnnotations } from '../../kubelet/runtime/runtime-sandboxes.ts';
import { logLines, type RuntimeFiles } from './runtime-files.ts';

/** What a container is made from. */
export interface FakeContainerOptions {
  readonly id: string;
  readonly sandboxID: string;
  readonly config: ContainerConfig;
  /** The names of its image, as its status shows them. */
  readonly image: { readonly name: string; readonly ref: string; readonly id: string };
  readonly logPath: string;
  readonly life: ContainerLife;
}

/** What a container needs of its surroundings. */
export interface ContainerSurroundings {
  readonly clock: SteadyClock;
  readonly files: RuntimeFiles | undefined;
  /** Called right after each change of state. */
  readonly changed: (container: FakeContainer, type: 'started' | 'stopped') => void;
}

/** One container: it runs its life by the clock. */
export class FakeContainer {
  readonly options: FakeContainerOptions;
  readonly createdAt: number;
  readonly #around: ContainerSurroundings;
  readonly #ended = Promise.withResolvers<void>();
  #state: ContainerState = 'created';
  #startedAt = 0;
  #end: { readonly at: number; readonly exitCode: number; readonly reason: string; readonly message: string } | undefined;
  #resources: LinuxContainerResources;
  #cancelLife: CancelTimer = () => {};
  #cancelStop: CancelTimer = () => {};
  #cancelKill: CancelTimer = () => {};
  #killAt = Number.POSITIVE_INFINITY;

  constructor(options: FakeContainerOptions, around: ContainerSurroundings) {
    this.options = options;
    this.#around = around;
    this.createdAt = around.clock.now();
    this.#resources = options.config.resources;
  }

  get state(): ContainerState {
    return this.#state;
  }

  /** Throws where the container was started before, and where its life begins with an error. */
  start(): void {
    if (this.#state !== 'created') throw failed('StartContainer', `container is in ${stateWord(this.#state)} state`);
    const { startError, runsMs, logs = [] } = this.options.life;
    const { clock, files } = this.#around;
    if (startError !== undefined) {
      this.#finish({ exitCode: 128, reason: 'StartError', message: startError });
      throw failed('StartContainer', startError);
    }
    this.#state = 'running';
    this.#startedAt = clock.now();
    if (logs.length > 0) files?.append(this.options.logPath, logLines(logs, this.#startedAt));
    if (runsMs !== undefined) this.#cancelLife = clock.setTimer(() => this.#endItself(), runsMs);
    this.#around.changed(this, 'started');
  }

  /** Asks the container to end, and kills it after the timeout. A later call can only shorten the time. Resolves once it has ended. */
  stop(timeoutSeconds: number): Promise<void> {
    if (this.#state !== 'running') return Promise.resolve();
    if (timeoutSeconds <= 0) this.kill();
    else this.#ask(timeoutSeconds * 1000);
    return this.#ended.promise;
  }

  /** Ends the container at once. */
  kill({ exitCode = killedExitCode, reason = endReason(exitCode), message = '' }: ContainerEnd = {}): void {
    if (this.#state === 'running') this.#finish({ exitCode, reason, message });
  }

  update(resources: LinuxContainerResources): void {
    this.#resources = { ...this.#resources, ...resources };
  }

  reopenLog(): void {
    if (this.#state !== 'running') throw failed('ReopenContainerLog', 'container is not running');
  }

  /** Ends every timer: the container does nothing by itself any more. */
  forget(): void {
    this.#cancelLife();
    this.#cancelStop();
    this.#cancelKill();
  }

  record(): ContainerRecord {
    const { id, sandboxID, config, image } = this.options;
    const { metadata, labels, annotations } = config;
    const { createdAt } = this;
    return {
      id,
      sandboxID,
      metadata,
      image: image.name,
      imageRef: image.ref,
      state: this.#state,
      createdAt,
      labels,
      annotations,
    };
  }

  details(): ContainerDetails {
    const { config, image, logPath } = this.options;
    const { at = 0, exitCode = 0, reason = '', message = '' } = this.#end ?? {};
    const { runAsUser, runAsGroup = 0, supplementalGroups } = config.securityContext;
    const { stopSignal } = config;
    return {
      ...this.record(),
      startedAt: this.#startedAt,
      finishedAt: at,
      exitCode,
      reason,
      message,
      imageID: image.id,
      logPath,
      mounts: config.mounts,
      resources: this.#resources,
      user: { uid: runAsUser ?? 0, gid: runAsGroup, supplementalGroups },
      ...(stopSignal === undefined ? {} : { stopSignal }),
    };
  }

  stats(): ContainerStats {
    const { memoryBytes = 10 * 1024 * 1024, cpuMillicores = 1 } = this.options.life;
    const at = this.#around.clock.now();
    const cpuNanocores = cpuMillicores * 1_000_000;
    return {
      containerID: this.options.id,
      name: this.options.config.metadata.name,
      labels: this.options.config.labels,
      at,
      cpuNanocores,
      cpuNanoseconds: ((at - this.#startedAt) / 1000) * cpuNanocores,
      memoryWorkingSetBytes: memoryBytes,
      memoryUsageBytes: memoryBytes,
      memoryRssBytes: memoryBytes,
      writableLayerBytes: 4096,
      writableLayerInodes: 1,
    };
  }

  #ask(timeoutMs: number): void {
    const { clock } = this.#around;
    const { ignoresSigterm = false, stopTakesMs = 0 } = this.options.life;
    const isFirst = this.#killAt === Number.POSITIVE_INFINITY;
    const killAt = clock.elapsed() + timeoutMs;
    if (killAt < this.#killAt) {
      this.#killAt = killAt;
      this.#cancelKill();
      this.#cancelKill = clock.setTimer(() => this.kill(), timeoutMs);
    }
    if (!isFirst || ignoresSigterm) return;
    if (stopTakesMs === 0) this.#endItself();
    else this.#cancelStop = clock.setTimer(() => this.#endItself(), stopTakesMs);
  }

  #endItself(): void {
    const { exitCode = 0, reason = endReason(exitCode), message = '', terminationMessage } = this.options.life;
    const file = this.#terminationFile();
    if (terminationMessage !== undefined && file !== undefined) this.#around.files?.write(file, terminationMessage);
    this.#finish({ exitCode, reason, message });
  }

  /** The file of the node that the container has for its last words. */
  #terminationFile(): string | undefined {
    const { annotations, mounts } = this.options.config;
    const path = annotations[runtimeAnnotations.terminationMessagePath];
    return mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
  }

  #finish(end: { readonly exitCode: number; readonly reason: string; readonly message: string }): void {
    this.forget();
    this.#end = { at: this.#around.clock.now(), ...end };
    this.#state = 'exited';
    this.#ended.resolve();
    this.#around.changed(this, 'stopped');
  }
}

export function stateWord(state: ContainerState): string {
  return `CONTAINER_${state.toUpperCase()}`;
}

function failed(call: string, message: string): RuntimeError {
  return new RuntimeError('failed', call, message);
}

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

const killedExitCode = 137;

/** The word for an end that nobody has named. */
function endReason(exitCode: number): string {
  return exitCode === 0 ? 'Completed' : 'Error';
}
