// Behaviour of k8s.io/apimachinery/pkg/util/strategicpatch StrategicMergePatch, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import { isJsonObject, member } from '../json/json.ts';
import type { Json, JsonObject } from '../json/types.ts';
import { fieldOf, type PatchField, type PatchSchema, podSchema, schemaOfMember } from './patch-schemas.ts';
import {
  asList,
  checkElementOrder,
  directiveOf,
  inElementOrder,
  isListOfObjects,
  keyBy,
  withoutDirective,
} from './strategic-merge-diff.ts';

export { createStrategicMergePatch } from './strategic-merge-diff.ts';

const orderPrefix = '$setElementOrder';
const deletePrefix = '$deleteFromPrimitiveList';
const retainKeys = '$retainKeys';

/** What the apiserver's strategic merge makes of a pod. The inputs stay as they are; the result shares with `pod` what the patch does not touch. */
export function applyPodPatch(pod: JsonObject, patch: JsonObject): JsonObject {
  return applyStrategicMergePatch(pod, patch, podSchema);
}

/** `target` with the patch applied. Throws ERR_INVALID_ARGUMENT for a malformed patch; never changes its inputs. */
export function applyStrategicMergePatch(target: JsonObject, patch: JsonObject, schema: PatchSchema): JsonObject {
  const directive = directiveOf(patch);
  if (directive === 'replace') return plainObject(withoutDirective(patch));
  if (directive === 'delete') return {};
  if (directive !== undefined) throw invalidArgument('$patch', "'replace' or 'delete'", directive);

  const out = retained(target, patch);
  const ordered = applyElementOrders(out, patch, schema);
  for (const [key, value] of Object.entries(patch)) {
    if (ordered.has(key) || key === retainKeys || isPrefixed(key, orderPrefix)) continue;
    if (isPrefixed(key, deletePrefix)) deleteFromList(out, key, value, schema);
    else applyMember(out, key, value, schema);
  }
  return out;
}

/** An empty list on the server is none: the API's encoder leaves it out. */
function present(object: JsonObject, key: string): Json | undefined {
  const value = member(object, key) ?? undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

function applyMember(out: JsonObject, key: string, value: Json, schema: PatchSchema): void {
  const current = present(out, key);
  if (value === null) {
    delete out[key];
  } else if (isJsonObject(value) && isJsonObject(current)) {
    out[key] = applyStrategicMergePatch(current, value, schemaOfMember(schema, key));
  } else if (Array.isArray(value) && Array.isArray(current)) {
    const field = fieldOf(schema, key) ?? {};
    out[key] = field.strategy === 'merge' ? mergeLists(key, current, value, field, schema).list : value.map(plainCopy);
  } else if (directiveOf(value) !== undefined) {
    delete out[key];
  } else {
    out[key] = withoutDirected(value);
  }
}

/** A copy of `target`, without the members that the patch's `$retainKeys` leaves out. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = member(patch, retainKeys);
  if (keys === undefined) return { ...target };
  const kept = new Set(asList(retainKeys, keys));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key === retainKeys || isPrefixed(key, deletePrefix) || isPrefixed(key, orderPrefix)) continue;
    if (!kept.has(key)) throw invalidArgument(retainKeys, 'a list of every member that the patch sets', key);
  }
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
}

/** Applies each `$setElementOrder/<field>` together with the list it belongs to. Returns the fields that are done with. */
function applyElementOrders(out: JsonObject, patch: JsonObject, schema: PatchSchema): Set<string> {
  const done = new Set<string>();
  for (const [directive, value] of Object.entries(patch)) {
    if (!isPrefixed(directive, orderPrefix)) continue;
    const key = fieldNamed(directive, orderPrefix);
    const order = asList(directive, value);
    const current = present(out, key);
    const changes = member(patch, key);
    const field = fieldOf(schema, key) ?? {};
    const keyOf = keyBy(key, field.mergeKey);
    const patchList = changes === undefined ? [] : asList(key, changes);
    const currentList = current === undefined ? [] : asList(key, current);
    checkElementOrder(key, patchList, order, keyOf);
    if (current === undefined && changes === undefined) continue;
    if (currentList.length === 0 && patchList.length === 0)
      throw invalidArgument(key, 'a list with elements to order', patchList);
    const merged = mergeForOrder(key, currentList, patchList, {
      field,
      schema,
      known: current !== undefined,
      changed: changes !== undefined,
    });
    out[key] = inElementOrder(merged.list, order, merged.serverOrder, keyOf);
    done.add(key);
  }
  return done;
}

interface MergedList {
  readonly list: Json[];
  /** The server's list as Go sees it afterwards: deletions close the gap, and appended elements move into the room left at its end. */
  readonly serverOrder: readonly Json[];
}

interface OrderContext {
  readonly field: PatchField;
  readonly schema: PatchSchema;
  readonly known: boolean;
  readonly changed: boolean;
}

function mergeForOrder(key: string, current: Json[], patch: Json[], { field, schema, known, changed }: OrderContext): MergedList {
  if (!changed) return { list: current, serverOrder: current };
  if (!known) return { list: asList(key, withoutDirected(patch)), serverOrder: [] };
  if (field.strategy !== 'merge') return { list: patch.map(plainCopy), serverOrder: current };
  return mergeLists(key, current, patch, field, schema);
}

function mergeLists(key: string, current: Json[], patch: Json[], field: PatchField, schema: PatchSchema): MergedList {
  if (current.length === 0 && patch.length === 0) return { list: current, serverOrder: current };
  const keyOf = keyBy(key, field.mergeKey);
  if (!isListOfObjects(key, current, patch)) {
    const list = [...new Set([...current, ...patch])];
    return { list: inElementOrder(list, patch, current, keyOf), serverOrder: current };
  }
  if (field.mergeKey === undefined) throw invalidArgument(key, 'a list of strings, numbers or booleans', patch);
  const { kept, additions, replaced } = applyElementDirectives(key, current, patch, field.mergeKey);
  if (replaced) {
    const list = inElementOrder(additions.map(plainCopy), [], additions, keyOf);
    return { list, serverOrder: [...kept, ...current.slice(kept.length)] };
  }

  const list = [...kept];
  const places = placesByKey(list, field.mergeKey);
  for (const item of additions) {
    if (!isJsonObject(item)) continue;
    const itemKey = keyOf(item);
    const at = places.get(itemKey) ?? list.length;
    const found = list[at];
    list[at] = isJsonObject(found) ? applyStrategicMergePatch(found, item, schemaOfMember(schema, key)) : plainCopy(item);
    places.set(itemKey, at);
  }
  const room = [...list, ...current.slice(list.length)].slice(0, current.length);
  return { list: inElementOrder(list, additions, kept, keyOf), serverOrder: room };
}

/** Where the first element with each key stands. */
function placesByKey(list: readonly Json[], mergeKey: string): Map<Json | undefined, number> {
  const places = new Map<Json | undefined, number>();
  list.forEach((item, index) => {
    const key = isJsonObject(item) ? member(item, mergeKey) : undefined;
    if (!places.has(key)) places.set(key, index);
  });
  return places;
}

/** Carries out `$patch` of the elements of a patch list: what stays of the list, and what is left of the patch. */
function applyElementDirectives(key: string, current: Json[], patch: Json[], mergeKey: string) {
  const keyOf = keyBy(key, mergeKey);
  const deleted = new Set<Json>();
  const additions: Json[] = [];
  let replaced = false;
  for (const item of patch) {
    const directive = directiveOf(item);
    if (directive === undefined) additions.push(item);
    else if (directive === 'delete') deleted.add(keyOf(item));
    else if (directive === 'replace') replaced = true;
    else throw invalidArgument(`$patch in ${key}`, "'replace' or 'delete'", directive);
  }
  const kept = current.filter((item) => !isJsonObject(item) || !deleted.has(member(item, mergeKey) ?? null));
  return { kept, additions, replaced };
}

function deleteFromList(out: JsonObject, directive: string, value: Json, schema: PatchSchema): void {
  const key = fieldNamed(directive, deletePrefix);
  const current = member(out, key);
  if (value === null) {
    delete out[key];
    return;
  }
  if (!Array.isArray(current) || !Array.isArray(value)) return;
  if (isListOfObjects(key, current, value)) {
    out[key] = mergeLists(key, current, value, fieldOf(schema, key) ?? {}, schema).list;
  } else {
    const dropped = new Set(value);
    out[key] = current.filter((item) => !dropped.has(item));
  }
}

const isPrefixed = (key: string, prefix: string): boolean => key.startsWith(prefix);

function fieldNamed(directive: string, prefix: string): string {
  if (!directive.startsWith(`${prefix}/`)) throw invalidArgument('patch', `${prefix}/<field>`, directive);
  return directive.slice(prefix.length + 1);
}

const isDirective = (key: string): boolean =>
  key === '$patch' || key === retainKeys || isPrefixed(key, orderPrefix) || isPrefixed(key, deletePrefix);

/** A copy without null members and directives: what the apiserver's decoder keeps of a value taken over as it is. */
function plainCopy(value: Json): Json {
  if (Array.isArray(value)) return value.map(plainCopy);
  return isJsonObject(value) ? plainObject(value) : value;
}

function plainObject(object: JsonObject): JsonObject {
  const entries = Object.entries(object).filter(([key, inner]) => inner !== null && !isDirective(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, plainCopy(inner)]));
}

/** A copy without what carries a `$patch`: in a value that is new on the server there is nothing to delete or replace. */
function withoutDirected(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => directiveOf(item) === undefined).map(withoutDirected);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(
    ([key, inner]) => inner !== null && !isDirective(key) && directiveOf(inner) === undefined,
  );
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutDirected(inner)]));
}
