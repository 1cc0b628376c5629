import { relative } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { errorText } from '../../base/errors.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';
import { MountHangs, type MountTurns } from '../claims/mount-turns.ts';
import type { SubPathMount } from '../containers/container-mounts.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { podFolder } from '../volumes/pod-folder.ts';
import { prepareSubPath } from '../volumes/sub-paths.ts';

export interface SubPathNeeds {
  readonly rootDirectory: string;
  readonly mounter: Mounter;
  /** Those of sub paths alone. */
  readonly mountTurns: MountTurns;
}

/** The types of volumes whose files are behind a server, a driver or a disk of their own. One that is made for a pod is a claimed one. */
const foreignTypes: ReadonlySet<string> = new Set(['persistentVolumeClaim', 'csi']);

/** Threads for files that sub paths leave alone: two are those of other calls in volumes, and one is for all the rest. */
const otherThreads = 3;
/** libuv's own number of threads, and the most that it takes. */
const [fewestThreads, mostThreads] = [4, 1024];

/** So many sub paths of volumes that may hang are opened at once, by what `UV_THREADPOOL_SIZE` says. */
export function subPathsAtOnce(threads: string | undefined): number {
  const count = threads === undefined ? fewestThreads : Math.trunc(Number(threads) || 1);
  return Math.max(1, Math.min(count, mostThreads) - otherThreads);
}

/** The same for all pods that have a claimed volume. One that stands in a pod's spec is that pod's alone. */
function turnOf(folder: string, { type, hostPath }: SubPathMount['volume']): string {
  const way = relative(folder, hostPath);
  return type === 'persistentVolumeClaim' && !way.startsWith('..') ? way : hostPath;
}

/**
 * Shows parts of volumes to containers. A part of a volume that may hang is opened only where the volume has answered a program, and in its turn:
 * one that hangs all the same, as a disk that has answered from memory, holds one thread of this process, however many pods have it.
 */
export function subPathsOf({ rootDirectory, mounter, mountTurns }: SubPathNeeds) {
  return async (pod: Pod, part: SubPathMount, signal: AbortSignal): Promise<string> => {
    const { volume, containerName, index, subPath } = part;
    const { name: volumeName, hostPath: volumePath } = volume;
    const folder = podFolder(rootDirectory, podUIDOf(pod));
    const request = { mounter, containerName, index, subPath, volumeName, volumePath, podFolder: folder };
    if (!foreignTypes.has(volume.type)) return prepareSubPath({ ...request, signal });
    const failed = `failed to prepare subPath for volumeMount "${volumeName}" of container "${containerName}"`;
    try {
      await mountTurns.requireAnswer(volumePath, signal).catch((cause: unknown) => {
        if (signal.aborted || cause instanceof MountHangs) throw cause;
        const help = "It is asked again at the pod's next sync; the agent's log names the file systems that hang";
        throw new ContainerConfigError(`${failed}: the volume "${volumeName}": ${errorText(cause)}. ${help}`, { cause });
      });
      return await mountTurns.run(turnOf(folder, volume), (ofCall) => prepareSubPath({ ...request, signal: ofCall }), signal);
    } catch (cause) {
      if (!(cause instanceof MountHangs)) throw cause;
      const help = 'Look at its storage driver, its server or its disk';
      throw new ContainerConfigError(`${failed}: the volume "${volumeName}" hangs: ${cause.message}. ${help}`, { cause });
    }
  };
}
