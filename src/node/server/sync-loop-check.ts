import type { SteadyClock } from '../../base/clock.ts';
import type { SyncLoop } from '../workers/sync-loop.ts';
import type { HealthCheck } from './api-host.ts';

/** A sync loop that has ended no iteration for so long is not healthy; it looks at all pods every two seconds. */
const longestSilenceMs = 30_000;

/** The check `syncloop` of `/healthz`. The time begins to run with this call. */
export function syncLoopCheck(loop: Pick<SyncLoop, 'lastIterationAt'>, clock: SteadyClock): HealthCheck {
  const startedAt = clock.elapsed();
  return {
    name: 'syncloop',
    check: () => {
      const last = loop.lastIterationAt();
      const silentMs = last === undefined ? clock.elapsed() - startedAt : clock.now() - last;
      if (silentMs > longestSilenceMs) throw new Error(`sync Loop took longer than expected: ${silentMs} ms`);
    },
  };
}
