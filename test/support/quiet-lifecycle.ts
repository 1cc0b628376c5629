import type { SteadyClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logging/logger.ts';
import { noMetrics } from '../../src/base/metrics/metrics.ts';
import { PodLifecycle } from '../../src/kubelet/pleg/pod-lifecycle.ts';
import type { ContainerRuntime } from '../../src/kubelet/runtime/container-runtime.ts';

/** A lifecycle that tells nobody of anything. */
export function quietLifecycle(runtime: ContainerRuntime, clock: SteadyClock): PodLifecycle {
  return new PodLifecycle({
    runtime,
    podChanged: () => {},
    terminationMessageOf: async () => '',
    clock,
    logger: silentLogger,
    metrics: noMetrics,
  });
}
