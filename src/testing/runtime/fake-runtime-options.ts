import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ContainerRecord } from '../../kubelet/runtime/runtime-containers.ts';
import type { ImageAuth } from '../../kubelet/runtime/runtime-images.ts';
import type { ContainerLife, LifeRequest } from './fake-container.ts';
import { anyImage, type FakeImage } from './fake-images.ts';
import type { RuntimeFiles } from './runtime-files.ts';

/** A command that is to run inside a container of a {@link FakeRuntime}. */
export interface FakeExecRequest {
  /** The container. */
  readonly container: ContainerRecord;
  /** The command and its arguments. */
  readonly command: readonly string[];
}

/** How a command inside a container of a {@link FakeRuntime} ends. */
export interface FakeExecResult {
  /** Its exit code. Default 0. */
  readonly exitCode?: number;
  /** What it writes to its standard output. Default: nothing. */
  readonly stdout?: string;
  /** What it writes to its standard error. Default: nothing. */
  readonly stderr?: string;
  /** How long it runs, in milliseconds. Default 0. */
  readonly takesMs?: number;
}

/** What the constructor of {@link FakeRuntime} takes. */
export interface FakeRuntimeOptions {
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** How each container lives; asked when the container is made. Default: it runs until it is stopped, and ends with exit code 0. */
  readonly lives?: (request: LifeRequest) => ContainerLife;
  /** What a command inside a container does. Default: it ends at once with exit code 0. */
  readonly exec?: (request: FakeExecRequest) => FakeExecResult;
  /**
   * What the registry has: undefined for an image that does not exist. Default: every image whose name does not contain
   * `no-such-image`, with a pull that takes no time.
   */
  readonly registry?: (image: string, auth?: ImageAuth) => FakeImage | undefined;
  /** Images that the runtime has from the start. Default: none. */
  readonly images?: readonly string[];
  /** Where containers write their logs and termination messages. Default: nowhere. */
  readonly files?: RuntimeFiles;
  /** The addresses of sandboxes. Default `10.244.0.0/24`. */
  readonly podCIDR?: string;
  /** The names of the runtime handlers; the empty one is the default handler. Default: the empty one alone. */
  readonly runtimeHandlers?: readonly string[];
  /** True: its handlers know user namespaces. Default false. */
  readonly userNamespaces?: boolean;
  /** The name with which container ids begin. Default `fake`. */
  readonly runtimeName?: string;
  /** How the runtime makes cgroups; null: it does not say. Default `cgroupfs`. */
  readonly cgroupDriver?: 'cgroupfs' | 'systemd' | null;
}

const knownOptions = [
  'clock',
  'lives',
  'exec',
  'registry',
  'images',
  'files',
  'podCIDR',
  'runtimeHandlers',
  'userNamespaces',
  'runtimeName',
  'cgroupDriver',
] as const satisfies readonly (keyof FakeRuntimeOptions)[];

export type ResolvedRuntimeOptions = Required<Omit<FakeRuntimeOptions, 'files' | 'clock'>> & {
  readonly clock: SteadyClock;
  readonly files: RuntimeFiles | undefined;
};

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function resolveRuntimeOptions(options: FakeRuntimeOptions): ResolvedRuntimeOptions {
  requireKnownOptions('options', options, knownOptions);
  const { clock = systemClock, lives = () => ({}), exec = () => ({}), registry = anyImage, files } = options;
  requireMethods('clock', clock, ['now', 'setTimer']);
  if (files !== undefined) requireMethods('files', files, ['append', 'write']);
  return {
    clock: safeClock(clock),
    lives: optionOfType('lives', lives, 'function'),
    exec: optionOfType('exec', exec, 'function'),
    registry: optionOfType('registry', registry, 'function'),
    images: options.images ?? [],
    files,
    podCIDR: options.podCIDR ?? '10.244.0.0/24',
    runtimeHandlers: options.runtimeHandlers ?? [''],
    userNamespaces: optionOfType('userNamespaces', options.userNamespaces ?? false, 'boolean'),
    runtimeName: options.runtimeName ?? 'fake',
    cgroupDriver: options.cgroupDriver === undefined ? 'cgroupfs' : options.cgroupDriver,
  };
}
