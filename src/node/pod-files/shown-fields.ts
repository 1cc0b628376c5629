import type { Pod } from '../../api/json/types.ts';
import { type NamedContainers, namedContainers, type SpecVolume } from '../../api/pod/pod-containers.ts';
import { metadataField, type ResourceQuantities, resourceField } from '../../api/pod/pod-fields.ts';
import { errorText } from '../../base/errors.ts';
import type { ProjectedFile } from '../files/atomic-writer.ts';

// Behaviour of CollectData in pkg/volume/downwardapi, v1.36.3.

type Items = NonNullable<SpecVolume['downwardAPI']>['items'];
type Item = NonNullable<Items>[number];

/** What all files of one pod that show its fields may have together. A pod's metadata is smaller than a megabyte. */
const mostBytes = 8 * 1024 * 1024;

/** What the volumes of one pod show of it. However many files show a field, it is made once. */
export class ShownFields {
  readonly #pod: Pod;
  readonly #containers: NamedContainers;
  readonly #nodeAllocatable: () => ResourceQuantities;
  readonly #made = new Map<string, Buffer>();
  #allocatable: ResourceQuantities | undefined;
  #bytes = 0;

  constructor(pod: Pod, nodeAllocatable: () => ResourceQuantities) {
    this.#pod = pod;
    this.#containers = namedContainers(pod);
    this.#nodeAllocatable = nodeAllocatable;
  }

  /** What one file shows. Throws where there is no such field, and once all files together have more than 8 MiB. */
  take({ fieldRef, resourceFieldRef }: Item): Buffer {
    const key = JSON.stringify(fieldRef ? fieldRef.fieldPath : [resourceFieldRef]);
    const data = this.#made.get(key) ?? Buffer.from(this.#textOf(fieldRef, resourceFieldRef));
    this.#made.set(key, data);
    this.#bytes += data.length;
    if (this.#bytes <= mostBytes) return data;
    throw new Error(`the fields that the volumes of the pod show have more than ${mostBytes} bytes together`);
  }

  #textOf(fieldRef: Item['fieldRef'], resourceFieldRef: Item['resourceFieldRef']): string {
    if (fieldRef) return metadataField(this.#pod, fieldRef.fieldPath);
    if (!resourceFieldRef) return '';
    this.#allocatable ??= this.#nodeAllocatable();
    const { containerName = '' } = resourceFieldRef;
    return resourceField(this.#pod, containerName, resourceFieldRef, this.#allocatable, this.#containers);
  }
}

/** The files that tell a pod of itself. Throws one error that names all files that cannot be made. */
export function downwardFiles(
  { fields }: { readonly fields: ShownFields },
  items: Items | null,
  defaultMode: number,
): Map<string, ProjectedFile> {
  const files = new Map<string, ProjectedFile>();
  const failures = new Set<string>();
  for (const item of items ?? []) {
    try {
      files.set(item.path, { data: fields.take(item), mode: item.mode ?? defaultMode });
    } catch (error) {
      failures.add(errorText(error));
    }
  }
  if (failures.size > 0) throw new Error(joined([...failures]));
  return files;
}

/** Messages as Go joins those of several errors. */
export function joined(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
