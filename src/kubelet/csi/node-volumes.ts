// Behaviour of the states of the world and the reconciler in pkg/kubelet/volumemanager, v1.36.3: when a volume is taken from the node.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { SteadyLoop, type StepFailure } from '../../node/node-object/steady-loop.ts';
import { helped } from '../../node/problem-help.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { type CsiVolumeID, uniqueVolumeName } from './volume-ids.ts';
import { VolumeTurns } from './volume-turns.ts';
import { readVolumesOnDisk, type VolumesOnDisk } from './volumes-on-disk.ts';

export interface NodeVolumesOptions {
  readonly rootDirectory: string;
  readonly mounter: Pick<Mounter, 'mountsBelow'>;
  /** Takes the volume from the node, where it was made ready for it. Nobody uses it, and nobody begins to meanwhile. */
  readonly unstage: (volume: CsiVolumeID) => Promise<void>;
  /** Whether volumes of the driver are attached to nodes. Rejects where that is not known; then they may be. */
  readonly isAttachable: (driverName: string) => Promise<boolean>;
  /** What the status of the node has of volumes in use now. */
  readonly told: () => ReadonlySet<string>;
  /** What may be in use has changed. */
  readonly changed: () => void;
  readonly clock: SteadyClock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** A volume that may be in use. */
interface VolumeInUse {
  readonly id: CsiVolumeID;
  isAttachable: boolean;
  isLeaving: boolean;
  /** In a row, while nobody uses it. */
  failures: number;
  /** By the clock's elapsed time. */
  retryAtMs: number;
}

/** A volume that nobody uses any more and that its driver does not give back. */
export interface StuckVolume {
  readonly volume: string;
  readonly message: string;
  readonly attempt: number;
  readonly since: number;
  readonly retryAt: number;
}

/** A look at least so often while nothing wakes it. */
const periodMs = 60_000;
const retryDelays = { firstMs: 500, longestMs: 122_000 };
/** How often what the node says is looked at after a volume was given back. */
const lookMs = 100;
/** So many volumes of one driver leave the node at once. */
const leavingOfDriver = 4;
/** So many folders are named in one error. */
const mostTold = 3;

/**
 * Which volumes of drivers may be in use on this node, by what is on disk and what pods have asked for. A volume that no pod has any more is
 * given back to its driver; until then, and while anything is unsure, the node says that it is in use.
 */
export class NodeVolumes {
  readonly #options: NodeVolumesOptions;
  readonly #turns = new VolumeTurns();
  readonly #loop: SteadyLoop;
  /** What pods have asked this process for, by their uids: the unique names. */
  readonly #asked = new Map<string, Set<string>>();
  readonly #inUse = new Map<string, VolumeInUse>();
  readonly #stuck = new Map<string, StuckVolume>();
  /** What was given back, until the node says no more that it is in use. A pod that asks for it waits for that. */
  readonly #dropped = new Set<string>();
  #isForgetting = false;
  readonly #ofDrivers = new Map<string, Semaphore>();
  readonly #stopping = new AbortController();
  /** True once it is known what an earlier process has left. */
  #isSynced = false;
  /** True while folders are there of which nobody can say what volume they have. */
  #isUnsure = false;

  constructor(options: NodeVolumesOptions) {
    this.#options = options;
    const { clock, random, logger } = options;
    this.#loop = new SteadyLoop({
      periodMs: () => this.#nextLookMs(),
      step: () => this.#look(),
      failed: (failure) => this.#failed(failure),
      recovered: (failure) =>
        logger.info(endedFailures(failure, clock.now()), 'the volumes of storage drivers on the node are known again'),
      ...{ random, clock, logger },
    });
  }

  /** Why nothing can be given back; undefined while all is well. */
  get failure(): StepFailure | undefined {
    return this.#loop.failure;
  }

  /** Volumes that their drivers do not take back. */
  stuck(): readonly StuckVolume[] {
    return [...this.#stuck.values()];
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
  }

  /** The pod is to have the volume: from now on it is in use. */
  begin(podUID: string, id: CsiVolumeID, isAttachable: boolean): void {
    const name = uniqueVolumeName(id);
    this.#asked.set(podUID, (this.#asked.get(podUID) ?? new Set()).add(name));
    const known = this.#inUse.get(name);
    if (known !== undefined) this.#clearFailures(name, known);
    if (known?.isAttachable === isAttachable) return;
    // what is giving it back holds this very record
    if (known !== undefined) known.isAttachable = isAttachable;
    else this.#inUse.set(name, { id, isAttachable, isLeaving: false, failures: 0, retryAtMs: 0 });
    this.#tell();
  }

  /** Nothing of the pod is there any more. */
  end(podUID: string): void {
    if (this.#asked.delete(podUID)) this.#loop.wake();
  }

  /** Something of a pod has gone from the disk: nobody may use the volume any more. */
  wake(): void {
    this.#loop.wake();
  }

  /** Makes the call while nothing else is done with the volume. Rejects with the signal's reason when that aborts before. */
  inTurn<T>(id: CsiVolumeID, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#turns.run(uniqueVolumeName(id), call, signal);
  }

  /** The unique names of attachable volumes that may be in use, sorted; undefined until that is known. */
  inUse(): readonly string[] | undefined {
    if (!this.#isSynced) return undefined;
    const own = [...this.#inUse].filter(([, { isAttachable }]) => isAttachable).map(([name]) => name);
    // what the node has said before stays said while nobody knows
    const kept = this.#isUnsure ? [...this.#options.told()].filter((name) => name.startsWith('kubernetes.io/csi/')) : [];
    return [...new Set([...own, ...kept])].filter((name) => !this.#dropped.has(name)).sort();
  }

  #read(): Promise<VolumesOnDisk> {
    return readVolumesOnDisk(this.#options.rootDirectory, this.#options.mounter);
  }

  async #look(): Promise<void> {
    const found = await this.#read();
    const isUnsure = found.unknown.length > 0;
    // what the node has said before is kept before anything else is said
    if (isUnsure) this.#noteUnsure(true);
    await this.#adopt(found);
    if (!isUnsure) this.#noteUnsure(false);
    requireKnown(found);
    const now = this.#options.clock.elapsed();
    for (const [name, volume] of this.#inUse) {
      if (this.#isUsed(name, found)) this.#clearFailures(name, volume);
      else if (!volume.isLeaving && volume.retryAtMs <= now) this.#beginGivingBack(name, volume);
    }
  }

  #beginGivingBack(name: string, volume: VolumeInUse): void {
    volume.isLeaving = true;
    // one that hangs costs no other volume anything
    void this.#giveBack(name, volume);
  }

  #clearFailures(name: string, volume: VolumeInUse): void {
    volume.failures = 0;
    volume.retryAtMs = 0;
    this.#stuck.delete(name);
  }

  /** What is on disk and was not known is in use, too. */
  async #adopt({ volumes }: VolumesOnDisk): Promise<void> {
    for (const [name, { driverName, volumeHandle }] of volumes) {
      if (this.#inUse.has(name)) continue;
      const id = { driverName, volumeHandle };
      const isAttachable = await this.#options.isAttachable(id.driverName).catch(() => true);
      if (!this.#inUse.has(name)) this.#inUse.set(name, { id, isAttachable, isLeaving: false, failures: 0, retryAtMs: 0 });
    }
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#tell();
  }

  #noteUnsure(isUnsure: boolean): void {
    if (this.#isUnsure === isUnsure) return;
    this.#isUnsure = isUnsure;
    this.#tell();
  }

  #isUsed(name: string, { users }: VolumesOnDisk): boolean {
    return users.has(name) || this.#isAsked(name);
  }

  #isAsked(name: string): boolean {
    return [...this.#asked.values()].some((names) => names.has(name));
  }

  async #giveBack(name: string, volume: VolumeInUse): Promise<void> {
    const { signal } = this.#stopping;
    const { driverName } = volume.id;
    const ofDriver = this.#ofDrivers.get(driverName) ?? new Semaphore(leavingOfDriver);
    this.#ofDrivers.set(driverName, ofDriver);
    try {
      const call = (): Promise<void> => this.#turns.run(name, () => this.#unstageUnused(name, volume.id), signal);
      await ofDriver.run(call, signal);
      this.#clearFailures(name, volume);
    } catch (error) {
      if (!signal.aborted) this.#noteFailure(name, volume, error);
    } finally {
      volume.isLeaving = false;
      if (!signal.aborted) this.#loop.wake();
    }
  }

  /** Looks once more in the volume's turn: a pod may have come meanwhile. */
  async #unstageUnused(name: string, id: CsiVolumeID): Promise<void> {
    const found = await this.#read();
    requireKnown(found);
    if (this.#isUsed(name, found)) return;
    await this.#options.unstage(id);
    const left = await this.#read();
    // a pod that came meanwhile waits for its turn, and the volume stays in use for it
    if (this.#isAsked(name)) return;
    const folder = left.volumes.get(name)?.folder;
    if (folder !== undefined) throw new Error(`${folder} is still there, and says that it is of this volume`);
    this.#inUse.delete(name);
    if (this.#options.told().has(name)) this.#drop(name);
    this.#tell();
  }

  /** A node that said it again before all had seen that it did not would pass for one that had said so all the time. */
  #drop(name: string): void {
    this.#dropped.add(name);
    if (!this.#isForgetting) void this.#forgetDropped();
  }

  async #forgetDropped(): Promise<void> {
    const { clock, told } = this.#options;
    const { signal } = this.#stopping;
    this.#isForgetting = true;
    while (this.#dropped.size > 0 && !signal.aborted) {
      await sleep(clock, lookMs, signal);
      const names = told();
      const gone = [...this.#dropped].filter((name) => !names.has(name));
      for (const name of gone) this.#dropped.delete(name);
      if (gone.some((name) => this.#inUse.has(name))) this.#tell();
    }
    this.#isForgetting = false;
  }

  #noteFailure(name: string, volume: VolumeInUse, err: unknown): void {
    const { clock, logger } = this.#options;
    if (this.#isAsked(name)) {
      const fields = { err, name, driver: volume.id.driverName };
      logger.info(fields, 'a volume could not be given back before a pod asked for it again; the node keeps it for that pod');
      return;
    }
    volume.failures += 1;
    const retryInMs = nthDelayMs(volume.failures, retryDelays);
    volume.retryAtMs = clock.elapsed() + retryInMs;
    const since = this.#stuck.get(name)?.since ?? clock.now();
    const stuck = { volume: name, attempt: volume.failures, since, retryAt: clock.now() + retryInMs };
    this.#stuck.set(name, { ...stuck, message: errorText(err) });
    const fields = {
      err,
      name,
      driver: volume.id.driverName,
      ...problemFields({ ...stuck, ...helped('csi-unstage') }, clock.now()),
    };
    logger.warn(fields, 'a volume that no pod uses could not be given back; it is tried again');
  }

  #nextLookMs(): number {
    const now = this.#options.clock.elapsed();
    // what is under way wakes the loop at its end
    const waiting = [...this.#inUse.values()].filter(({ failures, isLeaving }) => failures > 0 && !isLeaving);
    return Math.max(1, Math.min(periodMs, ...waiting.map(({ retryAtMs }) => retryAtMs - now)));
  }

  #tell(): void {
    callGuarded(this.#options.changed, (err) =>
      this.#options.logger.error({ err }, 'the node could not be told which volumes are in use'),
    );
  }

  #failed({ error, attempt, since, at, retryInMs }: StepFailure): void {
    const { clock, logger } = this.#options;
    this.#noteUnsure(true);
    const problem = { attempt, since, retryAt: at + retryInMs, ...helped('csi-unsure') };
    const fields = { err: error, ...problemFields(problem, clock.now()) };
    logger.warn(fields, 'it is not sure which volumes of storage drivers are in use; none is given back until it is');
  }
}

function requireKnown({ unknown }: VolumesOnDisk): void {
  if (unknown.length === 0) return;
  const shown = unknown.slice(0, mostTold).map(({ folder, message }) => `${folder} (${message})`);
  const rest = unknown.length > mostTold ? ` and ${unknown.length - mostTold} more` : '';
  throw new Error(`nobody can say which volumes these folders have: ${shown.join(', ')}${rest}`);
}
