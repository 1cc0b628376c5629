import type { Clock } from '../../base/clock.ts';
import { integerOption, membersOption } from '../../base/options.ts';
import { KeptLog } from './kept-log.ts';

/** How much of what containers write is kept in memory. */
export interface ContainerLogsOptions {
  /**
   * Of one run of a container, in bytes, with what they are kept in; the run before the current one is kept beside it. 65,536 or
   * more; default 1,048,576 (1 MiB).
   */
  readonly maxBytesPerRun?: number;
  /**
   * Of all pods, in bytes. Over it, the pod that holds the most loses its oldest lines: a pod that holds no more than its part, the
   * limit divided by the number of pods, loses nothing. 65,536 or more; default 67,108,864 (64 MiB).
   */
  readonly maxTotalBytes?: number;
}

const knownOptions = ['maxBytesPerRun', 'maxTotalBytes'] as const satisfies readonly (keyof ContainerLogsOptions)[];
const leastBytes = 64 * 1024;
const defaults = { maxBytesPerRun: 1024 * 1024, maxTotalBytes: 64 * 1024 * 1024 };

/** The logs of all pods of a provider, and how much they hold together. */
export class KeptLogs {
  readonly #clock: Clock;
  readonly #maxBytesPerRun: number;
  readonly #maxTotalBytes: number;
  readonly #pods = new Set<PodLogs>();
  /** Those whose pod is gone, and that somebody reads still. */
  readonly #gone = new Set<PodLogs>();
  #bytes = 0;

  /** Throws ERR_INVALID_OPTION. */
  constructor(name: string, options: ContainerLogsOptions, clock: Clock) {
    membersOption(name, options, knownOptions);
    const { maxBytesPerRun = defaults.maxBytesPerRun, maxTotalBytes = defaults.maxTotalBytes } = options;
    this.#maxBytesPerRun = integerOption(`${name}.maxBytesPerRun`, maxBytesPerRun, leastBytes);
    this.#maxTotalBytes = integerOption(`${name}.maxTotalBytes`, maxTotalBytes, leastBytes);
    this.#clock = clock;
  }

  /** What all logs hold, with what they are held in. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For a pod that begins. */
  ofPod(): PodLogs {
    const logs: PodLogs = new PodLogs({
      clock: this.#clock,
      maxBytes: this.#maxBytesPerRun,
      makeRoom: (bytes) => this.#makeRoom(bytes, logs),
      counted: (bytes) => {
        this.#bytes += bytes;
      },
      used: () => this.#pods.add(logs),
      forgotten: () => {
        if (this.#pods.delete(logs)) this.#gone.add(logs);
      },
      empty: () => {
        this.#pods.delete(logs);
        this.#gone.delete(logs);
      },
    });
    return logs;
  }

  /** Drops the oldest lines of who holds the most, until there is room. */
  #makeRoom(bytes: number, who: PodLogs): void {
    while (this.#bytes + bytes > this.#maxTotalBytes) {
      const [gone] = this.#gone;
      if (gone?.dropOldest() === true) continue;
      if (gone !== undefined) this.#gone.delete(gone);
      else if (this.#largest(bytes, who)?.dropOldest() !== true) return;
    }
  }

  #largest(bytes: number, who: PodLogs): PodLogs | undefined {
    let largest: PodLogs | undefined;
    let most = 0;
    for (const logs of this.#pods) {
      // who asks for more counts with it, unless it holds nothing that it could lose
      const size = logs === who && logs.bytes > 0 ? logs.bytes + bytes : logs.bytes;
      if (size > most) [largest, most] = [logs, size];
    }
    return largest;
  }
}

interface PodLogsOptions {
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly makeRoom: (bytes: number) => void;
  readonly counted: (bytes: number) => void;
  readonly used: () => void;
  readonly forgotten: () => void;
  readonly empty: () => void;
}

/** The logs of one pod. */
export class PodLogs {
  readonly #options: PodLogsOptions;
  readonly #logs = new Set<KeptLog>();
  #bytes = 0;

  constructor(options: PodLogsOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The log of a run that begins. */
  open(): KeptLog {
    const { clock, maxBytes, makeRoom, counted, used, empty } = this.#options;
    const log: KeptLog = new KeptLog({
      clock,
      maxBytes,
      makeRoom,
      counted: (bytes) => {
        this.#bytes += bytes;
        counted(bytes);
      },
      cleared: () => {
        this.#logs.delete(log);
        if (this.#logs.size === 0) empty();
      },
    });
    this.#logs.add(log);
    used();
    return log;
  }

  /** The pod is gone. A log that somebody reads stays until that is over, unless others need the room. */
  forget(): void {
    this.#options.forgotten();
    for (const log of this.#logs) log.discard();
  }

  /** Drops the oldest of the log that holds the most. False: none holds anything. */
  dropOldest(): boolean {
    let largest: KeptLog | undefined;
    for (const log of this.#logs) if (log.bytes > (largest?.bytes ?? 0)) largest = log;
    return largest?.dropOldest() ?? false;
  }
}
