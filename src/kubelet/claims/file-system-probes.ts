import { untilAborted } from '../../base/concurrency/aborts.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { ProgramFailure, runProgram } from '../../base/run-program.ts';
import type { VolumeUsage } from './persistent-volume-kind.ts';

/** How a program is run that asks a file system. */
export interface ProbeCall {
  /** Ends the program when it aborts, if the kernel lets it end. */
  readonly signal: AbortSignal;
  /** To be called once nothing of the program is left, or it could not be started. */
  readonly whenEnded: () => void;
}

export interface FileSystemProbesOptions {
  /** Default: the program `stat`. */
  readonly run?: (folder: string, call: ProbeCall) => Promise<VolumeUsage>;
  /** So many programs there are at most. Default 64. */
  readonly mostPrograms?: number;
}

/** A program that asks a file system, until it has ended. */
interface Probe {
  readonly usage: Promise<VolumeUsage>;
  readonly stop: AbortController;
  /** So many wait for its answer. */
  askers: number;
  /** True: nobody waits any more, and it goes on all the same. */
  isGivenUp: boolean;
  hasEnded: boolean;
}

/**
 * Asks file systems how full they are, by programs: these may hang in place of this process, and the kernel ends none that waits for a disk or a
 * server. One file system has one program at a time, which all who ask share, until that has really ended.
 */
export class FileSystemProbes {
  readonly #run: NonNullable<FileSystemProbesOptions['run']>;
  readonly #most: number;
  readonly #places: Semaphore;
  readonly #probes = new Map<string, Probe>();
  #givenUp = 0;

  constructor({ run = statOf, mostPrograms = 64 }: FileSystemProbesOptions = {}) {
    this.#run = run;
    this.#most = mostPrograms;
    this.#places = new Semaphore(mostPrograms);
  }

  /**
   * What the file system at the folder says. Rejects with the signal's reason; at once where an earlier program for this folder still hangs; and with
   * a {@link ProgramFailure} that has a code where no program can be started, also since too many hang.
   */
  readonly ask = async (folder: string, signal: AbortSignal): Promise<VolumeUsage> => {
    signal.throwIfAborted();
    const probe = this.#probes.get(folder) ?? this.#begin(folder);
    if (probe.isGivenUp) throw new Error('the program that has asked it does not end, and no other one is started');
    probe.askers += 1;
    try {
      return await untilAborted(probe.usage, signal);
    } finally {
      probe.askers -= 1;
      if (probe.askers === 0) this.#leave(probe);
    }
  };

  #begin(folder: string): Probe {
    if (this.#givenUp >= this.#most) {
      const words = { text: '', isCut: false };
      throw new ProgramFailure(
        `${this.#givenUp} programs that ask other file systems hang, and no more are started`,
        words,
        'EAGAIN',
      );
    }
    const { promise: usage, resolve, reject } = Promise.withResolvers<VolumeUsage>();
    usage.catch(ignoreFailure);
    const stop = new AbortController();
    const probe: Probe = { usage, stop, askers: 0, isGivenUp: false, hasEnded: false };
    this.#probes.set(folder, probe);
    const toItsEnd = async (): Promise<void> => {
      const ended = Promise.withResolvers<void>();
      resolve(this.#run(folder, { signal: stop.signal, whenEnded: ended.resolve }));
      await ended.promise;
    };
    void this.#places
      .run(toItsEnd, stop.signal)
      .catch(reject)
      .finally(() => this.#forget(folder, probe));
    return probe;
  }

  #leave(probe: Probe): void {
    if (probe.hasEnded) return;
    probe.isGivenUp = true;
    this.#givenUp += 1;
    probe.stop.abort(new Error('nobody waits for the answer'));
  }

  #forget(folder: string, probe: Probe): void {
    probe.hasEnded = true;
    if (probe.isGivenUp) this.#givenUp -= 1;
    this.#probes.delete(folder);
  }
}

async function statOf(folder: string, call: ProbeCall): Promise<VolumeUsage> {
  const format = ['--file-system', '--format', '%S %b %f %a %c %d', '--', folder];
  const text = await runProgram({ command: 'stat', args: format, mostOutputBytes: 1024, ...call });
  const [size = 0, blocks = 0, free = 0, available = 0, inodes = 0, inodesFree = 0] = text.trim().split(' ').map(Number);
  return {
    capacityBytes: blocks * size,
    availableBytes: available * size,
    usedBytes: (blocks - free) * size,
    inodes,
    inodesFree,
    inodesUsed: inodes - inodesFree,
  };
}
