// Behaviour of pkg/scheduler/backend/cache addNodeImageStates, v1.36.3.
import type { WireNode } from '../../api/json/types.ts';
import type { ImageAccount } from '../nodes/image-account.ts';
import type { ImageState, NodeState } from '../nodes/node-info.ts';

/**
 * `current`: what a node says of its images is always up to date. `when-set`: how many nodes have an image is counted when the
 * node itself comes or changes, as the classic scheduler did.
 */
export type ImageCounting = 'current' | 'when-set';

interface CountedImage {
  readonly sizeBytes: number;
  nodes: number;
}

/** What the nodes together say of images. */
export interface CountedImages {
  /** Another number whenever an image is on more or fewer nodes than before, or its size may be another one. */
  readonly version: number;
  /** Undefined for an image that no node has. */
  stateOf(name: string): ImageState | undefined;
}

/** On how many nodes each image is. The size is that of the node which had the image first. */
export class ImageCounts implements CountedImages {
  readonly #counting: ImageCounting;
  readonly #images = new Map<string, CountedImage>();
  #version = 0;

  constructor(counting: ImageCounting) {
    this.#counting = counting;
  }

  get version(): number {
    return this.#version;
  }

  stateOf(name: string): ImageState | undefined {
    return this.#images.get(name);
  }

  /** Counts the node's images, after those that it had before are taken away. Where they are the same ones, the node keeps what it has. */
  replace(before: Pick<NodeState, 'node' | 'images'> | undefined, after: WireNode): ReadonlyMap<string, ImageState> {
    const had = imageSizes(before?.node);
    const has = imageSizes(after); // throws before anything is counted
    if (had.size !== has.size || [...had].some(([name, size]) => has.get(name) !== size)) this.#version += 1;
    else if (before !== undefined && this.#counting === 'current') return before.images;
    this.#take(had);
    return this.#count(has);
  }

  remove(node: WireNode | undefined): void {
    const had = imageSizes(node);
    if (had.size > 0) this.#version += 1;
    this.#take(had);
  }

  #count(sizes: ReadonlyMap<string, number>): Map<string, ImageState> {
    const states = new Map<string, ImageState>();
    for (const [name, sizeBytes] of sizes) {
      const image = this.#images.get(name) ?? { sizeBytes, nodes: 0 };
      image.nodes++;
      this.#images.set(name, image);
      states.set(name, this.#counting === 'current' ? image : { ...image });
    }
    return states;
  }

  #take(had: ReadonlyMap<string, number>): void {
    for (const name of had.keys()) {
      const image = this.#images.get(name);
      if (image === undefined) continue;
      image.nodes--;
      if (image.nodes === 0) this.#images.delete(name);
    }
  }
}

/** By the names of the images; the first size counts. */
function imageSizes(node: WireNode | undefined): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { names, sizeBytes = 0 } of node?.status?.images ?? []) {
    for (const name of names ?? []) if (!sizes.has(name)) sizes.set(name, sizeBytes);
  }
  return sizes;
}

/** The images on the nodes of a snapshot. */
export class SnapshotImages {
  readonly #counted: CountedImages;
  readonly #areShared: boolean;
  #account: ImageAccount;
  #version = -1;

  constructor(counted: CountedImages, areShared: boolean) {
    this.#counted = counted;
    this.#areShared = areShared;
    this.#account = this.#accountOf([]);
  }

  get version(): number {
    return this.#counted.version;
  }

  /** Undefined where the images of now are not those of the snapshot. */
  get account(): ImageAccount | undefined {
    return this.#areShared && this.#version === this.#counted.version ? this.#account : undefined;
  }

  rebuild(nodes: readonly NodeState[]): void {
    this.#account = this.#accountOf(nodes);
    this.update();
  }

  /** The snapshot is brought up to date. */
  update(): void {
    this.#version = this.#counted.version;
  }

  put(place: number, { imagesGeneration }: NodeState): void {
    this.#account.generations[place] = imagesGeneration;
  }

  #accountOf(nodes: readonly NodeState[]): ImageAccount {
    const generations = Float64Array.from(nodes, ({ imagesGeneration }) => imagesGeneration);
    return { generations, stateOf: (name) => this.#counted.stateOf(name) };
  }
}
