// Behaviour of pkg/kubelet/images/image_gc_manager.go (which images are unused since when), v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { type ContainerRuntime, isRuntimeError } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import { listedNames } from './image-name.ts';

export interface ImageCollectorOptions {
  readonly runtime: Pick<ContainerRuntime, 'listImages' | 'listContainers' | 'containerStatus' | 'removeImage'>;
  readonly clock: SteadyClock;
}

/** An image that no container needs. Times are those of `Clock.elapsed`. */
export interface UnusedImage {
  readonly image: RuntimeImage;
  /** When it was first seen. */
  readonly detectedAt: number;
  /** When it was last in use; 0 for one that was not in use since this process began. */
  readonly lastUsedAt: number;
}

interface Seen {
  readonly detectedAt: number;
  lastUsedAt: number;
}

/** Knows which images nobody needs, and since when. It is for others to say when one of them is removed. */
export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  readonly #seen = new Map<string, Seen>();

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  /**
   * Asks the runtime, and resolves with the images that no container and nobody else needs: the one that was used longest ago first.
   * Images that the runtime needs itself are never among them, nor those that a container shows as a volume. `alsoUsed`: references
   * of further images in use, also short ones, such as those of volumes whose container is still to be made.
   */
  async unusedImages(alsoUsed: ReadonlySet<string>, signal: AbortSignal): Promise<readonly UnusedImage[]> {
    const { runtime, clock } = this.#options;
    const [images, containers] = await Promise.all([runtime.listImages({ signal }), runtime.listContainers({}, { signal })]);
    const used = new Set([...alsoUsed].flatMap(listedNames));
    for (const { id, imageRef, image } of containers) {
      for (const name of [imageRef, image, ...(await this.#mountedImages(id, signal))]) used.add(name);
    }
    const now = clock.elapsed();
    const ids = new Set(images.map(({ id }) => id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    const unused: UnusedImage[] = [];
    for (const image of images) {
      const seen = this.#seen.get(image.id) ?? { detectedAt: now, lastUsedAt: 0 };
      this.#seen.set(image.id, seen);
      if ([image.id, ...image.repoTags, ...image.repoDigests].some((name) => used.has(name))) seen.lastUsedAt = now;
      else if (!image.pinned) unused.push({ image, ...seen });
    }
    return unused.sort((a, b) => a.lastUsedAt - b.lastUsedAt || a.detectedAt - b.detectedAt);
  }

  /** The images that a container shows as volumes; none for one that is gone by now. */
  async #mountedImages(containerID: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      const { mounts } = await this.#options.runtime.containerStatus(containerID, { signal });
      return mounts.flatMap(({ image }) => (image ? listedNames(image) : []));
    } catch (error) {
      if (isRuntimeError(error, 'not-found')) return [];
      throw error;
    }
  }

  /** Removes an image. */
  async remove({ image }: UnusedImage, signal: AbortSignal): Promise<void> {
    await this.#options.runtime.removeImage(image.id, { signal });
    this.#seen.delete(image.id);
  }
}
