// Behaviour of pkg/kubelet/images/image_gc_manager.go (which images are unused since when), v1.36.3.
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { Clock } from '../seams/clock.ts';

export interface ImageCollectorOptions {
  readonly runtime: Pick<ContainerRuntime, 'listImages' | 'listContainers' | 'removeImage'>;
  readonly clock: Clock;
}

/** An image that no container needs. Times are in milliseconds since the epoch. */
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
   * Images that the runtime needs itself are never among them. `alsoUsed`: references of further images in use, such as those of
   * volumes.
   */
  async unusedImages(alsoUsed: ReadonlySet<string>, signal: AbortSignal): Promise<readonly UnusedImage[]> {
    const { runtime, clock } = this.#options;
    const [images, containers] = await Promise.all([runtime.listImages({ signal }), runtime.listContainers({}, { signal })]);
    const used = new Set([...alsoUsed, ...containers.flatMap(({ imageRef, image }) => [imageRef, image])]);
    const now = clock.now();
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

  /** Removes an image. */
  async remove({ image }: UnusedImage, signal: AbortSignal): Promise<void> {
    await this.#options.runtime.removeImage(image.id, { signal });
    this.#seen.delete(image.id);
  }
}
