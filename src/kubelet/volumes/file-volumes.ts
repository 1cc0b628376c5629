// Volumes whose files the agent writes. Behaviour of SetUpAt in pkg/volume/configmap, secret, downwardapi and projected, v1.36.3.

import { join } from 'node:path';
import { collected, diskSize, memorySize, requireRoom, type VolumeFiles } from './file-bytes.ts';
import { makeEmptyDir, makeMemoryFolder } from './host-path.ts';
import { type MountedVolume, makeNestedMountPoints } from './pod-folder.ts';
import { configMapFiles, type FilesInTurn, projectedFiles, secretFiles } from './projected.ts';
import { downwardFiles, type FilesRequest, MountObjects, type MountVolume, type VolumeRequest } from './volume-request.ts';

/** The apiserver's default. */
const usualMode = 0o644;

interface FileVolume {
  /** The part of the folder's name that says the type. */
  readonly folder: string;
  /** True: nothing of it is ever on disk. */
  readonly inMemory: boolean;
  files(request: FilesRequest): Promise<FilesInTurn>;
}

const configMap: FileVolume = {
  folder: 'kubernetes.io~configmap',
  inMemory: false,
  async files(request) {
    const source = request.volume.configMap ?? {};
    return configMapFiles(request, source, source.defaultMode ?? usualMode);
  },
};

const secret: FileVolume = {
  folder: 'kubernetes.io~secret',
  inMemory: true,
  async files(request) {
    const { secretName: name, items, optional, defaultMode } = request.volume.secret ?? {};
    return secretFiles(request, { name, items, optional }, defaultMode ?? usualMode);
  },
};

const downwardAPI: FileVolume = {
  folder: 'kubernetes.io~downward-api',
  inMemory: true,
  async files(request) {
    const { items, defaultMode } = request.volume.downwardAPI ?? {};
    return downwardFiles(request, items ?? null, defaultMode ?? usualMode);
  },
};

const projected: FileVolume = {
  folder: 'kubernetes.io~projected',
  inMemory: true,
  async files(request) {
    const source = request.volume.projected ?? {};
    return projectedFiles(request, source, source.defaultMode ?? usualMode);
  },
};

export const mountConfigMap = mounting('configMap', configMap);
export const mountSecret = mounting('secret', secret);
export const mountDownwardAPI = mounting('downwardAPI', downwardAPI);
export const mountProjected = mounting('projected', projected);

/** Each call reads the sources anew, and writes what has changed. Nothing is written of what there is no room for. */
function mounting(type: string, kind: FileVolume): MountVolume {
  return async (request): Promise<MountedVolume> => {
    const { pod, volume, volumesFolder, fsGroup, signal } = request;
    const objects = new MountObjects(pod, request.options, signal);
    const found = await kind.files({ ...request, objects });
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
