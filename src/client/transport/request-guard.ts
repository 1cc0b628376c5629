import { invalidOption } from '../../base/errors.ts';
import { catchRejection, ignoreFailure } from '../../base/guard.ts';

/** Says at the moment of sending whether a request may still be sent: it throws where not. */
export type RequestGuard = () => void;

/**
 * Asks a guard. Throws what the guard throws; ERR_INVALID_OPTION for one that answers later, whose answer would come after the
 * request; an error in place of nothing, so that a refusal is never taken for a yes.
 */
export function askGuard(guard: RequestGuard | undefined): void {
  if (guard === undefined) return;
  let answer: unknown;
  try {
    answer = guard();
  } catch (error) {
    throw error ?? new Error('The guard of the request threw nothing');
  }
  if (catchRejection(answer, ignoreFailure)) throw invalidOption('guard', 'a function that answers at once', answer);
}
