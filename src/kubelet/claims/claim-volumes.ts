// Behaviour of GenerateMountVolumeFunc and GenerateMapVolumeFunc in pkg/volume/util/operationexecutor, v1.36.3.

import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { WireNode } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { nodeSelectorTest } from '../../api/selectors/node-selector.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { OneAtATime } from '../../base/concurrency/semaphore.ts';
import { errorText } from '../../base/errors.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import { type DriverVolumeRequest, type DriverVolumes, VolumeStepError, volumeStepError } from '../volumes/driver-volumes.ts';
import { devicesFolderName, driverVolumesIn, type MountedVolume, podFolder, podsOnDisk } from '../volumes/pod-folder.ts';
import { type BoundClaim, ClaimReader } from './claim-reader.ts';
import { type ClaimedUsage, ClaimUsages } from './claim-usage.ts';
import type { PersistentVolumeKind, PersistentVolumeRequest, WirePersistentVolume } from './persistent-volume-kind.ts';

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
    const read = await this.#read(request, known.get(request.volume.name));
    const claimed = claimedOf(request, read.bound);
    const { metadata } = claimed.persistentVolume;
    const kind = this.#kindFor(claimed);
    const users = this.#users.get(metadata.name) ?? new Set<string>();
    const isNew = !users.has(podUID);
    this.#users.set(metadata.name, users.add(podUID));
    await this.#requireFree(claimed, podUID).catch((error: unknown) => {
      if (isNew) users.delete(podUID);
      throw error;
    });
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
    const before = known.get(request.volume.name);
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
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(errorText).join('; '));
    const left = new Set(await driverVolumesIn(dirname(volumesFolder)));
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

  /** A volume that is mounted stays so, whatever becomes of its claim. */
  async #read({ pod, volume, signal }: DriverVolumeRequest, known: Known | undefined): Promise<Read> {
    const readMs = this.#options.clock.elapsed();
    if (known !== undefined && readMs - known.readMs < leastRereadMs) return known;
    try {
      return { bound: await this.#reader.read(pod, volume, signal), readMs };
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

  /** A persistent volume that only one pod may use at a time has no other one, also of an earlier process. */
  async #requireFree({ persistentVolume, isBlock }: PersistentVolumeRequest, podUID: string): Promise<void> {
    const modes = persistentVolume.spec?.accessModes ?? [];
    if (modes.length !== 1 || modes[0] !== 'ReadWriteOncePod') return;
    const { name } = persistentVolume.metadata;
    const others = [...(this.#users.get(name) ?? [])].some((uid) => uid !== podUID);
    if (!others && !(await this.#isOnDiskOfOther(name, podUID))) return;
    const why = new Error('volume uses the ReadWriteOncePod access mode and is already in use by another pod');
    throw isBlock
      ? volumeStepError('FailedMapVolume', 'MapVolume.SetUpDevice', name, why)
      : volumeStepError('FailedMount', 'MountVolume.SetUp', name, why);
  }

  async #isOnDiskOfOther(name: string, podUID: string): Promise<boolean> {
    const { rootDirectory } = this.#options;
    for (const other of await podsOnDisk(rootDirectory)) {
      if (other !== podUID && (await driverVolumesIn(podFolder(rootDirectory, other))).includes(name)) return true;
    }
    return false;
  }
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
