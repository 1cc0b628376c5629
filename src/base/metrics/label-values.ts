// Labels and buckets that several metrics have.

/** Why a request failed, in the words of the type `ErrorClass`. */
const errorClasses = [
  'gone',
  'conflict',
  'invalid',
  'unauthorized',
  'forbidden',
  'throttled',
  'unavailable',
  'timeout',
  'broken-answer',
  'aborted',
] as const;

export const errorClassLabel = { help: 'what the failure means; ARCHITECTURE.md has a table', values: errorClasses } as const;

export const resultLabel = {
  help: '`ok`, or what the failure means; ARCHITECTURE.md has a table of that',
  values: ['ok', ...errorClasses],
} as const;

export const staticLabel = { help: '`true` for static pods, empty for pods of the apiserver', values: ['', 'true'] } as const;

/** The buckets that Prometheus clients have by default. */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** As client-go's buckets for requests, in seconds. */
export const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
