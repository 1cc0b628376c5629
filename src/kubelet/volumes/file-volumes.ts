// Volumes whose files the agent writes.

import { join } from 'node:path';
import { collected, diskSize, memorySize, requireRoom, type VolumeFiles } from '../../node/pod-files/file-bytes.ts';
import { MountObjects } from '../../node/pod-files/pod-objects.ts';
import { type FileVolumeType, volumeFiles } from '../../node/pod-files/volume-files.ts';
import { makeEmptyDir, makeMemoryFolder } from './host-path.ts';
import { type MountedVolume, makeNestedMountPoints } from './pod-folder.ts';
import type { MountVolume, VolumeRequest } from './volume-request.ts';

interface FileVolume {
  /** The part of the folder's name that says the type. */
  readonly folder: string;
  /** True: nothing of it is ever on disk. */
  readonly inMemory: boolean;
}

export const mountConfigMap = mounting('configMap', { folder: 'kubernetes.io~configmap', inMemory: false });
export const mountSecret = mounting('secret', { folder: 'kubernetes.io~secret', inMemory: true });
export const mountDownwardAPI = mounting('downwardAPI', { folder: 'kubernetes.io~downward-api', inMemory: true });
export const mountProjected = mounting('projected', { folder: 'kubernetes.io~projected', inMemory: true });

/** Each call reads the sources anew, and writes what has changed. Nothing is written of what there is no room for. */
function mounting(type: FileVolumeType, kind: FileVolume): MountVolume {
  return async (request): Promise<MountedVolume> => {
    const { pod, volume, volumesFolder, fsGroup, signal } = request;
    const { tokens } = request.options;
    const objects = new MountObjects(pod, request.options, signal);
    const found = await volumeFiles(type, { ...request, objects, tokens });
    const folder = join(volumesFolder, kind.folder, volume.name);
    // what is decoded is in memory until it is written
    await request.inTurn(async () => {
      const files = collected(found);
      await (kind.inMemory ? makeInMemory : makeOnDisk)(folder, files, request);
      await makeNestedMountPoints(pod, volume.name, folder);
      await request.writerOf(folder).write(files.files, { fsGroup });
    });
    return { name: volume.name, type, hostPath: folder, readonly: true, selinuxRelabel: true };
  };
}

async function makeInMemory(folder: string, files: VolumeFiles, request: VolumeRequest): Promise<void> {
  const size = memorySize(request.pod, request.options.nodeAllocatable().memory);
  await makeMemoryFolder(folder, request, size);
  requireRoom(files.bytes, size, 'memory');
  request.memory.add(files.bytes + files.besideBytes);
}

async function makeOnDisk(folder: string, files: VolumeFiles, request: VolumeRequest): Promise<void> {
  requireRoom(files.bytes, diskSize(request.pod, request.options.nodeAllocatable()['ephemeral-storage']), 'ephemeral storage');
  await makeEmptyDir(folder, request);
}
