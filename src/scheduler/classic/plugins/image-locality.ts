// Behaviour of pkg/scheduler/framework/plugins/imagelocality, v1.22.17.
import type { PluginHandle } from '../../framework/handle.ts';
import { maxNodeScore, type Plugin } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { normalizedImageName } from '../../plugins/image-locality.ts';

const mebibyte = 1024 * 1024;
const least = 23 * mebibyte;
const mostOfContainer = 1000 * mebibyte;

/** Prefers nodes that have the images of the pod's containers; those of init containers do not count. */
export function classicImageLocality(handle: PluginHandle): Plugin {
  return {
    name: 'ImageLocality',
    eventsToRegister: () => [],
    score: (_state, pod, node) => imageScore(pod, node, handle.snapshot().nodes.length),
  };
}

function imageScore({ pod }: PodInfo, { images }: NodeInfo, allNodes: number): number {
  const containers = pod.spec?.containers ?? [];
  if (containers.length === 0 || images.size === 0) return 0;
  let sum = 0;
  for (const { image = '' } of containers) {
    const state = images.get(normalizedImageName(image));
    if (state !== undefined) sum += Math.trunc(state.sizeBytes * (state.nodes / allNodes));
  }
  const most = mostOfContainer * containers.length;
  return Math.trunc((maxNodeScore * (Math.min(Math.max(sum, least), most) - least)) / (most - least));
}
