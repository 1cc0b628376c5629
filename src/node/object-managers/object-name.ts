import { requirePathSegment } from '../../base/options.ts';

/** Which object: every secret and config map belongs to a namespace. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** What an object is kept under. No namespace holds a "/". */
export function keyOf({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}

/** Throws ERR_INVALID_ARGUMENT for a name that fits in no path. */
export function requireObjectName({ namespace, name }: NamespacedName): void {
  requirePathSegment('namespace', namespace);
  requirePathSegment('name', name);
}

/** False for a name that no object can have, though a pod may carry it. */
export function canExist(object: NamespacedName): boolean {
  try {
    requireObjectName(object);
    return true;
  } catch {
    return false;
  }
}
