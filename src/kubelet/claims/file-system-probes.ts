import { untilAborted } from '../../base/concurrency/aborts.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { ProgramFailure, runProgram } from '../../base/run-program.ts';
import type { AnswerTime } from './claim-usage.ts';
import { type FileSystemOfFolder, fileSystemOf } from './file-systems.ts';
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
  /** The agent's own, which may be behind symbolic links. Default: `/`. */
  readonly rootDirectory?: string;
  /** Default: by the kernel's list of mounts. */
  readonly fileSystemOf?: (folder: string) => Promise<FileSystemOfFolder>;
  /** So many programs there are at most. Default 64. */
  readonly mostPrograms?: number;
  /** So many of them ask file systems of one server, one device, or one type. Default 8. */
  readonly mostOfGroup?: number;
  /** Default: nobody is told. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** A question to a file system, until its program has ended. */
interface Probe {
  readonly folder: string;
  readonly group: Group;
  readonly usage: Promise<VolumeUsage>;
  /** Resolves once its program begins, or never will. */
  readonly begun: PromiseWithResolvers<void>;
  /** Resolves once its program has ended. */
  readonly ended: PromiseWithResolvers<void>;
  readonly stop: AbortController;
  /** So many wait for its answer. */
  askers: number;
  hasBegun: boolean;
  /** True: nobody waits any more, and its program goes on all the same. */
  isGivenUp: boolean;
  /** True: the log says already that it hangs. */
  isTold: boolean;
}

/** The file systems of one server, one device, or one type. */
interface Group {
  readonly places: Semaphore;
  probes: number;
  givenUp: number;
}

const untimed: AnswerTime = { waits: () => {}, begins: () => {} };

/**
 * Asks file systems how full they are, by programs: these may hang in place of this process, and the kernel ends none that waits for a disk or a
 * server. One file system has one program at a time, which all who ask share, until that has really ended, at however many places it is mounted.
 * Those of one server have a share of the programs alone.
 */
export class FileSystemProbes {
  readonly #run: NonNullable<FileSystemProbesOptions['run']>;
  readonly #fileSystemOf: NonNullable<FileSystemProbesOptions['fileSystemOf']>;
  readonly #most: number;
  readonly #mostOfGroup: number;
  readonly #logger: FileSystemProbesOptions['logger'];
  readonly #places: Semaphore;
  readonly #probes = new Map<string, Probe>();
  readonly #groups = new Map<string, Group>();
  #givenUp = 0;

  constructor(options: FileSystemProbesOptions = {}) {
    const { run = statOf, mostPrograms = 64, mostOfGroup = 8, rootDirectory, logger } = options;
    this.#run = run;
    this.#fileSystemOf = options.fileSystemOf ?? ((folder) => fileSystemOf(folder, rootDirectory));
    this.#most = mostPrograms;
    this.#mostOfGroup = mostOfGroup;
    this.#logger = logger;
    this.#places = new Semaphore(mostPrograms);
  }

  /**
   * What the file system at the folder says. Rejects with the signal's reason, and with a {@link ProgramFailure} that has a code where no program can be
   * started, also since too many hang. `time` is told when a program begins. Who asks while an earlier program has not ended, for which nobody waits
   * any more, waits for its end.
   */
  readonly ask = async (folder: string, signal: AbortSignal, time: AnswerTime = untimed): Promise<VolumeUsage> => {
    signal.throwIfAborted();
    // without the kernel's list each folder is one of its own
    const found = await untilAborted(this.#fileSystemOf(folder), signal).catch(() => ({ key: folder, group: folder }));
    signal.throwIfAborted();
    for (let last = this.#probes.get(found.key); last?.isGivenUp; last = this.#probes.get(found.key)) {
      await this.#end(last, signal, time);
    }
    const probe = this.#probes.get(found.key) ?? this.#begin(folder, found);
    probe.askers += 1;
    try {
      time.waits(noProgram('the programs that may run at once are busy with other file systems'));
      await untilAborted(probe.begun.promise, signal);
      time.begins();
      return await untilAborted(probe.usage, signal);
    } finally {
      probe.askers -= 1;
      if (probe.askers === 0) this.#leave(found.key, probe);
    }
  };

  async #end(probe: Probe, signal: AbortSignal, time: AnswerTime): Promise<void> {
    const why = new Error('the program that has asked it does not end, and no other one is started');
    time.waits(why);
    try {
      await untilAborted(probe.ended.promise, signal);
    } catch (error) {
      if (error === why) this.#tell(probe);
      throw error;
    }
  }

  #begin(folder: string, { key, group: name }: FileSystemOfFolder): Probe {
    const group = this.#groups.get(name) ?? { places: new Semaphore(this.#mostOfGroup), probes: 0, givenUp: 0 };
    this.#requireRoom(group);
    const { promise: usage, resolve, reject } = Promise.withResolvers<VolumeUsage>();
    usage.catch(ignoreFailure);
    const stop = new AbortController();
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const probe: Probe = {
      ...{ folder, group, usage, begun, ended, stop },
      ...{ askers: 0, hasBegun: false, isGivenUp: false, isTold: false },
    };
    this.#probes.set(key, probe);
    this.#groups.set(name, group);
    group.probes += 1;
    const toItsEnd = async (): Promise<void> => {
      const over = Promise.withResolvers<void>();
      probe.hasBegun = true;
      begun.resolve();
      resolve(this.#run(folder, { signal: stop.signal, whenEnded: over.resolve }));
      await over.promise;
    };
    const inTurn = (): Promise<void> => this.#places.run(toItsEnd, stop.signal);
    const forget = (): void => {
      this.#forget(key, probe);
      group.probes -= 1;
      if (group.probes === 0 && this.#groups.get(name) === group) this.#groups.delete(name);
    };
    void group.places.run(inTurn, stop.signal).catch(reject).finally(forget);
    return probe;
  }

  #requireRoom(group: Group): void {
    const isGroup = group.givenUp >= this.#mostOfGroup;
    if (!isGroup && this.#givenUp < this.#most) return;
    for (const probe of this.#probes.values()) if (probe.isGivenUp && (!isGroup || probe.group === group)) this.#tell(probe);
    const which = isGroup ? `${group.givenUp} programs that ask other file systems of the same server or type` : undefined;
    throw noProgram(`${which ?? `${this.#givenUp} programs that ask other file systems`} hang, and no more are started`);
  }

  #leave(key: string, probe: Probe): void {
    if (this.#probes.get(key) !== probe) return;
    if (probe.hasBegun) {
      probe.isGivenUp = true;
      probe.group.givenUp += 1;
      this.#givenUp += 1;
    } else this.#probes.delete(key);
    probe.stop.abort(new Error('nobody waits for the answer'));
  }

  #forget(key: string, probe: Probe): void {
    if (probe.isGivenUp) {
      probe.group.givenUp -= 1;
      this.#givenUp -= 1;
    }
    if (this.#probes.get(key) === probe) this.#probes.delete(key);
    probe.begun.resolve();
    probe.ended.resolve();
  }

  /** Who waits may be another tenant's pod: the log alone names the folder. */
  #tell(probe: Probe): void {
    if (probe.isTold) return;
    probe.isTold = true;
    this.#logger?.warn(
      { path: probe.folder },
      'a program that asks a file system how full it is does not end, and holds a place that others may need; look at the server, the driver or the disk there',
    );
  }
}

function noProgram(why: string): ProgramFailure {
  return new ProgramFailure(why, { text: '', isCut: false }, 'EAGAIN');
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
