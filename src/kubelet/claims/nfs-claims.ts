// Behaviour of pkg/volume/nfs, v1.36.3.

import { access } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { containersOfPod } from '../../api/pod/pod-containers.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ProgramFailure } from '../../base/run-program.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { MountedVolume } from '../volumes/pod-folder.ts';
import { forEachPath, namesOfType, pathsIn, unmountAndRemove } from './claim-folders.ts';
import { answerInTime } from './claim-usage.ts';
import { FileSystemProbes } from './file-system-probes.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest, PodVolumeFolders, VolumeUsage } from './persistent-volume-kind.ts';

export interface NfsClaimsOptions {
  readonly mounter: Mounter;
  readonly clock: Clock;
  /** Says how full a file system is. Default: programs of its own. */
  readonly askFileSystem?: FileSystemProbes['ask'];
  /** Where `mount` looks for the helper of NFS. */
  readonly helpers?: readonly string[];
}

const typeFolder = 'kubernetes.io~nfs';
const helperPaths = ['/sbin/mount.nfs', '/usr/sbin/mount.nfs', '/usr/local/sbin/mount.nfs'];
/** A helper tries for two minutes. */
const mountLimitMs = 150_000;
const never = new AbortController().signal;

/** PersistentVolumes of type `nfs`. Each pod has a mount of its own. What a server that is gone would hold for ever is done by other processes. */
export class NfsClaims implements PersistentVolumeKind {
  readonly takesMountOptions = true;
  readonly takesBlock = false;
  readonly #options: Required<NfsClaimsOptions>;

  constructor(options: NfsClaimsOptions) {
    this.#options = { askFileSystem: new FileSystemProbes().ask, helpers: helperPaths, ...options };
  }

  async mount(request: PersistentVolumeRequest): Promise<MountedVolume> {
    const { pod, persistentVolume, volume, volumesFolder, readOnly, signal } = request;
    const { name } = persistentVolume.metadata;
    const folder = join(volumesFolder, typeFolder, name);
    if (!(await this.#isMounted(folder, join(volumesFolder, typeFolder)))) await this.#mount(request, folder);
    // a sub path is opened by this process: what does not answer would hold it
    if (usesPartOf(pod, volume.name)) {
      await this.#ask(folder, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        const isAsked = !(cause instanceof ProgramFailure) || cause.code === undefined;
        const what = isAsked ? 'the NFS server does not answer' : 'nobody could ask whether the NFS server answers';
        throw new Error(`${what} for the volume's sub paths: ${errorText(cause)}`, { cause });
      });
    }
    return { name: volume.name, type: 'persistentVolumeClaim', hostPath: folder, readonly: readOnly, selinuxRelabel: false };
  }

  async unmount(_podUID: string, { volumesFolder }: PodVolumeFolders): Promise<void> {
    const parent = join(volumesFolder, typeFolder);
    await forEachPath(await pathsIn(parent), (folder) => unmountAndRemove(folder, parent, this.#options.mounter));
  }

  volumesOnDisk(folders: PodVolumeFolders): Promise<readonly string[]> {
    return namesOfType(typeFolder, folders);
  }

  measure({ mounted }: { readonly mounted: MountedVolume }): Promise<VolumeUsage> {
    return this.#ask(mounted.hostPath, never);
  }

  /** The root of the mount is never looked at by this process. */
  async #isMounted(folder: string, parent: string): Promise<boolean> {
    return (await this.#options.mounter.mountsBelow(parent)).includes(folder);
  }

  async #mount({ persistentVolume, mountOptions, readOnly, signal }: PersistentVolumeRequest, folder: string): Promise<void> {
    const { mounter, helpers } = this.#options;
    const { server = '', path = '' } = persistentVolume.spec?.nfs ?? {};
    const found = await Promise.all(helpers.map((helper) => access(helper).then(...whether)));
    if (!found.includes(true)) {
      throw new Error('this node mounts no NFS: it has no mount.nfs (the package nfs-common or nfs-utils)');
    }
    const options = [...new Set([...mountOptions, ...(readOnly ? ['ro'] : [])])].sort();
    await makeFolders(folder, 0o750);
    const source = `${isIPv6(server) ? `[${server}]` : server}:${path}`;
    await mounter.mount(source, folder, { type: 'nfs', options, timeoutMs: mountLimitMs }, signal);
  }

  #ask(folder: string, signal: AbortSignal): Promise<VolumeUsage> {
    const { askFileSystem, clock } = this.#options;
    return answerInTime((call, time) => askFileSystem(folder, call, time), clock, signal);
  }
}

const whether = [() => true, () => false] as const;

function usesPartOf(pod: Pod, name: string): boolean {
  return containersOfPod(pod).some(({ volumeMounts }) =>
    volumeMounts?.some((mount) => mount.name === name && Boolean(mount.subPath || mount.subPathExpr)),
  );
}
