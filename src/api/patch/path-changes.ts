import jsonpatch from 'fast-json-patch';
import { isJsonObject, member } from '../json/json.ts';
import type { Json, JsonObject } from '../json/types.ts';

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
