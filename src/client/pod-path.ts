import { invalidArgument } from '../errors.ts';

/** The server's own rule for a name that stands in a path: a name that breaks it could name another resource. */
const rule = "a non-empty path segment: not '.' or '..', without '/' and '%'";

/** Encodes one segment of a path. Throws `ERR_INVALID_ARGUMENT` when it would be anything but one segment. */
function pathSegment(name: string, value: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw invalidArgument(name, rule, value);
  }
  // a lone surrogate has no UTF-8 form, and encodeURIComponent would throw a bare URIError
  if (!value.isWellFormed()) throw invalidArgument(name, 'well-formed text', value);
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
