// Behaviour of pkg/scheduler/framework/plugins/imagelocality, v1.36.3.
import type { WirePod } from '../../api/json/types.ts';
import { stateKey } from '../framework/cycle-state.ts';
import type { ImagePlaces } from '../framework/image-places.ts';
import { type PlacedAnswers, withSignature } from '../framework/placed-plugin.ts';
import { maxNodeScore, type Plugin, type PluginHandle } from '../framework/plugin.ts';
import type { ImageState, NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
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
const placedKey = stateKey<PlacedImages>('ImageLocality by places');

/** One of the images that a pod wants. */
interface ImagePart {
  /** What a node that has it gets for it. */
  readonly bytes: number;
  readonly isOn: (place: number) => boolean;
}

/** What nodes are worth by their places: an image is worth the same on each node that has it. */
class PlacedImages {
  readonly #parts: readonly ImagePart[];
  readonly #mostBytes: number;

  private constructor(parts: readonly ImagePart[], mostBytes: number) {
    this.#parts = parts;
    this.#mostBytes = mostBytes;
  }

  /** Undefined where a node with all of the images would be worth nothing. */
  static of({ names, mostBytes }: WantedImages, images: ImagePlaces): PlacedImages | undefined {
    const worth = names.map((name) => bytesOf(images.stateOf(name), images.size));
    const most = worth.reduce((sum, bytes) => sum + Math.max(0, bytes), 0);
    if (scoreOf(most, mostBytes) === 0) return undefined;
    const holders = new Map<string, (place: number) => boolean>();
    const parts: ImagePart[] = [];
    for (const [index, name] of names.entries()) {
      const bytes = worth[index] as number;
      if (bytes === 0) continue;
      const isOn = holders.get(name) ?? images.holders(name);
      holders.set(name, isOn);
      parts.push({ bytes, isOn });
    }
    return new PlacedImages(parts, mostBytes);
  }

  /** The scores do not change in what-if questions. */
  clone(): PlacedImages {
    return this;
  }

  score(place: number): number {
    let there = 0;
    for (const { bytes, isOn } of this.#parts) if (isOn(place)) there += bytes;
    return scoreOf(there, this.#mostBytes);
  }
}

const placedAnswers: PlacedAnswers = {
  preScore(state, { pod }, _at, places) {
    const images = places.images();
    if (images === undefined) return undefined;
    const scores = PlacedImages.of(new WantedImages(pod), images);
    if (scores === undefined) return 'skip';
    state.write(placedKey, scores);
    return 'done';
  },
  score(state) {
    const scores = state.read(placedKey);
    return scores && ((place) => scores.score(place));
  },
};

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
  const signature = ({ pod }: PodInfo): string => {
    const { names, mostBytes } = new WantedImages(pod);
    // how many nodes have an image counts, too
    return `${handle.snapshot().imagesVersion} ${mostBytes} ${JSON.stringify(names)}`;
  };
  return withSignature(plugin, signature, placedAnswers);
}

function bytesThere(node: NodeInfo, names: readonly string[], allNodes: number): number {
  let bytes = 0;
  for (const name of names) bytes += bytesOf(node.images.get(name), allNodes);
  return bytes;
}

/** The more nodes have an image, the more it is worth: so that not all pods go where it was first. */
function bytesOf(image: ImageState | undefined, allNodes: number): number {
  return image === undefined ? 0 : Math.trunc(image.sizeBytes * (image.nodes / allNodes));
}

function scoreOf(bytes: number, mostBytes: number): number {
  if (bytes <= leastBytes) return 0;
  return Math.trunc((maxNodeScore * (Math.min(bytes, mostBytes) - leastBytes)) / (mostBytes - leastBytes));
}

/** A name without a tag or digest is that of the latest one. */
export function normalizedImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
