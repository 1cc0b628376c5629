import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type Clock, type SteadyClock, safeClock, sleep, systemClock } from '../../base/clock.ts';
import { RunState } from '../../base/concurrency/run-state.ts';
import { errorCodeOf } from '../../base/errors.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { integerOption, numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';
import type { ContainerRecord } from '../runtime/runtime-containers.ts';
import { labelFields } from '../runtime/runtime-sandboxes.ts';
import { openLogFile } from './log-file.ts';
import { logFilesBeside } from './pod-logs.ts';

/** Which logs are rotated, and when. `runtime` is needed. */
export interface LogRotationOptions {
  /** Lists the containers, and lets one write into a new file. */
  readonly runtime: Pick<ContainerRuntime, 'listContainers' | 'containerStatus' | 'reopenContainerLog'>;
  /** A log that has this many bytes is rotated. Default 10,485,760 (10 MiB). */
  readonly maxSize?: number;
  /** How many files of a container are kept at most: its log, and those that were rotated. At least 2. Default 5. */
  readonly maxFiles?: number;
  /** The longest time between two looks at the files, in milliseconds: at least 1,000. Default 10,000. */
  readonly checkPeriodMs?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

interface WatchedLog {
  readonly path: string;
  /** The size at the last look. */
  size: number;
}

/** A log that grows fast is looked at before it is full, but no sooner than this: its size is bounded by its speed alone. */
const shortestPeriodMs = 1000;
const known = ['runtime', 'maxSize', 'maxFiles', 'checkPeriodMs', 'clock', 'logger'];

/**
 * Keeps the logs of running containers within bounds, as the kubelet does (`pkg/kubelet/logs`): a log that is too long is renamed,
 * the runtime writes into a new file, older files are packed with gzip, and the oldest are removed. The look at a log that grows
 * fast comes sooner. A log that cannot be rotated stays as it is, and is tried again at the next look.
 *
 * @example
 * ```ts
 * import { LogRotation } from 'pod-status-manager/kubelet';
 *
 * const runtime = {
 *   listContainers: async () => [],
 *   containerStatus: async () => Promise.reject(new Error('no such container')),
 *   reopenContainerLog: async () => {},
 * };
 * const rotation = new LogRotation({ runtime, maxSize: 1024 * 1024, maxFiles: 3 });
 * rotation.start();
 * await rotation.stop();
 * ```
 */
export class LogRotation {
  readonly #runtime: LogRotationOptions['runtime'];
  readonly #maxSize: number;
  readonly #maxFiles: number;
  readonly #checkPeriodMs: number;
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  readonly #state = new RunState('log rotation');
  readonly #stopping = new AbortController();
  /** By the container's id. */
  #logs = new Map<string, WatchedLog>();
  #running: Promise<void> = Promise.resolve();

  /** Throws ERR_INVALID_OPTION for an option that breaks a rule. */
  constructor(options: LogRotationOptions) {
    requireKnownOptions('options', options, known);
    const { runtime, maxSize = 10 * 1024 * 1024, maxFiles = 5, checkPeriodMs = 10_000 } = options;
    requireMethods('runtime', runtime, ['listContainers', 'containerStatus', 'reopenContainerLog']);
    this.#runtime = runtime;
    this.#maxSize = integerOption('maxSize', maxSize, 1);
    this.#maxFiles = integerOption('maxFiles', maxFiles, 2);
    this.#checkPeriodMs = numberOption('checkPeriodMs', checkPeriodMs, shortestPeriodMs, 86_400_000);
    this.#clock = safeClock(options.clock ?? systemClock);
    this.#logger = loggerOption(options.logger);
  }

  /** Throws ERR_ALREADY_STARTED the second time, and ERR_STOPPED after `stop`. */
  start(): void {
    this.#state.start();
    this.#running = this.#run();
  }

  /** Ends the looks. Resolves when nothing is rotated any more. */
  stop(): Promise<void> {
    return this.#state.stop(async () => {
      this.#stopping.abort();
      await this.#running;
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let lookedAt = this.#clock.elapsed();
    while (!signal.aborted) {
      const passedMs = Math.max(1, this.#clock.elapsed() - lookedAt);
      lookedAt = this.#clock.elapsed();
      const waitMs = await this.#look(passedMs).catch((err: unknown) => {
        if (!signal.aborted) this.#logger.warn({ err }, 'the logs of containers could not be looked at');
        return this.#checkPeriodMs;
      });
      await sleep(this.#clock, waitMs, signal);
    }
  }

  /** Rotates what is too long, one container after another. Resolves to the time until the next look. */
  async #look(passedMs: number): Promise<number> {
    const { signal } = this.#stopping;
    const containers = await this.#runtime.listContainers({}, { signal });
    const logs = new Map<string, WatchedLog>();
    let waitMs = this.#checkPeriodMs;
    for (const { id, state, labels } of containers) {
      if (signal.aborted) break;
      if (state !== 'running') continue;
      try {
        const log = this.#logs.get(id) ?? (await this.#find(id));
        logs.set(id, log);
        const grown = await this.#check(id, log, labels);
        if (grown > 0) waitMs = Math.min(waitMs, (Math.max(0, this.#maxSize - log.size) * passedMs) / grown);
      } catch (err) {
        // a container that ended meanwhile
        if (signal.aborted || isRuntimeError(err, 'not-found')) continue;
        this.#logger.warn({ err, ...labelFields(labels), containerID: id }, 'the log of a container could not be rotated');
      }
    }
    this.#logs = logs;
    return Math.max(shortestPeriodMs, waitMs);
  }

  async #find(containerID: string): Promise<WatchedLog> {
    const { logPath } = await this.#runtime.containerStatus(containerID, { signal: this.#stopping.signal });
    return { path: logPath, size: 0 };
  }

  /** Resolves to the bytes that came since the last look. */
  async #check(containerID: string, log: WatchedLog, labels: ContainerRecord['labels']): Promise<number> {
    const { signal } = this.#stopping;
    const size = await sizeOf(log.path);
    if (size === undefined) {
      // as after a rotation that was interrupted
      await this.#runtime.reopenContainerLog(containerID, { signal });
      return 0;
    }
    const grown = size - log.size;
    log.size = size;
    if (size < this.#maxSize) return grown;
    await this.#rotate(containerID, log.path, labels);
    log.size = 0;
    return grown;
  }

  async #rotate(containerID: string, path: string, labels: ContainerRecord['labels']): Promise<void> {
    const { signal } = this.#stopping;
    // beside the log that is now written, and the one that it becomes
    const { unpacked } = await keepRotatedLogs(path, this.#maxFiles - 2);
    for (const old of unpacked) {
      await packLog(old, signal).catch((err: unknown) => {
        if (!signal.aborted)
          this.#logger.warn({ err, ...labelFields(labels), path: old }, 'a rotated log could not be packed; it stays as it is');
      });
    }
    if (signal.aborted) return;
    const rotated = rotatedName(path, this.#clock.now());
    await rename(path, rotated);
    try {
      await this.#runtime.reopenContainerLog(containerID, { signal });
    } catch (error) {
      // the runtime may have done it, and only its answer is lost
      if ((await sizeOf(path)) === undefined) await rename(rotated, path);
      throw error;
    }
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

// The files beside a container's log: `LOG.20060102-150405`, and with `.gz` once they are packed, as the kubelet names them.

const packed = '.gz';
const temporary = '.tmp';

/** What `keepRotatedLogs` leaves. */
export interface RotatedLogs {
  /** Full paths, the oldest first. */
  readonly paths: readonly string[];
  /** Those that are not packed yet. */
  readonly unpacked: readonly string[];
}

/** The name of a log that is rotated now. The names of one container's logs sort by their time. */
function rotatedName(path: string, nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split(/[T.]/);
  return `${path}.${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}

/** Removes what an interrupted rotation left behind, and the oldest logs beyond `most`. */
async function keepRotatedLogs(path: string, most: number): Promise<RotatedLogs> {
  const names = new Set(await logFilesBeside(path));
  const isUnused = (name: string): boolean => name.endsWith(temporary) || names.has(`${name}${packed}`);
  const used = [...names].filter((name) => !isUnused(name)).sort();
  const excess = used.slice(0, Math.max(0, used.length - most));
  for (const name of [...[...names].filter(isUnused), ...excess]) await rm(join(dirname(path), name), { force: true });
  const paths = used.slice(excess.length).map((name) => join(dirname(path), name));
  return { paths, unpacked: paths.filter((kept) => !kept.endsWith(packed)) };
}

/** Packs a rotated log: the file under the new name is whole, or it is not there. */
async function packLog(path: string, signal: AbortSignal): Promise<void> {
  const written = `${path}${temporary}`;
  const handle = await openLogFile(path);
  try {
    const { mode } = await handle.stat();
    const source = createReadStream(path, { fd: handle, autoClose: false });
    await pipeline(source, createGzip(), createWriteStream(written, { mode }), { signal });
    await rename(written, `${path}${packed}`);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rm(path, { force: true });
}
