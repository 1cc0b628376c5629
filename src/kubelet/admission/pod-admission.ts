import type { Admission } from '../../node/workers/sync-loop-options.ts';
import type { AdmissionCheck, AdmissionContext } from './check.ts';

/** Asks the checks in their order; the first that refuses the pod says why. */
export function admitPod(checks: readonly AdmissionCheck[], context: AdmissionContext): Admission {
  for (const check of checks) {
    const refusal = check(context);
    if (refusal !== undefined) return { admit: false, ...refusal };
  }
  return { admit: true };
}
