// Behaviour of pkg/kubelet/images/image_gc_manager.go, v1.36.3.

import { type SteadyClock, sleep } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import { tellNode } from './eviction-options.ts';
import type { Supply } from './usage.ts';

/** An image that nobody uses. */
export interface RemovableImage {
  readonly image: { readonly id: string; readonly sizeBytes: number };
  /** When it was first seen, by `Clock.elapsed`. */
  readonly detectedAt: number;
  /** When it was last in use, by `Clock.elapsed`; 0 for one that was not. */
  readonly lastUsedAt: number;
}

/** Who knows which images are used; an `ImageCollector` is one. */
export interface UnusedImages<Image extends RemovableImage = RemovableImage> {
  /** Those that nobody uses and that are not pinned, the longest unused first. `alsoUsed`: references that are used besides. */
  unusedImages(alsoUsed: ReadonlySet<string>, signal: AbortSignal): Promise<readonly Image[]>;
  /** Removes one of them. */
  remove(image: Image, signal: AbortSignal): Promise<void>;
}

export interface ImageCollectionOptions<Image extends RemovableImage = RemovableImage> {
  readonly images: UnusedImages<Image>;
  /** References of images that volumes show. Default: none. */
  readonly usedByVolumes?: () => ReadonlySet<string>;
  /** The file system of images; undefined where it is not known, such as that of a runtime in memory: then no image goes. */
  readonly readImagefs: (signal: AbortSignal) => Promise<Supply | undefined>;
  /** From here on, in percent, unused images are removed; 100: never. Default 85. */
  readonly highThresholdPercent?: number;
  /** So far, in percent. Default 80. */
  readonly lowThresholdPercent?: number;
  /** An image that was seen for a shorter time, in milliseconds, is kept: somebody has just pulled it. Default 120 000. */
  readonly minAgeMs?: number;
  /** An image that was unused for longer than this, in milliseconds, is removed, however full the disk is; 0: never. Default 0. */
  readonly maxAgeMs?: number;
  /** How often the disk is looked at, in milliseconds. Default 300 000. */
  readonly periodMs?: number;
  /** Called after each look, also after one that has failed, and where none is removed: what was kept of images that are gone can go. Default: nobody. */
  readonly afterLook?: (signal: AbortSignal) => Promise<void>;
  /** Gets warnings about the node, such as FreeDiskSpaceFailed: reason and message. Default: nobody. */
  readonly nodeEvent?: (reason: string, message: string) => void;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/**
 * Removes images that no container uses, the longest unused first, when their disk is full, or when they were unused for too long. How
 * long counts from the start on: none goes for its age before images were watched for that long. An image that is in use, pinned by the
 * runtime, or new is never removed.
 */
export class ImageCollection<Image extends RemovableImage = RemovableImage> {
  readonly #options: ImageCollectionOptions<Image>;
  readonly #stopping = new AbortController();
  readonly #failures: FailureRun;
  /** Since when images are watched, by `Clock.elapsed`. */
  #startedAt: number;
  #run: Promise<void> = Promise.resolve();

  constructor(options: ImageCollectionOptions<Image>) {
    this.#options = options;
    this.#startedAt = options.clock.elapsed();
    this.#failures = new FailureRun(options.clock, (ended) => options.logger.info(ended, 'unused images can be removed again'));
  }

  /** Why unused images could not be removed; undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#failures.failing;
  }

  start(): void {
    this.#startedAt = this.#options.clock.elapsed();
    this.#run = this.#lookOnAndOn();
  }

  /** Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  /**
   * Removes what was unused for too long, and what must go for the disk to be less full than the low threshold. Rejects where that is
   * not enough, and where an image could not be removed.
   */
  async collect(signal: AbortSignal): Promise<void> {
    const candidates = await this.#candidates(signal);
    const old = candidates.filter((candidate) => this.#isOld(candidate));
    const [aged] = await Promise.allSettled([this.#free(old, Number.POSITIVE_INFINITY, signal)]);
    signal.throwIfAborted();
    await this.#freeDisk(
      candidates.filter((candidate) => !old.includes(candidate)),
      signal,
    );
    if (aged.status === 'rejected') throw aged.reason;
  }

  async #freeDisk(candidates: readonly Image[], signal: AbortSignal): Promise<void> {
    const { readImagefs, highThresholdPercent = 85, lowThresholdPercent = 80 } = this.#options;
    const imagefs = await readImagefs(signal);
    if (imagefs === undefined) {
      this.#options.logger.info({}, 'the file system of images is not known; unused images stay');
      return;
    }
    const { available, capacity } = imagefs;
    if (capacity <= 0) {
      const message = 'invalid capacity 0 on image filesystem';
      tellNode(this.#options, 'InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const usedPercent = 100 - Math.trunc((Math.min(available, capacity) * 100) / capacity);
    if (usedPercent < highThresholdPercent) return;
    const wanted = Math.trunc((capacity * (100 - lowThresholdPercent)) / 100) - available;
    const freed = await this.#free(candidates, wanted, signal);
    if (freed >= wanted) return;
    const message = `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${capacity} bytes used): unused images were removed (${freed} bytes), which is not enough`;
    tellNode(this.#options, 'FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  /** Removes every image that may go. */
  async collectAll(signal: AbortSignal): Promise<void> {
    try {
      await this.#free(await this.#candidates(signal), Number.POSITIVE_INFINITY, signal);
    } finally {
      await this.#afterLook(signal);
    }
  }

  async #lookOnAndOn(): Promise<void> {
    const { clock, periodMs = 300_000, highThresholdPercent = 85, maxAgeMs = 0 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (highThresholdPercent < 100 || maxAgeMs > 0) await this.#collectOnce(signal);
      await this.#afterLook(signal);
      await sleep(clock, periodMs, signal);
    }
  }

  /** Never rejects. One failure alone is no news of the node: the runtime may have begun just now. */
  async #collectOnce(signal: AbortSignal): Promise<void> {
    try {
      await this.collect(signal);
      this.#failures.succeeded();
    } catch (err) {
      if (signal.aborted) return;
      const { clock, logger } = this.#options;
      const problem = { ...this.#failures.failed(err), ...helped('image-gc') };
      logger.warn({ err, ...problemFields(problem, clock.now()) }, 'unused images could not be removed');
      if (problem.attempt > 1) tellNode(this.#options, 'ImageGCFailed', errorText(err));
    }
  }

  /** What may go, the longest unused first. */
  async #candidates(signal: AbortSignal): Promise<readonly Image[]> {
    const { images, usedByVolumes = () => new Set<string>(), clock, minAgeMs = 120_000 } = this.#options;
    const unused = await images.unusedImages(usedByVolumes(), signal);
    return unused.filter(({ detectedAt }) => clock.elapsed() - detectedAt >= minAgeMs);
  }

  /** An image that was never in use is as old as it is known. */
  #isOld({ detectedAt, lastUsedAt }: Image): boolean {
    const { clock, maxAgeMs = 0 } = this.#options;
    const now = clock.elapsed();
    return maxAgeMs > 0 && now - this.#startedAt > maxAgeMs && now - Math.max(detectedAt, lastUsedAt) > maxAgeMs;
  }

  /** Resolves with the bytes of what was removed. Rejects, after all were tried, where one could not be removed. */
  async #free(candidates: readonly Image[], wanted: number, signal: AbortSignal): Promise<number> {
    const { images, logger } = this.#options;
    let freed = 0;
    const failures: unknown[] = [];
    for (const candidate of candidates) {
      if (freed >= wanted) break;
      const { id, sizeBytes } = candidate.image;
      signal.throwIfAborted();
      try {
        await images.remove(candidate, signal);
        freed += sizeBytes;
        logger.info({ image: id, sizeBytes }, 'an unused image was removed');
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} unused images could not be removed`);
    return freed;
  }

  /** Never rejects. */
  async #afterLook(signal: AbortSignal): Promise<void> {
    const { afterLook, logger } = this.#options;
    if (signal.aborted) return;
    try {
      await afterLook?.(signal);
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'what is kept of images that are gone could not be looked at');
    }
  }
}
