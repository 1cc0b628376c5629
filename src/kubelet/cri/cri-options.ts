import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { longestTimerMs, numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';

/** Where the runtime is. `socketPath` is needed. */
export interface CriRuntimeOptions {
  /** The absolute path of the runtime's unix socket, such as `/run/containerd/containerd.sock`. */
  readonly socketPath: string;
  /** The absolute path of the unix socket for calls about images. Default: `socketPath`. */
  readonly imageSocketPath?: string;
  /**
   * The longest time of a call in milliseconds. Making a sandbox may take twice as long; stopping a container, and a command with
   * a timeout, their own seconds more; pulling an image and a command without a timeout are not limited. Default 120 000.
   */
  readonly callTimeoutMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Gets each failed call at level `debug`. Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export interface CheckedCriRuntimeOptions extends Required<CriRuntimeOptions> {
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const knownOptions = ['socketPath', 'imageSocketPath', 'callTimeoutMs', 'clock', 'logger'];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedCriRuntimeOptions(options: CriRuntimeOptions): CheckedCriRuntimeOptions {
  requireKnownOptions('options', options, knownOptions);
  const { socketPath, imageSocketPath = socketPath, callTimeoutMs = 120_000, clock = systemClock, logger } = options;
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    socketPath: pathOption('socketPath', socketPath),
    imageSocketPath: pathOption('imageSocketPath', imageSocketPath),
    callTimeoutMs: numberOption('callTimeoutMs', callTimeoutMs, 1, longestTimerMs),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}

function pathOption(name: string, value: unknown): string {
  if (typeof value === 'string' && value.startsWith('/') && !value.includes('\0')) return value;
  throw invalidOption(name, 'the absolute path of a socket', value);
}
