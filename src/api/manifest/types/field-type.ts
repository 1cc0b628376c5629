// The types of the fields of a pod, as Go declares them.
import { containerTypes } from './container-types.ts';
import { metadataTypes } from './metadata-types.ts';
import { podSpecTypes } from './pod-spec-types.ts';
import { schedulingTypes } from './scheduling-types.ts';
import { statusTypes } from './status-types.ts';
import { volumeTypes } from './volume-types.ts';

const typeTexts: Readonly<Record<string, readonly string[]>> = {
  ...metadataTypes,
  ...podSpecTypes,
  ...containerTypes,
  ...volumeTypes,
  ...schedulingTypes,
  ...statusTypes,
};

export interface Field {
  readonly name: string;
  /** A scalar's type, or `#Type`, `[]TYPE` for a list and `{}TYPE` for a map by name. */
  readonly type: string;
  /**
   * `optional`: zero means absent, and is left out. `required`: always there, zero where it was not given.
   * `pointer`: zero is a value like any other, and absent is something else.
   */
  readonly presence: 'optional' | 'required' | 'pointer';
}

/** Reads `name:type`, with `!` behind a required one and `?` behind a pointer. */
function parseField(text: string): Field {
  const at = text.indexOf(':');
  const mark = text.at(-1);
  const presence = mark === '!' ? 'required' : mark === '?' ? 'pointer' : 'optional';
  return { name: text.slice(0, at), type: text.slice(at + 1, presence === 'optional' ? undefined : -1), presence };
}

const fieldsByType: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(typeTexts).map(([name, lines]) => [name, lines.flatMap((line) => line.split(' ').map(parseField))]),
);

/** The fields of a type, in Go's order. */
export function fieldsOf(type: string): readonly Field[] {
  const fields = fieldsByType.get(type);
  if (fields === undefined) throw new Error(`no type ${type} is declared`);
  return fields;
}
