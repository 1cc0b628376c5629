// Behaviour of GenerateMountVolumeFunc and GenerateMapVolumeFunc in pkg/volume/util/operationexecutor, v1.36.3.

import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { WireNode, WirePersistentVolume } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { nodeSelectorTest } from '../../api/selectors/node-selector.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorText, rejectionsOf, throwAll } from '../../base/errors.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { type DriverVolumeRequest, type DriverVolumes, VolumeStepError, volumeStepError } from '../volumes/driver-volumes.ts';
import { devicesFolderName, type MountedVolume, podFolder, podsOnDisk } from '../volumes/pod-folder.ts';
import { type BoundClaim, ClaimReader } from './claim-reader.ts';
import { type ClaimedUsage, ClaimUsages } from './claim-usage.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest, PodVolumeFolders } from './persistent-volume-kind.ts';

export interface ClaimVolumesOptions {
  readonly transport: ResourceTransport;
  /** By the field of a PersistentVolume's spec that says where it is, such as `local`. Others are refused. */
  readonly kinds: ReadonlyMap<string, PersistentVolumeKind>;
  /** The node as the cluster has it. */
  readonly node: () => Pick<WireNode, 'metadata'>;
  readonly rootDirectory: string;
  readonly clock: SteadyClock;
}

interface Read {
  readonly bound: BoundClaim;
  /** By the clock's elapsed time. */
  readonly readMs: number;
}

interface Known extends Read {
  readonly mounted: MountedVolume;
  readonly kind: PersistentVolumeKind;
}

/** The claim of a mounted volume is read again at most so often, however often its pod is synced. */
const leastRereadMs = 10_000;

/** Fields of a PersistentVolume's spec that say nothing of where it is. */
const otherFields: ReadonlySet<string> = new Set([
  ...['accessModes', 'capacity', 'claimRef', 'mountOptions', 'nodeAffinity', 'persistentVolumeReclaimPolicy'],
  ...['storageClassName', 'volumeAttributesClassName', 'volumeMode'],
]);

const optionsAnnotation = 'volume.beta.kubernetes.io/mount-options';

/** Volumes of pods that are claimed: `volumes[].persistentVolumeClaim`, and `volumes[].ephemeral`, whose claim is made for the pod. */
export class ClaimVolumes implements DriverVolumes {
  readonly #options: ClaimVolumesOptions;
  readonly #reader: ClaimReader;
  /** Of volumes that are mounted, by the uid of the pod and the name of the volume. */
  readonly #known = new Map<string, Map<string, Known>>();
  /** The uids of the pods that this process has mounted a persistent volume for, or has begun to, by its name. */
  readonly #users = new Map<string, Set<string>>();
  /** A pod may use one claim by two volumes. */
  readonly #lanes = new OneAtATime();
  readonly #usages: ClaimUsages;

  constructor(options: ClaimVolumesOptions) {
    this.#options = options;
    this.#reader = new ClaimReader(options.transport, options.clock);
    this.#usages = new ClaimUsages(options.clock);
  }

  async mount(request: DriverVolumeRequest): Promise<MountedVolume> {
    const podUID = podUIDOf(request.pod);
    const known = this.#knownOf(podUID);
    const before = known.get(request.volume.name);
    const read = await this.#read(request, before);
    const claimed = claimedOf(request, read.bound);
    const { metadata } = claimed.persistentVolume;
    const kind = before?.kind ?? this.#kindFor(claimed);
    if (before === undefined) await this.#take(claimed, podUID);
    let mounted: MountedVolume;
    try {
      mounted = await this.#lanes.run(`${podUID}/${metadata.name}`, () => kind.mount(claimed));
    } catch (error) {
      request.signal.throwIfAborted();
      if (error instanceof VolumeStepError) throw error;
      throw claimed.isBlock
        ? volumeStepError('FailedMapVolume', 'MapVolume.MapPodDevice', metadata.name, error)
        : volumeStepError('FailedMount', 'MountVolume.SetUp', metadata.name, error);
    }
    request.signal.throwIfAborted();
    // how full it is was measured of this one
    const same = before !== undefined && isDeepStrictEqual(before.mounted, mounted) ? before.mounted : mounted;
    known.set(request.volume.name, { ...read, mounted: same, kind });
    return mounted;
  }

  /** How full the claimed volumes of a pod are, as far as they can be asked. */
  async usages(podUID: string): Promise<readonly ClaimedUsage[]> {
    return this.#usages.of([...(this.#known.get(podUID)?.values() ?? [])]);
  }

  async unmount(podUID: string, volumesFolder: string): Promise<void> {
    this.#known.delete(podUID);
    const folders = { volumesFolder, devicesFolder: join(dirname(volumesFolder), devicesFolderName) };
    const kinds = [...this.#options.kinds.values()];
    const results = await Promise.allSettled(kinds.map(async (kind) => kind.unmount(podUID, folders)));
    throwAll(rejectionsOf(results));
    const left = await this.#volumesOnDisk(folders);
    for (const [name, users] of this.#users) {
      if (!left.has(name)) users.delete(podUID);
      if (users.size === 0) this.#users.delete(name);
    }
  }

  #knownOf(podUID: string): Map<string, Known> {
    const found = this.#known.get(podUID) ?? new Map<string, Known>();
    this.#known.set(podUID, found);
    return found;
  }

  /** A volume that is mounted stays so, whatever becomes of its claim: also where another one has its name. */
  async #read({ pod, volume, signal }: DriverVolumeRequest, known: Known | undefined): Promise<Read> {
    const readMs = this.#options.clock.elapsed();
    if (known !== undefined && readMs - known.readMs < leastRereadMs) return known;
    try {
      const bound = await this.#reader.read(pod, volume, signal);
      return { bound: known === undefined || isSame(known.bound, bound) ? bound : known.bound, readMs };
    } catch (cause) {
      signal.throwIfAborted();
      if (known !== undefined) return { ...known, readMs };
      const lists = `unmounted volumes=[${volume.name}], unattached volumes=[], failed to process volumes=[${volume.name}]`;
      const message = `Unable to attach or mount volumes: ${lists}: ${errorText(cause)}`;
      throw new VolumeStepError('FailedMount', message, { cause });
    }
  }

  #kindFor({ persistentVolume, isBlock, mountOptions }: PersistentVolumeRequest): PersistentVolumeKind {
    const { name } = persistentVolume.metadata;
    const verb = isBlock ? 'MapVolume' : 'MountVolume';
    const refusal = (step: string, why: unknown) => volumeStepError('FailedMount', `${verb}.${step}`, name, why);
    const source = sourceOf(persistentVolume);
    const kind = this.#options.kinds.get(source);
    if (kind === undefined) throw refusal('FindPluginBySpec', new Error(whyRefused(source)));
    if (isBlock && !kind.takesBlock) {
      throw refusal('FindMapperPluginBySpec', new Error(`persistent volumes of ${source} are no block devices`));
    }
    const terms = persistentVolume.spec?.nodeAffinity?.required;
    if (terms != null && !nodeSelectorTest(terms.nodeSelectorTerms)(this.#options.node())) {
      throw refusal('NodeAffinity check', new Error('no matching NodeSelectorTerms'));
    }
    if (!isBlock && mountOptions.length > 0 && !kind.takesMountOptions) {
      throw refusal('MountOptionSupport check', new Error('mount options are not supported for this volume type'));
    }
    return kind;
  }

  /**
   * Notes that the pod uses the volume. A volume that only one pod may use at a time has no other one, also of an earlier process; who is
   * refused keeps nobody from it.
   */
  async #take({ persistentVolume, isBlock }: PersistentVolumeRequest, podUID: string): Promise<void> {
    const { name } = persistentVolume.metadata;
    const modes = persistentVolume.spec?.accessModes ?? [];
    const isForOne = modes.length === 1 && modes[0] === 'ReadWriteOncePod';
    const isOnDisk = isForOne && (await this.#isOnDiskOfOther(name, podUID));
    const users = this.#users.get(name) ?? new Set<string>();
    if (isOnDisk || (isForOne && [...users].some((uid) => uid !== podUID))) {
      const why = new Error('volume uses the ReadWriteOncePod access mode and is already in use by another pod');
      throw isBlock
        ? volumeStepError('FailedMapVolume', 'MapVolume.SetUpDevice', name, why)
        : volumeStepError('FailedMount', 'MountVolume.SetUp', name, why);
    }
    this.#users.set(name, users.add(podUID));
  }

  async #isOnDiskOfOther(name: string, podUID: string): Promise<boolean> {
    const { rootDirectory } = this.#options;
    for (const other of await podsOnDisk(rootDirectory)) {
      if (other === podUID) continue;
      const folder = podFolder(rootDirectory, other);
      const folders = { volumesFolder: join(folder, 'volumes'), devicesFolder: join(folder, devicesFolderName) };
      if ((await this.#volumesOnDisk(folders)).has(name)) return true;
    }
    return false;
  }

  /** The names of the persistent volumes that a pod has a folder or a link of. */
  async #volumesOnDisk(folders: PodVolumeFolders): Promise<ReadonlySet<string>> {
    const all = await Promise.all([...this.#options.kinds.values()].map((kind) => kind.volumesOnDisk(folders)));
    return new Set(all.flat());
  }
}

/** Whether they are the same objects, and not others of the same names. */
function isSame(one: BoundClaim, other: BoundClaim): boolean {
  const uidsOf = ({ claim, persistentVolume }: BoundClaim): readonly unknown[] => [
    ...[claim.metadata?.uid, persistentVolume.metadata.name, persistentVolume.metadata.uid],
  ];
  return isDeepStrictEqual(uidsOf(one), uidsOf(other));
}

function claimedOf(request: DriverVolumeRequest, bound: BoundClaim): PersistentVolumeRequest {
  return {
    ...request,
    ...bound,
    readOnly: request.volume.persistentVolumeClaim?.readOnly === true,
    mountOptions: mountOptionsOf(bound.persistentVolume),
    devicesFolder: join(dirname(request.volumesFolder), devicesFolderName),
  };
}

/** The older annotation comes first, as for a kubelet. */
function mountOptionsOf({ metadata, spec }: WirePersistentVolume): readonly string[] {
  const given = metadata?.annotations?.[optionsAnnotation]?.split(',') ?? spec?.mountOptions ?? [];
  return [...new Set(given.filter((option) => option !== ''))].sort();
}

function sourceOf({ spec }: WirePersistentVolume): string {
  const found = Object.entries(spec ?? {}).find(([field, value]) => !otherFields.has(field) && value != null);
  return found?.[0] ?? '';
}

function whyRefused(source: string): string {
  if (source === 'csi')
    return 'persistent volumes of csi are not supported by this agent: it speaks with no plugins (the option plugins)';
  return source === ''
    ? 'the persistent volume does not say where it is'
    : `persistent volumes of ${source} are not supported by this agent`;
}
