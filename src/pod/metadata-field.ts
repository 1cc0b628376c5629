// Behaviour of pkg/fieldpath, v1.36.3.

import { isLabelKey } from '../checks/label-names.ts';
import { goQuote } from '../wire/go-quote.ts';
import type { Pod } from '../wire/types.ts';

/**
 * The value of a field of the pod's metadata, as environment variables and files of the downward API name it:
 * `metadata.name`, `metadata.namespace`, `metadata.uid`, `metadata.labels`, `metadata.annotations`, and one of the last two
 * with a key, such as `metadata.labels['app']`. A key that the pod does not have is empty text.
 *
 * Throws an `Error` with the kubelet's message for any other path.
 */
export function metadataField({ metadata }: Pod, fieldPath: string): string {
  const [, path, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (path !== undefined && key !== undefined) return valueOfKey({ metadata }, fieldPath, path, key);
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
  const keys = Object.keys(map ?? {}).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return keys.map((key) => `${key}=${goQuote(String(map?.[key]))}`).join('\n');
}
