// Behaviour of pkg/volume/local, v1.36.3.

import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { settledAtOnce } from '../../base/concurrency/aborts.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorCodeOf, errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { volumeStepError } from '../volumes/driver-volumes.ts';
import { applyFsGroup, type FsGroupRequest } from '../volumes/fs-group.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { type MountedVolume, podsFolder } from '../volumes/pod-folder.ts';
import { forEachPath, namesOfType, pathsIn, unmountAndRemove } from './claim-folders.ts';
import { answerInTime } from './claim-usage.ts';
import { mapDevice, unmapDevice } from './device-map.ts';
import { FileSystemProbes } from './file-system-probes.ts';
import { LocalDevices, localVolumeType as typeFolder } from './local-devices.ts';
import { MountHangs, type MountTurns } from './mount-turns.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest, PodVolumeFolders, VolumeUsage } from './persistent-volume-kind.ts';

export interface LocalClaimsOptions {
  readonly rootDirectory: string;
  readonly mounter: Mounter;
  /** Those of the whole process: it has few threads for files. */
  readonly mountTurns: MountTurns;
  /** Says how full a file system is. Default: programs of its own. */
  readonly askFileSystem?: FileSystemProbes['ask'];
  readonly clock: Clock;
  readonly eventRecorder: EventRecorder;
  readonly logger: Logger;
}

type MeasureRequest = Parameters<NonNullable<PersistentVolumeKind['measure']>>[0];

interface Source {
  readonly path: string;
  readonly stats: Stats;
}

const never = new AbortController().signal;
const folderMode = 0o750;
const asksAtOnce = 8;

/** PersistentVolumes of type `local`: folders and block devices of the node. A pod sees a folder by a mount of its own. */
export class LocalClaims implements PersistentVolumeKind {
  readonly takesMountOptions = true;
  readonly takesBlock = true;
  readonly #options: LocalClaimsOptions;
  readonly #turns: MountTurns;
  readonly #askFileSystem: FileSystemProbes['ask'];
  readonly #lanes = new OneAtATime();
  readonly #devices: LocalDevices;

  constructor(options: LocalClaimsOptions) {
    this.#options = options;
    this.#turns = options.mountTurns;
    this.#askFileSystem = options.askFileSystem ?? new FileSystemProbes(options).ask;
    this.#devices = new LocalDevices(options.rootDirectory, options.mounter);
  }

  async mount(request: PersistentVolumeRequest): Promise<MountedVolume> {
    const { persistentVolume, isBlock, volume, volumesFolder, devicesFolder, readOnly } = request;
    const { name } = persistentVolume.metadata;
    const shared = { name: volume.name, type: 'persistentVolumeClaim', readonly: readOnly };
    if (isBlock) {
      const podLink = join(devicesFolder, typeFolder, name);
      await this.#map(request, podLink);
      return { ...shared, hostPath: '', devicePath: podLink, selinuxRelabel: false };
    }
    const folder = join(volumesFolder, typeFolder, name);
    // the root of a mount is never looked at outside a turn: it may not answer
    const isMounted = (await this.#options.mounter.mountsBelow(join(volumesFolder, typeFolder))).includes(folder);
    if (!isMounted) {
      const source = await this.#source(request);
      // two volumes may be one folder, and the device of one goes with its last pod
      await this.#lanes.run(source.path, () => this.#lanes.run(`volume ${name}`, () => this.#make(request, source, folder)));
    }
    return { ...shared, hostPath: folder, selinuxRelabel: true };
  }

  async unmount(podUID: string, { volumesFolder, devicesFolder }: PodVolumeFolders): Promise<void> {
    const { mounter } = this.#options;
    const parent = join(volumesFolder, typeFolder);
    await forEachPath(await pathsIn(parent), (folder) => {
      const release = (): Promise<void> => this.#devices.release(basename(folder), podUID);
      return this.#lanes.run(`volume ${basename(folder)}`, () => unmountAndRemove(folder, parent, mounter, release));
    });
    await forEachPath(await pathsIn(join(devicesFolder, typeFolder)), async (podLink) => {
      await unmapDevice({ mounter, podLink, podUID, globalFolder: await this.#globalFolder(basename(podLink)) });
    });
  }

  volumesOnDisk(folders: PodVolumeFolders): Promise<readonly string[]> {
    return namesOfType(typeFolder, folders);
  }

  async measure({ isBlock, mounted }: MeasureRequest): Promise<VolumeUsage | undefined> {
    if (isBlock) return undefined;
    return answerInTime((call, time) => this.#askFileSystem(mounted.hostPath, call, time), this.#options.clock, never);
  }

  /** The folder or the device that the volume is, without symbolic links. */
  async #source({ persistentVolume, signal }: PersistentVolumeRequest): Promise<Source> {
    const { name } = persistentVolume.metadata;
    try {
      const given = persistentVolume.spec?.local?.path ?? '';
      if (given === '') throw new Error('local volume source is nil or local path is not set');
      if (given.split('/').includes('..')) throw new Error(`invalid path: ${given} must not contain '..'`);
      await this.#turns.requireAnswer(join('/', given), signal);
      const path = await this.#turns.run(name, () => realpath(join('/', given)), signal);
      const stats = await this.#turns.run(name, () => stat(path), signal);
      if (!stats.isDirectory() && !stats.isBlockDevice()) throw new Error('only directory and block device are supported');
      return { path, stats };
    } catch (cause) {
      signal.throwIfAborted();
      const isMissing = errorCodeOf(cause) === 'ENOENT';
      const why = isMissing ? new Error(`path ${JSON.stringify(persistentVolume.spec?.local?.path)} does not exist`) : cause;
      throw volumeStepError('FailedMount', 'MountVolume.NewMounter initialization', name, why);
    }
  }

  async #make(request: PersistentVolumeRequest, source: Source, folder: string): Promise<void> {
    // a kubelet, or an earlier process, unmounts the device as soon as no pod has a folder
    await makeFolders(folder, folderMode);
    if (!source.stats.isBlockDevice()) return this.#bind(request, source, folder);
    const path = await this.#devices.mount(source.path, request);
    const { name } = request.persistentVolume.metadata;
    const stats = await this.#turns.run(name, () => stat(path), request.signal);
    return this.#bind(request, { path, stats }, folder);
  }

  /** The files get their group before the pod's mount is there: what is mounted was done to its end. */
  async #bind(request: PersistentVolumeRequest, { path, stats }: Source, folder: string): Promise<void> {
    const { pod, persistentVolume, mountOptions, fsGroup, readOnly, signal } = request;
    const { mounter, eventRecorder } = this.#options;
    const isShared = fsGroup !== undefined && (await this.#isWithOtherPod(stats, folder, signal));
    if (isShared && stats.gid !== fsGroup) {
      const told = `The requested fsGroup is ${fsGroup}, but the volume ${persistentVolume.metadata.name} has GID ${stats.gid}.`;
      eventRecorder.event(pod, 'Warning', 'AlreadyMountedVolume', `${told} The volume may not be shareable.`);
    }
    if (!readOnly && !isShared && fsGroup !== undefined) await this.#giveToGroup(request, path, fsGroup);
    signal.throwIfAborted();
    const options = [...mountOptions, ...(readOnly ? ['ro'] : [])];
    try {
      await (options.length === 0 ? mounter.bind(path, folder, {}, signal) : mounter.mount(path, folder, { options }, signal));
    } catch (error) {
      // its options may have been refused after it was made
      const release = (): Promise<void> => this.#devices.release(persistentVolume.metadata.name, podUIDOf(pod));
      await unmountAndRemove(folder, join(folder, '..'), mounter, release).catch(ignoreFailure);
      throw error;
    }
  }

  /** True where another pod of the node has the same volume mounted, or the same folder by another one. */
  async #isWithOtherPod(source: Stats, folder: string, signal: AbortSignal): Promise<boolean> {
    const root = await realpath(podsFolder(this.#options.rootDirectory));
    const mounts = (await this.#options.mounter.mountsBelow(root)).filter((mount) => {
      const [, place, type, name] = mount.slice(root.length + 1).split('/');
      return place === 'volumes' && type === typeFolder && name === basename(mount) && mount !== folder;
    });
    if (mounts.some((mount) => basename(mount) === basename(folder))) return true;
    const answers = await settledAtOnce(mounts, asksAtOnce, (mount) => this.#turns.requireAnswer(mount, signal));
    // that another pod's volume hangs is its own matter; where nobody could ask, nobody knows
    for (const answer of answers) {
      if (answer.status === 'rejected' && !(answer.reason instanceof MountHangs)) throw answer.reason;
    }
    for (const mount of mounts.filter((_, index) => answers[index]?.status === 'fulfilled')) {
      const found = await this.#turns.run(basename(mount), () => stat(mount), signal).catch(ignoreFailure);
      signal.throwIfAborted();
      if (found?.dev === source.dev && found.ino === source.ino) return true;
    }
    return false;
  }

  async #giveToGroup({ pod, persistentVolume, signal }: PersistentVolumeRequest, folder: string, gid: number): Promise<void> {
    const { mounter, logger } = this.#options;
    const { name } = persistentVolume.metadata;
    const onRootMismatch = pod.spec?.securityContext?.fsGroupChangePolicy === 'OnRootMismatch';
    const inTurn: FsGroupRequest['inTurn'] = (call) => this.#turns.run(name, call, signal);
    let refusal: unknown;
    try {
      refusal = await applyFsGroup({ mounter, folder, gid, onRootMismatch, signal, inTurn });
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`the group of the files could not be changed: ${errorText(cause)}`, { cause });
    }
    if (refusal === undefined) return;
    const fields = { err: refusal, name, ...podFields(pod.metadata) };
    logger.warn(fields, 'the group of files in a local volume could not be changed; the pod goes on with them as they are');
  }

  async #map({ pod, persistentVolume, signal }: PersistentVolumeRequest, podLink: string): Promise<void> {
    const { mounter } = this.#options;
    const { name } = persistentVolume.metadata;
    const given = persistentVolume.spec?.local?.path ?? '';
    if (given === '') throw new Error('local volume source is nil or local path is not set');
    await this.#turns.requireAnswer(join('/', given), signal);
    const device = await this.#turns.run(name, () => realpath(join('/', given)), signal);
    const stats = await this.#turns.run(name, () => stat(device), signal);
    if (!stats.isBlockDevice()) throw new Error(`${given} is no block device`);
    await mapDevice(device, { mounter, podLink, podUID: podUIDOf(pod), globalFolder: await this.#globalFolder(name) });
  }

  async #globalFolder(name: string): Promise<string> {
    return join(await realpath(this.#options.rootDirectory), 'plugins', typeFolder, 'volumeDevices', name);
  }
}
