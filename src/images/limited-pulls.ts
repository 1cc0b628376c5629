// Behaviour of pkg/kubelet/images/helpers.go throttledImageService, v1.36.3.
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { SteadyClock } from '../seams/clock.ts';

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
  let left = burst;
  let countedAt = clock.elapsed();
  const mayBegin = (): boolean => {
    const now = clock.elapsed();
    left = Math.min(burst, left + ((now - countedAt) / 1000) * perSecond);
    countedAt = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
  return {
    imageStatus: (image, call) => runtime.imageStatus(image, call),
    pullImage: async (image, call) => {
      if (perSecond > 0 && !mayBegin()) throw new Error('pull QPS exceeded');
      return runtime.pullImage(image, call);
    },
  };
}
