// Behaviour of SetUpAt and TearDownAt in pkg/volume/csi/csi_mounter.go, v1.36.3.

import { basename, join } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { MountTurns } from '../claims/mount-turns.ts';
import type { DriverVolumeRequest } from '../volumes/driver-volumes.ts';
import { applyFsGroup, type FsGroupRequest } from '../volumes/fs-group.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesFolder, podFolder } from '../volumes/pod-folder.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { PublishVolumeRequest } from './csi-node.ts';
import { callErrorOf, driverError, isUnknownVolume, registeredDriver } from './driver-calls.ts';
import {
  type LoadedVolumeData,
  loadVolumeData,
  mountFolder,
  removeVolumeFolder,
  saveVolumeData,
  unsureVolume,
  type VolumeData,
} from './volume-data.ts';
import type { CsiVolumeID } from './volume-ids.ts';

export interface PublishedVolumesOptions {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  /** As it was given. A driver knows its volumes' folders below this path, which its own pod mounts, and by no other. */
  readonly rootDirectory: string;
  readonly mounter: Mounter;
  readonly mountTurns: MountTurns;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** What a driver is asked for, and what is kept of that. */
export interface PublishOrder {
  readonly onNode: CsiDriverOnNode;
  readonly data: VolumeData;
  readonly call: Omit<PublishVolumeRequest, 'targetPath' | 'volumeID'>;
  /** True: the agent gives the files to the group of the pod. */
  readonly isForGroup: boolean;
  /** True: the driver wants to be asked again and again. */
  readonly requiresRepublish: boolean;
}

/** What a volume is called among those of its pod. */
export interface PodVolumeName {
  readonly mode: string;
  /** That of its folder. */
  readonly name: string;
}

interface Published {
  readonly requiresRepublish: boolean;
  /** By the clock's elapsed time. */
  publishedMs: number;
}

/** A volume is published anew at most so often, however often its pod is synced. */
const leastRepublishMs = 10_000;

/** Volumes that drivers have published for pods, each in the pod's folder under its name there. */
export class PublishedVolumes {
  readonly #options: PublishedVolumesOptions;
  /** What this process has published, by the uid of the pod, and its mode and the name of the folder. */
  readonly #published = new Map<string, Map<string, Published>>();
  /** Of which volumes this process has asked a driver first. */
  readonly #begun = new Map<string, Set<string>>();
  /** What this process has asked drivers for, by its folder: until that is gone. */
  readonly #volumes = new Map<string, VolumeData>();

  constructor(options: PublishedVolumesOptions) {
    this.#options = options;
  }

  /**
   * Sees that the volume is published, and asks the driver anew where it wants that. Once the driver is asked, it settles only after the answer,
   * also where the pod is to end: what the driver may have mounted is taken back after it.
   */
  async ensure(
    request: DriverVolumeRequest,
    { name, mode }: PodVolumeName,
    prepare: () => Promise<PublishOrder>,
  ): Promise<string> {
    const folder = join(request.volumesFolder, driverVolumesFolder, name);
    const podUID = podUIDOf(request.pod);
    const published = this.#published.get(podUID) ?? new Map<string, Published>();
    this.#published.set(podUID, published);
    // one of another kind with this name is refused below
    const key = `${mode}/${name}`;
    const known = published.get(key);
    if (known === undefined) {
      const order = await prepare();
      await this.#publish(request, order, folder, false);
      request.signal.throwIfAborted();
      published.set(key, { requiresRepublish: order.requiresRepublish, publishedMs: this.#options.clock.elapsed() });
    } else if (known.requiresRepublish) {
      await this.#republish(request, prepare, folder, known);
    }
    return mountFolder(folder);
  }

  /** The pod is to have no volumes any more. */
  forget(podUID: string): void {
    this.#published.delete(podUID);
    this.#begun.delete(podUID);
  }

  /**
   * Which volume a folder has: by its file, or by what this process has asked for; undefined where nothing was begun in it. Rejects where nobody can
   * say. What the cluster says of the name now counts for nothing: it may be another volume.
   */
  async dataOf(folder: string): Promise<LoadedVolumeData | undefined> {
    const data = await loadVolumeData(folder).catch((cause: unknown) => this.#volumes.get(folder) ?? unsureVolume(folder, cause));
    if (data !== undefined) return data;
    const own = this.#volumes.get(folder);
    const [mounted] = own === undefined ? await this.#options.mounter.mountsBelow(folder) : [];
    return mounted === undefined
      ? own
      : unsureVolume(folder, new Error(`${mounted} is mounted, and no file says by which driver`));
  }

  /** Has the driver take back a volume of the pod, where one has begun to make it, and removes its folder. */
  async unpublish(podUID: string, folder: string, volume: CsiVolumeID | undefined): Promise<void> {
    if (volume !== undefined) {
      const { driverName, volumeHandle } = volume;
      const { node } = registeredDriver(this.#options.drivers, driverName);
      await node.unpublishVolume(volumeHandle, this.targetPath(podUID, basename(folder))).catch((error: unknown) => {
        if (!isUnknownVolume(error)) throw driverError(driverName, error);
      });
    }
    await this.#forgetFolder(folder);
  }

  /** The path by which the driver knows the folder that it mounts a volume at. */
  targetPath(podUID: string, name: string): string {
    const volumesFolder = join(podFolder(this.#options.rootDirectory, podUID), 'volumes');
    return mountFolder(join(volumesFolder, driverVolumesFolder, name));
  }

  async #publish(request: DriverVolumeRequest, order: PublishOrder, folder: string, isAgain: boolean): Promise<void> {
    const { pod, signal } = request;
    const { onNode, data, call } = order;
    const podUID = podUIDOf(pod);
    signal.throwIfAborted();
    await makeFolders(folder, 0o750);
    const isOwn = await this.#isOwn(podUID, folder, data);
    await saveVolumeData(folder, data);
    this.#volumes.set(folder, data);
    try {
      const targetPath = this.targetPath(podUID, basename(folder));
      await onNode.node.publishVolume({ ...call, volumeID: data.volumeHandle, targetPath });
    } catch (error) {
      // what an earlier process has published may be in use
      if (isOwn && !isAgain && callErrorOf(error)?.isFinal) await this.#forgetFolder(folder).catch(ignoreFailure);
      throw driverError(data.driverName, error);
    }
    if (!order.isForGroup) return;
    const refusal = await this.#giveToGroup(request, data, folder, !isOwn && !isAgain);
    if (refusal !== undefined && !isAgain) this.#tellOfRefusal(request, data, refusal);
  }

  /** Resolves with the first error of a file that the driver's file system keeps as it is: it keeps no pod from its start. */
  async #giveToGroup(
    { pod, fsGroup, signal }: DriverVolumeRequest,
    { driverName, volumeHandle }: VolumeData,
    folder: string,
    unlessRootIsRight: boolean,
  ): Promise<unknown> {
    if (fsGroup === undefined) return undefined;
    const { mounter, mountTurns } = this.#options;
    const onRootMismatch = unlessRootIsRight || pod.spec?.securityContext?.fsGroupChangePolicy === 'OnRootMismatch';
    const inTurn: FsGroupRequest['inTurn'] = (call) => mountTurns.run(driverName, call, signal);
    const group = { mounter, folder: mountFolder(folder), gid: fsGroup, onRootMismatch, signal, inTurn };
    const changing = mountTurns.requireAnswer(group.folder, signal).then(() => applyFsGroup(group));
    return changing.catch((cause: unknown) => {
      signal.throwIfAborted();
      throw new Error(`applyFSGroup failed for vol ${volumeHandle}: ${errorText(cause)}`, { cause });
    });
  }

  #tellOfRefusal({ pod, volume }: DriverVolumeRequest, { driverName: driver }: VolumeData, err: unknown): void {
    const fields = { err, name: volume.name, driver, ...podFields(pod.metadata) };
    this.#options.logger.warn(
      fields,
      'the group of files in the volume of a storage driver could not be changed; the pod goes on with them as they are',
    );
  }

  /** False for a volume that an earlier process may have published. Rejects where the folder is another volume's, or may be. */
  async #isOwn(podUID: string, folder: string, { driverName, volumeHandle }: VolumeData): Promise<boolean> {
    const begun = this.#begun.get(podUID) ?? new Set<string>();
    const name = basename(folder);
    const mounts = await this.#options.mounter.mountsBelow(folder);
    // without a mount no pod has what a damaged file was of
    const data = mounts.length > 0 ? await this.dataOf(folder) : await loadVolumeData(folder).catch(ignoreFailure);
    if (data !== undefined && (data.driverName !== driverName || data.volumeHandle !== volumeHandle)) {
      throw new Error(`the folder ${name} of the pod is that of another volume, of the driver ${data.driverName}`);
    }
    if (begun.has(name)) return true;
    if (data !== undefined) return false;
    this.#begun.set(podUID, begun.add(name));
    return true;
  }

  /** A volume that is in use stays as it is where it cannot be published anew. */
  async #republish(
    request: DriverVolumeRequest,
    prepare: () => Promise<PublishOrder>,
    folder: string,
    known: Published,
  ): Promise<void> {
    const { clock, eventRecorder, logger } = this.#options;
    if (clock.elapsed() - known.publishedMs < leastRepublishMs) return;
    known.publishedMs = clock.elapsed();
    try {
      await this.#publish(request, await prepare(), folder, true);
    } catch (err) {
      request.signal.throwIfAborted();
      const { pod } = request;
      const name = basename(folder);
      const message = `MountVolume.SetUp failed for volume ${goQuote(name)} : ${errorText(err)}`;
      eventRecorder.event(pod, 'Warning', 'FailedMount', message);
      logger.warn(
        { err, name, ...podFields(pod.metadata) },
        'a volume could not be published anew; the pod goes on with it as it is, and the next sync tries again',
      );
    }
  }

  /** Removes the folder of a volume, unless something is mounted there. */
  async #forgetFolder(folder: string): Promise<void> {
    const mounts = await this.#options.mounter.mountsBelow(folder);
    if (mounts.length > 0) throw new Error(`${mounts[0]} is still mounted`);
    await removeVolumeFolder(folder);
    this.#volumes.delete(folder);
  }
}
