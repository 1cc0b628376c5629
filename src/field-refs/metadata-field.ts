// Behaviour of pkg/fieldpath, v1.36.3.
import { isLabelKey } from '../checks/label-names.ts';
import type { Pod } from '../wire/types.ts';
import { FieldRefError } from './field-ref-error.ts';
import { goQuoted } from './go-quoted.ts';

/** A path such as `metadata.labels['zone']`, taken apart; undefined for a path without a key. */
export function splitSubscript(fieldPath: string): { readonly path: string; readonly key: string } | undefined {
  const start = fieldPath.indexOf("['");
  // the two ends are apart, as in `a['b']`; `a[']` has only one of them
  if (start <= 0 || !fieldPath.endsWith("']") || start + 2 > fieldPath.length - 2) return undefined;
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) };
}

/**
 * A field of a pod's metadata, as a downward API volume shows it: the name, the namespace, the uid, one label or annotation
 * (empty where there is none), or all of them, one a line, sorted by key. Throws {@link FieldRefError} for any other field.
 */
export function metadataFieldValue(pod: Pod, fieldPath: string): string {
  const { name, namespace, uid, labels, annotations } = pod.metadata ?? {};
  const subscript = splitSubscript(fieldPath);
  if (subscript !== undefined) return subscriptedValue(pod, fieldPath, subscript);
  switch (fieldPath) {
    case 'metadata.annotations':
      return formatMap(annotations);
    case 'metadata.labels':
      return formatMap(labels);
    case 'metadata.name':
      return name ?? '';
    case 'metadata.namespace':
      return namespace ?? '';
    case 'metadata.uid':
      return uid ?? '';
    default:
      throw new FieldRefError(`unsupported fieldPath: ${fieldPath}`);
  }
}

function subscriptedValue(pod: Pod, fieldPath: string, { path, key }: { readonly path: string; readonly key: string }): string {
  const { labels, annotations } = pod.metadata ?? {};
  const isAnnotation = path === 'metadata.annotations';
  if (!isAnnotation && path !== 'metadata.labels') {
    throw new FieldRefError(`fieldPath ${goQuoted(fieldPath)} does not support subscript`);
  }
  if (!isLabelKey(isAnnotation ? key.toLowerCase() : key)) {
    throw new FieldRefError(`invalid key subscript in ${fieldPath}: ${goQuoted(key)} is no qualified name`);
  }
  const values = (isAnnotation ? annotations : labels) ?? {};
  return Object.hasOwn(values, key) ? String(values[key]) : '';
}

/** One line a key, sorted by key, each value quoted as Go quotes it. */
function formatMap(values: Readonly<Record<string, string>> | null | undefined): string {
  const lines = Object.entries(values ?? {}).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return lines.map(([key, value]) => `${key}=${goQuoted(String(value))}`).join('\n');
}
