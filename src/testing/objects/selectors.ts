import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { badRequest } from './api-status.ts';

/** Which objects a list or a watch means. A member that is left out selects all. */
export interface Selection {
  /** Undefined or empty: every namespace. */
  readonly namespace?: string | undefined;
  /** Comma-separated `field=value`, `field==value`, `field!=value`. */
  readonly fieldSelector?: string | undefined;
  /** Comma-separated `label=value`, `label!=value`, `label`, `!label`, `label in (a,b)`, `label notin (a,b)`. */
  readonly labelSelector?: string | undefined;
}

export type ObjectFilter = (object: JsonObject) => boolean;

/** Which fields a selector may name, and what an object has there. */
export interface SelectableFields {
  readonly read: Readonly<Record<string, (object: JsonObject) => string>>;
  /** The server's message about another field. */
  readonly refusal: (field: string) => string;
}

const readName = (object: JsonObject): string => textAt(objectAt(object, 'metadata'), 'name');
const readNamespace = (object: JsonObject): string => textAt(objectAt(object, 'metadata'), 'namespace');
const common = { 'metadata.name': readName, 'metadata.namespace': readNamespace };

/** The fields of a resource for which the server has no list of its own. */
export const commonFields: SelectableFields = {
  read: common,
  refusal: (field) => `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

const unsupported = (field: string): string => `field label not supported: ${field}`;

/** The fields of a resource of a namespace that has further ones. */
export function fieldsBeside(read: SelectableFields['read']): SelectableFields {
  return { read: { ...common, ...read }, refusal: unsupported };
}

/** The fields of a resource of the cluster that has further ones. */
export function clusterFieldsBeside(read: SelectableFields['read']): SelectableFields {
  return { read: { 'metadata.name': readName, ...read }, refusal: unsupported };
}

function fieldFilter(term: string, { read: fields, refusal }: SelectableFields): ObjectFilter {
  const match = /^([^=!]+)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = '', operator, value] = match;
  const read = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (read === undefined) throw badRequest(refusal(field));
  return (object) => (read(object) === value) === (operator !== '!=');
}

function labelOf(object: JsonObject, key: string): Json | undefined {
  const labels = objectAt(objectAt(object, 'metadata'), 'labels');
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The values between the parentheses of a set. */
function setValues(list: string): readonly string[] {
  return list.split(',').map((part) => {
    const [value = '', next] = part.trim().split(/\s+/);
    if (next !== undefined) throw badRequest(`unable to parse requirement: found '${next}', expected: ',' or ')'`);
    return value;
  });
}

/** An object without the label matches `notin` and `!=`, and never `in` or `=`. */
function labelFilter(term: string): ObjectFilter {
  const set = /^([^=!\s]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = setValues(list);
    return (object) => {
      const value = labelOf(object, key);
      return (typeof value === 'string' && values.includes(value)) === (operator === 'in');
    };
  }
  const equality = /^([^=!\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator, value] = equality;
    return (object) => (labelOf(object, key) === value) === (operator !== '!=');
  }
  const existence = /^(!?)([^=!\s<>]+)$/.exec(term);
  if (existence === null) throw badRequest(`unable to parse requirement: ${term}`);
  const [, not, key = ''] = existence;
  return (object) => (labelOf(object, key) !== undefined) === (not === '');
}

/** Splits at commas outside parentheses. */
const terms = (selector: string): string[] =>
  selector
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');

/** One filter for the whole selection. Throws 400 for a selector that the API does not know. */
export function objectFilter(
  { namespace, fieldSelector = '', labelSelector = '' }: Selection,
  fields: SelectableFields,
): ObjectFilter {
  const filters = [...terms(fieldSelector).map((term) => fieldFilter(term, fields)), ...terms(labelSelector).map(labelFilter)];
  if (namespace !== undefined && namespace !== '') filters.push((object) => readNamespace(object) === namespace);
  return (object) => filters.every((matches) => matches(object));
}

/** The object at `key`, or an empty one. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' ? value : undefined;
}

/** The objects in the list at `key`, without its other items. */
export function objectsAt(object: JsonObject, key: string): JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsAt(object: JsonObject, key: string): string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A deep copy as JSON: `undefined` members are gone and every `Date` is a string. */
export function jsonCopyOf(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** A copy of the object without the named members. */
export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}

/** A value of a member has the wrong type. How the server answers depends on the request it came with. */
export class ShapeError extends TypeError {
  override readonly name = 'ShapeError';
}

/** The name that Go's decoder has for a JSON value. */
export function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
