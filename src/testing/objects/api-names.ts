import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../api/json/types.ts';
import { badRequest } from './api-status.ts';
import { objectAt, textAt } from './selectors.ts';

// The server's rules for names, in the server's words.

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const partRule = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualifiedPart.source.slice(1, -1)}')`;

export const subdomainRule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain.source.slice(1, -1)}')`;

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelRule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label.source.slice(1, -1)}')`;

/** The rule that a name without dots breaks; undefined when it breaks none. */
export function labelNameProblem(name: string): string | undefined {
  if (name.includes('.')) return 'must not contain dots';
  if (name.length > 63) return 'must be no more than 63 characters';
  return label.test(name) ? undefined : labelRule;
}

/** The rule that a name with dots breaks; undefined when it breaks none. */
export function subdomainProblem(name: string): string | undefined {
  if (name.length > 253) return 'must be no more than 253 characters';
  return isSubdomain(name) ? undefined : subdomainRule;
}

/** The rule that a name which may hold anything else breaks; undefined when it breaks none. */
export function pathSegmentProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `may not be '${name}'`;
  const found = ['/', '%'].find((character) => name.includes(character));
  return found === undefined ? undefined : `may not contain '${found}'`;
}

export function isSubdomain(name: string): boolean {
  return name.length <= 253 && subdomain.test(name);
}

/** The rules that a name like `Ready` or `example.com/Ready` breaks; empty when it breaks none. */
export function qualifiedNameProblems(name: string): string[] {
  const parts = name.split('/');
  if (parts.length > 2)
    return [`a qualified name ${partRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const [prefix, part = ''] = parts.length === 2 ? parts : [undefined, name];
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined && !isSubdomain(prefix)) problems.push(`prefix part ${subdomainRule}`);
  if (part === '') problems.push('name part must be non-empty');
  else if (part.length > 63) problems.push('name part must be no more than 63 characters');
  if (!qualifiedPart.test(part)) problems.push(`name part ${partRule}`);
  return problems;
}

/** The key of an object in a store: `namespace/name`, or the name alone for an object of the cluster. */
export function storedKeyOf(object: JsonObject): string {
  const metadata = objectAt(object, 'metadata');
  return keyFor(textAt(metadata, 'namespace'), textAt(metadata, 'name'));
}

export function keyFor(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The longest name that is made from `generateName`, without its random end. */
const longestPrefix = 58;

/** The name, or one made from `generateName`; empty without either. */
export function givenOrGeneratedName(metadata: JsonObject): string {
  const name = textAt(metadata, 'name');
  if (name !== '') return name;
  const prefix = textAt(metadata, 'generateName');
  return prefix === '' ? '' : `${prefix.slice(0, longestPrefix)}${randomUUID().slice(0, 5)}`;
}

/** Throws 400 for an empty name. */
export function requireName(name: string): string {
  if (name === '') throw badRequest('name or generateName is required');
  return name;
}

/** The object with this namespace (empty: none) and name, and with a new uid when it has none. */
export function withIdentity(object: JsonObject, namespace: string, name: string): JsonObject {
  const metadata = objectAt(object, 'metadata');
  const uid = textAt(metadata, 'uid') || randomUUID();
  return { ...object, metadata: { ...metadata, ...(namespace === '' ? {} : { namespace }), name, uid } };
}
