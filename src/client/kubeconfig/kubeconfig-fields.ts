import { isAbsolute, join } from 'node:path';
import { type ManifestObject, type ManifestValue, NumberText } from '../../api/manifest/read-manifest.ts';
import { StatusManagerError } from '../../base/errors.ts';

/** One kubeconfig that is read: its path for messages, and the folder that its relative paths start from. */
export interface KubeconfigPlace {
  readonly path: string;
  readonly folder: string;
}

const longestShownPath = 300;

/** Whether this may be what a file holds, given in place of its path: no system takes a longer name of a file. */
function looksLikeNoPath(text: string): boolean {
  return text.length > longestShownPath || /[\n\r]|^\s*\{|[^/\\]{256}/.test(text);
}

/** How a message calls a path. What may be the contents of a kubeconfig, a key or a token is not quoted. */
export function shownPath(path: string): string {
  return looksLikeNoPath(path) ? `(a text of ${path.length} characters that looks like no path)` : JSON.stringify(path);
}

/** Says that a kubeconfig, of one file or of several, cannot be used, and why. */
export function unusable(path: string | readonly string[], why: string): StatusManagerError {
  const shown = [path].flat().map(shownPath).join(', ');
  return new StatusManagerError('ERR_KUBECONFIG', `The kubeconfig ${shown} cannot be used: ${why}`);
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

  /** Whether the member has something in it: an empty list or object is as good as none. */
  hasMembers(name: string): boolean {
    const value = this.#members.get(name);
    return this.has(name) && !(Array.isArray(value) && value.length === 0) && !(value instanceof Map && value.size === 0);
  }

  /** Whether the member is true. No other word will do: yes means true for kubectl, and nothing for client-node. */
  flag(name: string): boolean {
    const value = this.#members.get(name) ?? false;
    if (typeof value === 'boolean') return value;
    throw this.refuse(name, 'the word true or false, without quotes');
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

  /** What stands in the kubeconfig itself, or the path of its file. Both together are refused, as by kubectl: one of them may be older. */
  dataOrFile(name: string): { readonly data: string | undefined; readonly file: string | undefined } {
    const [data, file] = [this.base64(`${name}-data`), this.file(name)];
    if (data !== undefined && file !== undefined) throw this.refuse(name, `absent beside \`${name}-data\``);
    return { data, file };
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
