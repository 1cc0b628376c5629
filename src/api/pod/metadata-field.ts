// Behaviour of pkg/fieldpath, v1.36.3.

import { isLabelKey } from '../../base/names.ts';
import { goQuote } from '../json/go-quote.ts';
import type { Pod } from '../json/types.ts';

/**
 * The value of a field of the pod's metadata, as environment variables and files of the downward API name it:
 * `metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels`, `metadata.annotations`, and one of the last two
 * with a key, such as `metadata.labels['app']`. A key that the pod does not have is empty text.
 *
 * Throws an `Error` with the kubelet's message for any other path.
 */
export function metadataField({ metadata }: Pod, fieldPath: string): string {
  const { path, key } = splitFieldPath(fieldPath);
  if (key !== undefined) return valueOfKey({ metadata }, fieldPath, path, key);
  switch (fieldPath) {
    case 'metadata.annotations':
      return linesOf(metadata?.annotations);
    case 'metadata.labels':
      return linesOf(metadata?.labels);
    case 'metadata.name':
      return metadata?.name ?? '';
    case 'metadata.namespace':
      return metadata?.namespace ?? '';
    case 'metadata.uid':
      return metadata?.uid ?? '';
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`);
  }
}

/** `metadata.labels['app']` in its two parts; any other path has no key. */
export function splitFieldPath(fieldPath: string): { readonly path: string; readonly key: string | undefined } {
  const end = fieldPath.length - 2;
  const start = fieldPath.endsWith("']") ? fieldPath.slice(0, end).indexOf("['") : -1;
  if (start <= 0) return { path: fieldPath, key: undefined };
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, end) };
}

function valueOfKey({ metadata }: Pod, fieldPath: string, path: string, key: string): string {
  const [map, checked] =
    path === 'metadata.annotations'
      ? [metadata?.annotations, key.toLowerCase()]
      : path === 'metadata.labels'
        ? [metadata?.labels, key]
        : [undefined, undefined];
  if (checked === undefined) throw new Error(`fieldPath ${goQuote(fieldPath)} does not support subscript`);
  if (!isLabelKey(checked)) throw new Error(`invalid key subscript in ${fieldPath}: name part must be a qualified name`);
  return map && Object.hasOwn(map, key) ? String(map[key]) : '';
}

/** One line for each key, in the order of the keys: `key="value"`. */
function linesOf(map: { readonly [key: string]: string } | null | undefined): string {
  const lines = Object.entries(map ?? {}).map(([key, value]) => ({ bytes: Buffer.from(key), key, value }));
  lines.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return lines.map(({ key, value }) => `${key}=${goQuote(String(value))}`).join('\n');
}
