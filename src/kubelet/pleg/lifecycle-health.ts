import { durationText } from '../../node/workers/restart-backoff.ts';

/** Whether the runtime is still looked at. */
export interface LifecycleHealth {
  /** True: it is. */
  readonly ok: boolean;
  /** Why not; empty with `ok`. */
  readonly message: string;
}

/** In the words of the kubelet. `ageMs`: how old the last list is; undefined before the first one. */
export function lifecycleHealth(ageMs: number | undefined, thresholdMs: number): LifecycleHealth {
  if (ageMs === undefined) return { ok: false, message: 'pleg has yet to be successful' };
  if (ageMs <= thresholdMs) return { ok: true, message: '' };
  const message = `pleg was last seen active ${durationText(ageMs)} ago; threshold is ${durationText(thresholdMs)}`;
  return { ok: false, message };
}
