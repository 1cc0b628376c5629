import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { integerOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { hostName } from './allowed-request.ts';
import type { DebugManager } from './board.ts';
import type { DebugNodeSource } from './debug-node.ts';
import type { HistoryLimits } from './pod-history.ts';

/** What `createDebugHandler` takes. An option that does not exist is refused with ERR_INVALID_OPTION. */
export interface DebugHandlerOptions {
  /** The status manager that is shown. The handler listens to its events until it is closed. */
  readonly manager: DebugManager;
  /** The node around the manager: a `ProviderNode`, or anything that answers like one. Default: none. */
  readonly node?: DebugNodeSource;
  /** What is kept of each pod's past. */
  readonly history?: DebugHistoryOptions;
  /** Names, without a port, by which a request may name the server, beside `localhost` and IP addresses. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** The path under which the server hands requests to the handler with their whole URL: `/debug`. Default: the root. */
  readonly basePath?: string;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Pino-shaped. Default: warnings and errors go to the console. Null: silent. */
  readonly logger?: Logger | null;
}

/** How much the handler keeps of the past of the pods. Zero keeps nothing. */
export interface DebugHistoryOptions {
  /** Entries of each pod's timeline; older ones are dropped. Default 100. */
  readonly entriesPerPod?: number;
  /** Memory for the timelines of all pods, in bytes; the oldest entries of all are dropped. Default 33 554 432 (32 MiB). */
  readonly bytes?: number;
}

export interface ResolvedDebugOptions {
  readonly manager: DebugManager;
  readonly node: DebugNodeSource | undefined;
  readonly history: HistoryLimits;
  readonly allowedHosts: ReadonlySet<string>;
  readonly basePath: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const optionNames = [
  'manager',
  'node',
  'history',
  'allowedHosts',
  'basePath',
  'clock',
  'logger',
] as const satisfies readonly (keyof DebugHandlerOptions)[];

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; for an unknown option, too. */
export function resolveDebugOptions(options: DebugHandlerOptions): ResolvedDebugOptions {
  requireKnownOptions('options', options, optionNames);
  const { manager, node, history = {}, allowedHosts = [], basePath = '', clock = systemClock, logger } = options;
  requireMethods('manager', manager, ['snapshot', 'explain', 'getPodStatus', 'on', 'off']);
  if (node !== undefined) requireMethods('node', node, ['snapshot', 'explain']);
  requireKnownOptions('history', history, ['entriesPerPod', 'bytes']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    manager,
    node,
    history: {
      entriesPerPod: integerOption('history.entriesPerPod', history.entriesPerPod ?? 100, 0),
      bytes: integerOption('history.bytes', history.bytes ?? 33_554_432, 0),
    },
    allowedHosts: hostNames(allowedHosts),
    basePath: pathOption(basePath),
    clock: clock === systemClock ? systemClock : safeClock(clock),
    logger: loggerOption(logger),
  };
}

function hostNames(names: unknown): ReadonlySet<string> {
  const rule = 'a list of host names without a port';
  if (!Array.isArray(names)) throw invalidOption('allowedHosts', rule, names);
  return new Set(
    names.map((name: unknown) => {
      if (typeof name === 'string' && !name.includes(':')) {
        const plain = hostName(name);
        if (plain !== undefined) return plain;
      }
      throw invalidOption('allowedHosts', rule, name);
    }),
  );
}

function pathOption(path: unknown): string {
  if (typeof path === 'string' && /^(?:\/[^/?#\s]+)*\/?$/.test(path)) return path.replace(/\/$/, '');
  throw invalidOption('basePath', 'a path that begins with a slash, such as "/debug"', path);
}
