import type { Pod } from '../../api/json/types.ts';
import { type NamedContainers, namedContainers } from '../../api/pod/pod-containers.ts';
import { metadataField, type ResourceQuantities, resourceField } from '../../api/pod/pod-fields.ts';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { AtomicWriter, ProjectedFile } from '../files/atomic-writer.ts';
import type { PodFileBytes } from './file-bytes.ts';
import type { MountedVolume, SpecVolume } from './pod-folder.ts';
import type { ResolvedVolumeOptions } from './volume-manager-options.ts';

/** What a type of volume is told of one volume. */
export interface VolumeRequest {
  readonly pod: Pod;
  readonly volume: SpecVolume;
  /** The folder of the pod's volumes. */
  readonly volumesFolder: string;
  readonly options: ResolvedVolumeOptions;
  /** Counts what the files of the pod's volumes take in memory. */
  readonly memory: PodFileBytes;
  /** What all volumes of the pod show of it. */
  readonly fields: ShownFields;
  readonly fsGroup: number | undefined;
  readonly fsUser: number | undefined;
  readonly signal: AbortSignal;
  /** Makes the call once there is room: so many volumes are written at once, and namespaces and pods take turns. */
  inTurn(write: () => Promise<void>): Promise<void>;
  writerOf(folder: string): AtomicWriter;
}

/** What a volume of files is told. */
export interface FilesRequest extends VolumeRequest {
  /** What the files are made from, each object read once. */
  readonly objects: MountObjects;
}

/** Makes one volume ready, or sees that it is. */
export type MountVolume = (request: VolumeRequest) => Promise<MountedVolume>;

type Texts = Readonly<Record<string, string>> | undefined;

/** The values of a secret or a config map, by key. */
export interface SourceValues {
  readonly keys: ReadonlySet<string>;
  /** The same bytes each time: a value that many files show is there once. */
  get(key: string): Uint8Array | undefined;
}

/** The secrets and config maps of one volume while it is made: each is read once, and each value decoded once. */
export class MountObjects {
  readonly #namespace: string;
  readonly #options: Pick<ResolvedVolumeOptions, 'secrets' | 'configMaps'>;
  readonly #signal: AbortSignal;
  readonly #configMaps = new Map<string, Promise<SourceValues>>();
  readonly #secrets = new Map<string, Promise<SourceValues>>();

  constructor({ metadata }: Pod, options: Pick<ResolvedVolumeOptions, 'secrets' | 'configMaps'>, signal: AbortSignal) {
    this.#namespace = metadata?.namespace ?? '';
    this.#options = options;
    this.#signal = signal;
  }

  /** Rejects as its reader does. */
  configMap(name: string): Promise<SourceValues> {
    const { configMaps } = this.#options;
    if (configMaps === undefined) throw new Error('this agent has no config maps');
    return once(this.#configMaps, name, async () => {
      const { data, binaryData } = await whileGoing(() => configMaps.getConfigMap(this.#namespace, name), this.#signal);
      return new DecodedValues(data, binaryData);
    });
  }

  /** Rejects as its reader does. */
  secret(name: string): Promise<SourceValues> {
    const { secrets } = this.#options;
    if (secrets === undefined) throw new Error('this agent has no secrets');
    return once(this.#secrets, name, async () => {
      const { data } = await whileGoing(() => secrets.getSecret(this.#namespace, name), this.#signal);
      return new DecodedValues(undefined, data);
    });
  }
}

function once(reads: Map<string, Promise<SourceValues>>, name: string, read: () => Promise<SourceValues>): Promise<SourceValues> {
  const before = reads.get(name);
  if (before !== undefined) return before;
  const reading = read();
  reads.set(name, reading);
  return reading;
}

class DecodedValues implements SourceValues {
  readonly keys: ReadonlySet<string>;
  readonly #texts: Texts;
  readonly #base64: Texts;
  readonly #decoded = new Map<string, Uint8Array>();

  constructor(texts: Texts, base64: Texts) {
    this.#texts = texts;
    this.#base64 = base64;
    this.keys = new Set([...Object.keys(texts ?? {}), ...Object.keys(base64 ?? {})]);
  }

  get(key: string): Uint8Array | undefined {
    const before = this.#decoded.get(key);
    if (before !== undefined || !this.keys.has(key)) return before;
    const bytes = ownOf(this.#base64, key);
    const value = bytes === undefined ? Buffer.from(ownOf(this.#texts, key) ?? '') : Buffer.from(bytes, 'base64');
    this.#decoded.set(key, value);
    return value;
  }
}

function ownOf(texts: Texts, key: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

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
  { fields }: Pick<VolumeRequest, 'fields'>,
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
