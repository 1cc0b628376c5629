import { maxMessageLength } from './api-error.ts';

/**
 * What is kept of an error of the network or of a library: its name, its message and its code, in a new error. The error itself
 * may hold bytes of the answer, as undici's and Node.js's parser errors do, and with them a secret. It has no cause either.
 */
export function networkCause(error: unknown): Error & { readonly code?: string } {
  if (!(error instanceof Error)) return new Error('not an error');
  const { name } = error;
  const kept = new Error(messageOf(error).slice(0, maxMessageLength));
  if (name !== 'Error') kept.name = name;
  return 'code' in error && typeof error.code === 'string' ? Object.assign(kept, { code: error.code }) : kept;
}

/** Node.js leaves the message of several failed addresses empty: each address has an error of its own. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors.map((one) => (one instanceof Error ? one.message : 'not an error')).join(', ');
}
