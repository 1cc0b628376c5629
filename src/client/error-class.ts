/** What a failure means to the manager; design decision 7 says what follows from each. */
export type ErrorClass =
  | 'gone'
  | 'conflict'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'broken-answer'
  | 'aborted';

const classOfStatus: Readonly<Record<number, ErrorClass>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'gone',
  408: 'timeout',
  409: 'conflict',
  410: 'gone',
  413: 'invalid',
  415: 'invalid',
  422: 'invalid',
  429: 'throttled',
};

/** The class of anything a {@link PodClient} rejected with. An error that is not an `ApiError` counts as `unavailable`. */
export function classifyApiError(error: unknown): ErrorClass {
  if (typeof error !== 'object' || error === null) return 'unavailable';
  const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined;
  if (status !== undefined && status >= 400) return classOfStatus[status] ?? 'unavailable';
  const reason = 'reason' in error ? error.reason : undefined;
  if (reason === 'Timeout') return 'timeout';
  if (reason === 'Aborted') return 'aborted';
  if (reason === 'BrokenAnswer') return 'broken-answer';
  if (reason === 'NoCredentials') return 'unauthorized';
  return 'unavailable';
}
