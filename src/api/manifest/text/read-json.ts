import { ManifestFault } from './invalid-manifest.ts';
import { type ManifestValue, NumberText } from './manifest-value.ts';

/** What Node.js hands to a reviver beside key and value; the types of the language do not know it yet. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Reads JSON. Of two members with one name the last counts. Throws a fault for anything else, also for too deep nesting. */
export function readJson(text: string): ManifestValue {
  const revive: Reviver = (_key, value, { source }) => {
    if (typeof value === 'number') return new NumberText(source ?? String(value));
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof NumberText) return value;
    return new Map(Object.entries(value));
  };
  try {
    return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as ManifestValue;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ManifestFault('', `JSON${placeOf(cause)}`, text);
  }
}

/** Where JSON.parse stopped, if it says so. The rest of its message may quote the text, and a secret may be there. */
function placeOf({ message }: SyntaxError): string {
  const place = /\(line (\d+) column (\d+)\)$/.exec(message);
  return place === null ? '' : ` (wrong at line ${place[1]}, column ${place[2]})`;
}
