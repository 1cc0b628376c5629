// Behaviour of pkg/scheduler/backend/cache addNodeImageStates, v1.36.3.
import type { WireNode } from '../../api/json/types.ts';
import type { ImageState } from '../nodes/node-info.ts';

/**
 * `current`: what a node says of its images is always up to date. `when-set`: how many nodes have an image is counted when the
 * node itself comes or changes, as the classic scheduler did.
 */
export type ImageCounting = 'current' | 'when-set';

interface CountedImage {
  readonly sizeBytes: number;
  nodes: number;
}

/** On how many nodes each image is. The size is that of the node which had the image first. */
export class ImageCounts {
  readonly #counting: ImageCounting;
  readonly #images = new Map<string, CountedImage>();

  constructor(counting: ImageCounting) {
    this.#counting = counting;
  }

  /** Counts the node's images, after those that it had before are taken away. */
  replace(before: WireNode | undefined, after: WireNode): ReadonlyMap<string, ImageState> {
    this.remove(before);
    const states = new Map<string, ImageState>();
    for (const { names, sizeBytes = 0 } of after.status?.images ?? []) {
      for (const name of names ?? []) {
        if (states.has(name)) continue;
        const image = this.#images.get(name) ?? { sizeBytes, nodes: 0 };
        image.nodes++;
        this.#images.set(name, image);
        states.set(name, this.#counting === 'current' ? image : { ...image });
      }
    }
    return states;
  }

  remove(node: WireNode | undefined): void {
    const names = new Set(node?.status?.images?.flatMap((image) => image.names ?? []));
    for (const name of names) {
      const image = this.#images.get(name);
      if (image === undefined) continue;
      image.nodes--;
      if (image.nodes === 0) this.#images.delete(name);
    }
  }
}
