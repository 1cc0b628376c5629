import { limitedCall } from '../client/limited-call.ts';
import type { RunningPod } from '../pod/runtime-pod.ts';
import type { Clock } from '../seams/clock.ts';
import type { LoopRuntime } from './sync-loop-options.ts';

export interface ListLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What the runtime lists. Rejects where it does, when it takes too long, and for an answer that is no list of pods. */
export async function listRunningPods(runtime: LoopRuntime, limits: ListLimits): Promise<readonly RunningPod[]> {
  const controller = new AbortController();
  const signal = AbortSignal.any([limits.signal, controller.signal]);
  try {
    const answer: unknown = await limitedCall('getPods()', () => runtime.getPods(signal), limits).answer;
    if (!Array.isArray(answer)) throw new TypeError('getPods() of the runtime must answer with a list');
    // one entry that cannot be read hides no other
    return answer.filter(isRunningPod);
  } finally {
    controller.abort();
  }
}

function isRunningPod(value: unknown): value is RunningPod {
  if (typeof value !== 'object' || value === null) return false;
  const { uid, name, namespace } = value as Partial<Record<keyof RunningPod, unknown>>;
  return [uid, name, namespace].every((text) => typeof text === 'string' && text !== '');
}
