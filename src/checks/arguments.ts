// Checks of arguments. Each throws ERR_INVALID_ARGUMENT, which names the argument, the rule, the value and its type.
import { invalidArgument } from '../errors.ts';

export function requireText(path: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') throw invalidArgument(path, 'a non-empty string', value);
}

/** Checks a name that goes into the path of a request, as the apiserver does: any other name could name another resource. */
export function requirePathSegment(path: string, value: unknown): asserts value is string {
  requireText(path, value);
  if (value === '.' || value === '..' || /[/%]/.test(value) || !value.isWellFormed()) {
    throw invalidArgument(path, 'well-formed text without "/" and "%", neither "." nor ".."', value);
  }
}
