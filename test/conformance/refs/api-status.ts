import { errorFromStatus } from '../../../src/client/transport/api-answer.ts';
import type { ApiError } from '../../../src/client/transport/api-error.ts';

/** The Status that the recorded server answered a code with: upstream's fake took every object for a pod. */
export function statusOf(code: number, name: string): object {
  const status = (reason: string, message: string, seconds?: number) => ({
    kind: 'Status',
    status: 'Failure',
    code,
    reason,
    message,
    ...(seconds !== undefined && { details: { retryAfterSeconds: seconds } }),
  });
  if (code === 403) return status('Forbidden', `pods "${name}" is forbidden: no`);
  if (code === 404) return status('NotFound', `pods "${name}" not found`);
  if (code === 410) return status('Expired', 'too old');
  if (code === 429) return status('TooManyRequests', 'slow down', 1);
  if (code === 504) return status('Timeout', 'Timeout: too slow', 1);
  return status('InternalError', 'Internal error occurred: injected');
}

/** What a transport rejects with for that answer. */
export function errorOf(code: number, name: string, path: string): ApiError {
  return errorFromStatus(statusOf(code, name), { status: code, label: `GET ${path}` });
}
