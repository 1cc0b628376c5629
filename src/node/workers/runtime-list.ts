import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { callWithin, type WaitLimits } from '../../base/concurrency/aborts.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { LoopRuntime } from './sync-loop-options.ts';

/** What the runtime lists. Rejects where it does, when it takes too long, and for an answer that is no list of pods. */
export async function listRunningPods(runtime: LoopRuntime, limits: WaitLimits): Promise<readonly RunningPod[]> {
  const message = `getPods() gave no answer within ${limits.timeoutMs} ms`;
  const late = (): ApiError => new ApiError({ reason: 'Timeout', message });
  const answer: unknown = await callWithin((signal) => runtime.getPods(signal), { ...limits, late });
  if (!Array.isArray(answer)) throw new TypeError('getPods() of the runtime must answer with a list');
  // one entry that cannot be read hides no other
  return answer.filter(isRunningPod);
}

function isRunningPod(value: unknown): value is RunningPod {
  if (typeof value !== 'object' || value === null) return false;
  const { uid, name, namespace } = value as Partial<Record<keyof RunningPod, unknown>>;
  return [uid, name, namespace].every((text) => typeof text === 'string' && text !== '');
}
