// Behaviour of CollectData in pkg/volume/downwardapi, v1.36.3.

import type { ProjectedFile } from '../files/projected-files.ts';
import { metadataField } from '../pod/metadata-field.ts';
import { resourceField } from '../pod/resource-field.ts';
import { errorText } from '../seams/error-text.ts';
import type { SpecVolume, VolumeRequest } from './volume-request.ts';

type Items = NonNullable<SpecVolume['downwardAPI']>['items'];
type Item = NonNullable<Items>[number];

/** The files that tell a pod of itself. Throws one error that names all files that cannot be made. */
export function downwardFiles(
  request: Pick<VolumeRequest, 'pod' | 'parts'>,
  items: Items | null,
  defaultMode: number,
): Map<string, ProjectedFile> {
  const files = new Map<string, ProjectedFile>();
  const failures: string[] = [];
  for (const item of items ?? []) {
    try {
      files.set(item.path, { data: Buffer.from(textOf(request, item)), mode: item.mode ?? defaultMode });
    } catch (error) {
      failures.push(errorText(error));
    }
  }
  if (failures.length > 0) throw new Error(joined(failures));
  return files;
}

function textOf({ pod, parts }: Pick<VolumeRequest, 'pod' | 'parts'>, { fieldRef, resourceFieldRef }: Item): string {
  if (fieldRef) return metadataField(pod, fieldRef.fieldPath);
  if (resourceFieldRef)
    return resourceField(pod, resourceFieldRef.containerName ?? '', resourceFieldRef, parts.nodeAllocatable());
  return '';
}

/** Messages as Go joins those of several errors. */
export function joined(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
