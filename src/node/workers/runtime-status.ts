import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure, isThenable } from '../../base/guard.ts';
import type { RuntimeStatusCache } from './pod-syncer.ts';

/** What the cache knows now; undefined for what it does not know, and for anything that is no status. */
export function knownRuntimeStatus(cache: RuntimeStatusCache, podUID: string): RuntimePodStatus | undefined {
  const status: unknown = callGuarded(() => cache.get(podUID), ignoreFailure);
  return isRuntimePodStatus(status) ? status : undefined;
}

/**
 * What the cache knows that is newer than `time`. Rejects as the cache does, with an error for anything that is no status, and
 * once `signal` aborts, with its reason, whatever the cache does.
 */
export async function newerRuntimeStatus(
  cache: RuntimeStatusCache,
  podUID: string,
  time: number,
  signal: AbortSignal,
): Promise<RuntimePodStatus> {
  const answer: unknown = cache.getNewerThan(podUID, time, signal);
  const status: unknown = isThenable(answer) ? await untilAborted(answer, signal) : answer;
  if (isRuntimePodStatus(status)) return status;
  throw new StatusManagerError('ERR_INVALID_ARGUMENT', 'the runtime status cache answered with no status');
}

function isRuntimePodStatus(value: unknown): value is RuntimePodStatus {
  if (typeof value !== 'object' || value === null) return false;
  const { containers, sandboxes } = value as Partial<RuntimePodStatus>;
  return Array.isArray(containers) && Array.isArray(sandboxes);
}
