import { isAbsolute, join } from 'node:path';
import { type ManifestObject, type ManifestValue, NumberText } from '../../api/manifest/read-manifest.ts';
import { StatusManagerError } from '../../base/errors.ts';

/** One kubeconfig that is read: its path for messages, and the folder that its relative paths start from. */
export interface KubeconfigPlace {
  readonly path: string;
  readonly folder: string;
}

/** Says that a kubeconfig cannot be used, and why. */
export function unusable(path: string, why: string, options?: ErrorOptions): StatusManagerError {
  return new StatusManagerError('ERR_KUBECONFIG', `The kubeconfig ${JSON.stringify(path)} cannot be used: ${why}`, options);
}

/** How a message calls a name of the kubeconfig. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}

/** What a value is, and nothing of what it says: a token may stand anywhere. */
function kindOf(value: ManifestValue | undefined): string {
  if (value === null || value === undefined) return 'nothing';
  if (value instanceof Map) return 'an object';
  if (value instanceof NumberText) return 'a number';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

export function wrongKind(path: string, where: string, rule: string, value: ManifestValue | undefined): StatusManagerError {
  return unusable(path, `expected \`${where}\` to be ${rule}, got ${kindOf(value)}`);
}

/** The members of one object of a kubeconfig. Null and the empty text count as absent, as they do in client-go. */
export class KubeconfigFields {
  readonly place: KubeconfigPlace;
  readonly #where: string;
  readonly #members: ManifestObject;

  constructor(place: KubeconfigPlace, where: string, members: ManifestObject) {
    this.place = place;
    this.#where = where;
    this.#members = members;
  }

  refuse(name: string, rule: string): StatusManagerError {
    return wrongKind(this.place.path, `${this.#where}.${name}`, rule, this.#members.get(name));
  }

  has(name: string): boolean {
    const value = this.#members.get(name);
    return value !== undefined && value !== null && value !== '';
  }

  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#members.get(name);
    if (typeof value === 'string') return value;
    throw this.refuse(name, typeof value === 'object' && !(value instanceof NumberText) ? 'text' : 'text (put it in quotes)');
  }

  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw this.refuse(name, 'there');
    return text;
  }

  /** Whether the member is true. */
  flag(name: string): boolean {
    const value = this.#members.get(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw this.refuse(name, 'true or false');
  }

  /** The path of a file. A relative one starts from the folder of the kubeconfig. */
  file(name: string): string | undefined {
    const path = this.text(name);
    return path === undefined || isAbsolute(path) ? path : join(this.place.folder, path);
  }

  base64(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined || /^[A-Za-z0-9+/\s]*={0,2}$/.test(text.trimEnd())) return text;
    throw this.refuse(name, 'base64');
  }

  /** An object as plain values; undefined where there is none. */
  object(name: string): Record<string, unknown> | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#members.get(name);
    if (value instanceof Map) return plain(value) as Record<string, unknown>;
    throw this.refuse(name, 'an object');
  }
}

/** A member called `__proto__` becomes a member like any other. */
function plain(value: ManifestValue): unknown {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([name, inner]) => [name, plain(inner)]));
  if (value instanceof NumberText) return Number(value.text);
  return Array.isArray(value) ? value.map(plain) : value;
}
