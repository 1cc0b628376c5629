// Behaviour of pkg/kubelet/images/helpers.go throttledImageService, v1.36.3.

import type { SteadyClock } from '../../base/clock.ts';
import { TokenBucket } from '../../base/concurrency/rate-limiter.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';

type Images = Pick<ContainerRuntime, 'imageStatus' | 'pullImage'>;

export interface PullRate {
  /** So many pulls may begin in a second; 0: no limit. */
  readonly perSecond: number;
  /** So many pulls may begin at once. */
  readonly burst: number;
  readonly clock: SteadyClock;
}

/** The images of a runtime, whose pulls fail at once where more begin than may. The back-off of the image then waits. */
export function limitedPulls(runtime: Images, { perSecond, burst, clock }: PullRate): Images {
  const bucket = new TokenBucket({ burst, tokens: perSecond, perMs: 1000 }, clock);
  return {
    imageStatus: (image, call) => runtime.imageStatus(image, call),
    pullImage: async (image, call) => {
      if (perSecond > 0 && !bucket.tryTake()) throw new Error('pull QPS exceeded');
      return runtime.pullImage(image, call);
    },
  };
}
