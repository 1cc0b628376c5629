import { callGuarded, ignoreFailure } from './guard.ts';

/** What an error says. Never throws, whatever was thrown. */
export function errorText(error: unknown): string {
  const text: unknown = callGuarded(() => (error instanceof Error ? error.message : String(error)), ignoreFailure);
  return typeof text === 'string' ? text : 'unknown error';
}
