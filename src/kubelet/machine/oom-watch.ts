// Behaviour of pkg/kubelet/oom, v1.36.3, on what the kernel writes since its version 4.18.
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorCodeOf } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';

export interface OomWatchOptions {
  /** The kernel's log, such as `/dev/kmsg`. */
  readonly path: string;
  /** Gets the warnings about the node: reason and message. */
  readonly nodeEvent: (reason: string, message: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const periodMs = 10_000;
/** How soon the log is read on where one look has not come to its end. */
const soonMs = 100;
/** So many records are read at once: a flood of them must not hold the agent. */
const mostRecords = 500;
/** The kernel gives no longer record. */
const recordBytes = 8192;

/**
 * Tells of each process that the kernel has ended because the machine, and not only a cgroup, had no memory left.
 *
 * The counters of cgroups and of `/proc/vmstat` count both in one number, so the kernel's log is read. A read that finds nothing new
 * ends at once, which costs less than a thread that waits. What the log had before the watch began is not told.
 */
export class OomWatch {
  readonly #options: OomWatchOptions;
  readonly #buffer = Buffer.alloc(recordBytes);
  readonly #stopping = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: OomWatchOptions) {
    this.#options = options;
  }

  /** Does nothing where the log cannot be read. */
  start(): void {
    const { path, logger } = this.#options;
    const file = callGuarded(
      () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      (err) => logger.info({ err }, 'the log of the kernel cannot be read: no event SystemOOM is written'),
    );
    if (file !== undefined) this.#run = this.#readOnAndOn(file).finally(() => callGuarded(() => closeSync(file), ignoreFailure));
  }

  /** Resolves once the log is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #readOnAndOn(file: number): Promise<void> {
    const { clock, nodeEvent } = this.#options;
    const { signal } = this.#stopping;
    let isNew = false;
    while (!signal.aborted) {
      const { records, isAtEnd } = this.#read(file);
      if (isNew) for (const message of records.flatMap(systemOomMessages)) nodeEvent('SystemOOM', message);
      isNew ||= isAtEnd;
      await sleep(clock, isAtEnd ? periodMs : soonMs, signal);
    }
  }

  #read(file: number): { readonly records: string[]; readonly isAtEnd: boolean } {
    const records: string[] = [];
    while (records.length < mostRecords) {
      const record = this.#nextRecord(file);
      if (record === '') return { records, isAtEnd: true };
      records.push(record);
    }
    return { records, isAtEnd: false };
  }

  /** Empty where there is none. */
  #nextRecord(file: number): string {
    try {
      return this.#buffer.toString('utf8', 0, readSync(file, this.#buffer, 0, recordBytes, null));
    } catch (error) {
      // the kernel has overwritten what was to come, and goes on with the oldest record
      return errorCodeOf(error) === 'EPIPE' ? '\n' : '';
    }
  }
}

/**
 * What the records tell of processes that were killed for want of memory on the machine. Those of a cgroup that has used up its own
 * begin otherwise. A record of a process, which has a facility, and a property of a record, which is indented, say nothing.
 */
export function systemOomMessages(records: string): string[] {
  return records.split('\n').flatMap((line) => {
    const [, priority, text = ''] = /^(\d+),\d+,\d+,[^;]*;(.*)$/.exec(line) ?? [];
    if (Number(priority) >= 8) return [];
    const [, pid, name] = /^Out of memory[^:]*: Kill(?:ed)? process (\d+) \((.*)\) (?:total-vm|score)/.exec(text) ?? [];
    return pid === undefined ? [] : [`System OOM encountered, victim process: ${name}, pid: ${pid}`];
  });
}
