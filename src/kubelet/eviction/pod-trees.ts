// Behaviour of localVolumeNames in pkg/kubelet/eviction/helpers.go, v1.36.3; the files of `others` the kubelet does not count.
import { stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { type TreeSize, treeSize } from './tree-size.ts';
import type { PodFiles } from './usage.ts';

/** Where the files of a pod are. */
export interface PodPaths {
  /** The agent's root directory. */
  readonly rootDirectory: string;
  /** Where the logs of containers are. */
  readonly podLogsDirectory: string;
}

/** One folder or file of a pod, and which part of its files it is. */
export interface PodTree {
  readonly part: keyof PodFiles;
  /** Of the volume or the container. */
  readonly name: string;
  readonly path: string;
}

/** All that a pod can fill on its node, but the own file systems of its containers, which the runtime measures. */
export function podTrees({ metadata, spec }: Pod, { rootDirectory, podLogsDirectory }: PodPaths): PodTree[] {
  const { uid = '', name = '', namespace = '' } = metadata ?? {};
  const pod = join(rootDirectory, 'pods', uid);
  const logs = join(podLogsDirectory, `${namespace}_${name}_${uid}`);
  const volumes = (spec?.volumes ?? []).flatMap(({ name: volume, emptyDir, configMap }): PodTree[] => {
    const path = (type: string): string => join(pod, 'volumes', type, volume);
    if (configMap) return [{ part: 'volumes', name: volume, path: path('kubernetes.io~configmap') }];
    if (!emptyDir) return [];
    const part = emptyDir.medium ? 'memoryVolumes' : 'volumes';
    return [{ part, name: volume, path: path('kubernetes.io~empty-dir') }];
  });
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return [
    { part: 'others', name: 'containers', path: join(pod, 'containers') },
    { part: 'others', name: 'etc-hosts', path: join(pod, 'etc-hosts') },
    ...containers.map(({ name: container }): PodTree => ({ part: 'logs', name: container, path: join(logs, container) })),
    ...volumes,
  ];
}

/** As {@link treeSize}. A file system of its own in memory is asked for its sum: what is open in it could not be unmounted. */
export async function* podTreeSize({ part, path }: PodTree, signal: AbortSignal): AsyncGenerator<TreeSize, TreeSize, void> {
  if (part === 'memoryVolumes') {
    const [own, parent] = await Promise.all([stat(path), stat(dirname(path))]).catch(() => []);
    if (own !== undefined && own.dev !== parent?.dev) {
      const { blocks, bfree, bsize, files, ffree } = await statfs(path);
      return { bytes: (blocks - bfree) * bsize, inodes: files - ffree };
    }
  }
  return yield* treeSize(path, signal);
}
