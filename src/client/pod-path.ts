import { requirePathSegment } from '../checks/arguments.ts';

/** Encodes one segment of a path. Throws ERR_INVALID_ARGUMENT for a value that would be anything but one segment. */
function pathSegment(name: string, value: string): string {
  requirePathSegment(name, value);
  return encodeURIComponent(value);
}

/** The path of one pod. */
export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${pathSegment('namespace', namespace)}/pods/${pathSegment('name', name)}`;
}

/** The path of the pods of one namespace, or of all. */
export function podsPath(namespace?: string): string {
  return namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${pathSegment('namespace', namespace)}/pods`;
}
