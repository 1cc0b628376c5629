import { canonicalTime } from '../../api/json/time.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalText, isObject, requireDepth, type Source } from './source.ts';

/**
 * A copy of a member that Kubernetes 1.36 does not know. Nothing is known of its meaning, so empty text, empty lists,
 * zeros, times and quantities in it stay as they are. Members that are null or undefined are left out, and a `Date`
 * becomes text. Throws ERR_INVALID_ARGUMENT for what is no JSON value.
 */
export function unknownMember(value: unknown, path: string, depth = 0): Json | undefined {
  if (value === undefined || value === null) return undefined;
  requireDepth(value, path, depth);
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (Array.isArray(value)) return value.map((item, index) => unknownMember(item, `${path}[${index}]`, depth + 1) ?? null);
  if (isObject(value)) return unknownObject(value, path, depth);
  if (value instanceof Date) return canonicalTime(value, path);
  throw invalidArgument(path, 'a JSON value', value);
}

function unknownObject(source: Source, path: string, depth: number): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = unknownMember(source[key], `${path}.${key}`, depth + 1);
    if (member !== undefined) result[key] = member;
  }
  return result;
}
