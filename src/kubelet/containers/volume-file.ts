import { realpath } from 'node:fs/promises';
import { openInside, openToRead } from '../../node/files/opened-folder.ts';
import { readText, requireSmallFile } from '../../node/files/small-file.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';

/** A file of variables is small; what is larger is no such file. */
const mostBytes = 1024 * 1024;

/**
 * The text of a file of a volume. A symbolic link in it leads to nothing outside of the volume. Why a file cannot be read is not
 * told but as the `cause`: whoever wrote the path would learn of the node.
 */
export async function readVolumeFile(volumes: PodVolumes, volumeName: string, path: string): Promise<string> {
  const volume = volumes.get(volumeName);
  if (volume === undefined || volume.hostPath === '') {
    throw new Error(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  }
  try {
    return await readInside(await realpath(volume.hostPath), path);
  } catch (error) {
    throw new Error("couldn't parse env file", { cause: error });
  }
}

async function readInside(folder: string, path: string): Promise<string> {
  const found = await openInside(folder, path);
  try {
    // before it is opened to read: an open alone can start a device, or let go whoever waits at a pipe
    await requireSmallFile(found, path, mostBytes);
    const file = await openToRead(found);
    try {
      return await readText(file, mostBytes);
    } finally {
      await file.close();
    }
  } finally {
    await found.close();
  }
}
