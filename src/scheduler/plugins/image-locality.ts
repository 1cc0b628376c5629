// Behaviour of pkg/scheduler/framework/plugins/imagelocality, v1.36.3.
import type { WirePod } from '../../api/json/types.ts';
import { stateKey } from '../framework/cycle-state.ts';
import { withSignature } from '../framework/placed-plugin.ts';
import { maxNodeScore, type Plugin, type PluginHandle } from '../framework/plugin.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { kept, refuseArgs } from './common.ts';

const mebibyte = 1024 ** 2;
/** So many bytes are worth nothing. */
const leastBytes = 23 * mebibyte;
/** More bytes than this for each container are worth no more. */
const mostBytesOfContainer = 1000 * mebibyte;

/** What is looked for on each node. */
class WantedImages {
  readonly names: readonly string[];
  readonly mostBytes: number;

  constructor({ spec }: WirePod) {
    const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    const volumes = (spec?.volumes ?? []).flatMap(({ image }) => (image == null ? [] : [image.reference]));
    this.names = [...containers.map(({ image }) => image), ...volumes].map((name) => normalizedImageName(name ?? ''));
    this.mostBytes = mostBytesOfContainer * containers.length;
  }

  clone(): WantedImages {
    return this;
  }
}

const key = stateKey<WantedImages>('ImageLocality');

/** Prefers nodes that have the pod's images: the larger an image, and the more nodes have it, the more it counts. No arguments. */
export function imageLocality(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('ImageLocality', args);
  const plugin: Plugin = {
    name: 'ImageLocality',
    preScore(state, { pod }) {
      state.write(key, new WantedImages(pod));
      return undefined;
    },
    score(state, _pod, node) {
      const { names, mostBytes } = kept(state, key);
      return node.images.size === 0 ? 0 : scoreOf(bytesThere(node, names, handle.snapshot().nodes.length), mostBytes);
    },
  };
  return withSignature(plugin, ({ pod }) => {
    const { names, mostBytes } = new WantedImages(pod);
    // how many nodes have an image counts, too
    return `${handle.snapshot().imagesVersion} ${mostBytes} ${JSON.stringify(names)}`;
  });
}

function bytesThere(node: NodeInfo, names: readonly string[], allNodes: number): number {
  let bytes = 0;
  for (const name of names) {
    const image = node.images.get(name);
    if (image !== undefined) bytes += Math.trunc(image.sizeBytes * (image.nodes / allNodes));
  }
  return bytes;
}

function scoreOf(bytes: number, mostBytes: number): number {
  if (bytes <= leastBytes) return 0;
  return Math.trunc((maxNodeScore * (Math.min(bytes, mostBytes) - leastBytes)) / (mostBytes - leastBytes));
}

/** A name without a tag or digest is that of the latest one. */
export function normalizedImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
