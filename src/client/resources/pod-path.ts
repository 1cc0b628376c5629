import { requirePathSegment } from '../../base/options.ts';
import { resourcePath, resources } from './api-resource.ts';

/** The path of one pod. */
export function podPath(namespace: string, name: string): string {
  // a missing name would make this the path of a collection
  requirePathSegment('namespace', namespace);
  requirePathSegment('name', name);
  return resourcePath(resources.pods, { namespace, name });
}
