import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { readAtMost } from './read-at-most.ts';

/** A file of variables is small; what is larger is no such file. */
const mostBytes = 1024 * 1024;

/** The text of a file of a volume. Rejects where the path leads out of the volume, or the file is too large. */
export async function readVolumeFile(volumes: PodVolumes, volumeName: string, path: string): Promise<string> {
  const volume = volumes.get(volumeName);
  if (volume === undefined || volume.hostPath === '') {
    throw new Error(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  }
  const root = await realpath(volume.hostPath);
  return readAtMost(join(root, path), mostBytes, root);
}
