import jsonpatch, { type Operation as AnyOperation } from 'fast-json-patch';
import { invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { isJsonObject, member, wireEqual } from '../json/json.ts';
import { containerStatusLists } from '../json/status-members.ts';
import type { Json, JsonObject } from '../json/types.ts';
import { isAbsentInStatus } from './patch-schemas.ts';

/** The operations this library sends, a part of RFC 6902. */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

export interface PatchGuards {
  readonly uid: string;
  readonly resourceVersion?: string | undefined;
}

/** Lists with more than one writer, and the key that tells whose an element is. The other lists are the node's alone. */
const sharedLists: ReadonlyMap<string, string> = new Map([
  ['conditions', 'type'],
  ['resourceClaimStatuses', 'name'],
]);
const containerLists: ReadonlySet<string> = new Set(containerStatusLists);

/**
 * The JSON Patch that makes the pod's status `next` where it was `old`; `[]` when nothing differs. It tests the uid, the
 * resourceVersion when one is given, and the key of each list element it points at: against another pod, or a list in
 * which the element has moved, it fails and changes nothing. New conditions go to the end of the list, and the order of
 * conditions alone is no difference. An `old` without members stands for a pod that has no status.
 */
export function createGuardedJsonPatch(
  old: JsonObject | undefined,
  next: JsonObject,
  { uid, resourceVersion }: PatchGuards,
): Operation[] {
  const changes = diffStatus(old ?? {}, next);
  if (changes.length === 0) return [];
  const guards: Operation[] = [{ op: 'test', path: '/metadata/uid', value: uid }];
  if (resourceVersion !== undefined) guards.push({ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion });
  return [...guards, ...changes];
}

function diffStatus(old: JsonObject, next: JsonObject): Operation[] {
  if (old === next || wireEqual(old, next, isAbsentInStatus)) return [];
  if (Object.keys(old).length === 0) return [{ op: 'add', path: '/status', value: next }];
  return diffObjects('/status', old, next, diffStatusList);
}

/** The operations for one member where they are not those of any member. */
type DiffLists = (path: string, key: string, old: Json, next: Json) => Operation[] | undefined;

/** A list without a key of its own is replaced whole: what stands at one of its indices can not be told from another. */
const replaceLists: DiffLists = () => undefined;

function diffObjects(path: string, old: JsonObject, next: JsonObject, diffLists: DiffLists): Operation[] {
  const out: Operation[] = [];
  for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const [before, value] = [member(old, key) ?? null, member(next, key) ?? null];
    if (before === value || wireEqual(before, value, isAbsentInStatus)) continue;
    const at = `${path}/${jsonpatch.escapePathComponent(key)}`;
    const inner = diffLists(at, key, before, value);
    if (inner !== undefined) for (const operation of inner) out.push(operation);
    else if (isAbsentInStatus(key, value) && isAbsentInStatus(key, before)) continue;
    else if (value === null) out.push(removal(at));
    // the server stores no empty map: there is nothing to add a member to
    else if (isJsonObject(before) && isJsonObject(value) && !isAbsentInStatus(key, before))
      for (const operation of diffObjects(at, before, value, replaceLists)) out.push(operation);
    else out.push({ op: isAbsentInStatus(key, before) ? 'add' : 'replace', path: at, value });
  }
  return out;
}

/** A shared list with elements never goes as a whole, not even when it ends up empty: the elements of others stay. */
const diffStatusList: DiffLists = (path, key, old, next) => {
  // the server stores no empty list: there is nothing to add an element to
  if (!Array.isArray(old) || old.length === 0) return undefined;
  const mergeKey = sharedLists.get(key);
  if (mergeKey !== undefined) return diffSharedList(path, old, Array.isArray(next) ? next : [], mergeKey);
  if (!Array.isArray(next) || !containerLists.has(key) || !sameNames(old, next)) return undefined;
  return old.flatMap((item, index) => diffElement(`${path}/${index}`, 'name', item, next[index] ?? null));
};

const removal = (path: string): Operation => ({ op: 'remove', path });

/** Elements are matched by key, the n-th of a key with the n-th. Removals go from the end, so that no index moves before its turn. */
function diffSharedList(path: string, old: readonly Json[], next: readonly Json[], mergeKey: string): Operation[] {
  const unmatched = new Set(next);
  const wanted = Map.groupBy(next.toReversed(), (item) => keyOf(item, mergeKey));
  const changed: Operation[] = [];
  const removed: [test: Operation, removal: Operation][] = [];
  old.forEach((item, index) => {
    const at = `${path}/${index}`;
    const key = keyOf(item, mergeKey);
    const match = wanted.get(key)?.pop();
    if (match === undefined) {
      removed.push([{ op: 'test', path: `${at}/${mergeKey}`, value: key }, removal(at)]);
      return;
    }
    unmatched.delete(match);
    for (const operation of diffElement(at, mergeKey, item, match)) changed.push(operation);
  });
  return [
    ...changed,
    ...removed.reverse().flat(),
    ...[...unmatched].map((value): Operation => ({ op: 'add', path: `${path}/-`, value })),
  ];
}

function sameNames(old: readonly Json[], next: readonly Json[]): boolean {
  return old.length === next.length && old.every((item, index) => keyOf(item, 'name') === keyOf(next[index] ?? null, 'name'));
}

function diffElement(path: string, mergeKey: string, old: Json, next: Json): Operation[] {
  if (!isJsonObject(old) || !isJsonObject(next)) return [];
  const changes = diffObjects(path, old, next, replaceLists);
  if (changes.length === 0) return [];
  return [{ op: 'test', path: `${path}/${mergeKey}`, value: keyOf(old, mergeKey) }, ...changes];
}

function keyOf(item: Json, mergeKey: string): Json {
  const key = isJsonObject(item) ? member(item, mergeKey) : undefined;
  if (key === undefined) throw invalidArgument('status', `one whose list elements each carry the key ${mergeKey}`, item);
  return key;
}

/** `pod` with the patch applied; neither is changed. Throws ERR_INVALID_ARGUMENT when a `test` fails or a path is missing. */
export function applyJsonPatch(pod: JsonObject, operations: readonly unknown[]): JsonObject {
  const copies = structuredClone(operations) as AnyOperation[];
  let result: unknown;
  try {
    result = jsonpatch.applyPatch(pod, copies, true, false).newDocument;
  } catch (error) {
    throw refusedPatch(copies, error);
  }
  if (!isJsonObject(result)) throw invalidArgument('patch', 'one that leaves an object', result);
  return result;
}

/** The library's own message holds the whole document, and its index is not to be trusted: this names operation and rule only. */
function refusedPatch(operations: readonly unknown[], error: unknown): StatusManagerError {
  const { name, operation } =
    error instanceof jsonpatch.JsonPatchError ? error : { name: 'an operation of no kind', operation: undefined };
  const shown = isJsonObject(operation) ? ` (${String(operation.op)} ${String(operation.path)})` : '';
  const message = `Expected a JSON Patch that applies, got ${name} at operation ${operations.indexOf(operation)}${shown}`;
  return new StatusManagerError('ERR_INVALID_ARGUMENT', message);
}

/** JSON pointers of what differs between two wire objects, by position in lists; for logs. */
export function changedPaths(old: JsonObject, next: JsonObject): string[] {
  return jsonpatch.compare(old, next).map((operation) => operation.path);
}

/** A value that differs between two JSON objects. */
export interface PathChange {
  /** A JSON pointer to the value; lists are compared by position. */
  readonly path: string;
  /** What the element of the outermost list on the path is called: a condition's type, a container's name. */
  readonly element: string | undefined;
  /** Undefined for a value that was not there. */
  readonly before: unknown;
  /** Undefined for a value that is gone. */
  readonly after: unknown;
}

/** What differs between two wire objects. Parts that they share by reference are not looked into. The values are copies. */
export function changesBetween(old: JsonObject, next: JsonObject): PathChange[] {
  const changes: PathChange[] = [];
  let before: unknown;
  // the library puts a `test` of the old value in front of each `replace` and `remove`
  for (const operation of jsonpatch.compare(old, next, true)) {
    const { op, path } = operation;
    if (op === 'test') {
      before = operation.value;
      continue;
    }
    const after = op === 'add' || op === 'replace' ? (operation.value as unknown) : undefined;
    changes.push({ path, element: elementName(old, next, path), before, after });
    before = undefined;
  }
  return changes.reverse();
}

function elementName(old: JsonObject, next: JsonObject, path: string): string | undefined {
  const [, key = '', index] = path.split('/');
  if (index === undefined) return undefined;
  const element = elementAt(member(next, key), index) ?? elementAt(member(old, key), index);
  return [element?.type, element?.name].find((name) => typeof name === 'string');
}

function elementAt(list: Json | undefined, index: string): JsonObject | undefined {
  const element = Array.isArray(list) ? list[Number(index)] : undefined;
  return isJsonObject(element) ? element : undefined;
}
