import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { podUIDOf, requirePod } from '../../api/pod/pod-identity.ts';
import { settledAtOnce, untilAborted } from '../../base/concurrency/aborts.ts';
import { FairSemaphore, OneAtATime } from '../../base/concurrency/semaphore.ts';
import { StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { isDnsLabel } from '../../base/names.ts';
import { AtomicWriter } from '../../node/files/atomic-writer.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { FileBytes } from '../../node/pod-files/file-bytes.ts';
import { ShownFields } from '../../node/pod-files/shown-fields.ts';
import { fsUserOf, usedVolumes } from '../../node/pod-files/volume-files.ts';
import { requireNoDriverVolumes, type VolumeFailureReason, VolumeStepError, volumeStepError } from './driver-volumes.ts';
import { mountConfigMap, mountDownwardAPI, mountProjected, mountSecret } from './file-volumes.ts';
import { mountEmptyDir, mountHostPath, mountImage } from './host-path.ts';
import { type MountedVolume, type PodVolumes, podFolder, podsFolder, podsOnDisk, removePodFolder } from './pod-folder.ts';
import { type ResolvedVolumeOptions, resolveVolumeOptions, type VolumeManagerOptions } from './volume-manager-options.ts';
import type { MountVolume, VolumeRequest } from './volume-request.ts';

const hiddenMode = 0o750;
/** So many volumes of a pod are made at once. */
const atOnce = 16;
/** So many are written at once, over all pods. */
const mostWrites = 4;

const volumeTypes: Readonly<Record<string, MountVolume>> = {
  emptyDir: mountEmptyDir,
  hostPath: mountHostPath,
  configMap: mountConfigMap,
  secret: mountSecret,
  downwardAPI: mountDownwardAPI,
  projected: mountProjected,
  image: mountImage,
  csi: mountByDriver,
  persistentVolumeClaim: mountByDriver,
  ephemeral: mountByDriver,
};

/**
 * Makes the volumes of pods ready below one folder, `pods/UID/volumes`, and removes them with all that they held. It keeps
 * nothing that is not on disk but what saves work, so that it continues after a restart where the last process ended. Calls for
 * one pod run one after another.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { VolumeManager } from 'pod-status-manager/kubelet';
 * import { FakeMounter } from 'pod-status-manager/testing';
 *
 * const volumes = new VolumeManager({ rootDirectory: await mkdtemp('/tmp/volumes-'), mounter: new FakeMounter() });
 * const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
 * const pod = {
 *   metadata: { name: 'web', namespace: 'default', uid: '1' },
 *   spec: { containers: [{ name: 'app', image: 'app:1', volumeMounts }], volumes: [{ name: 'scratch', emptyDir: {} }] },
 * };
 * const mounted = await volumes.mountVolumes(pod, AbortSignal.timeout(5000));
 * console.log(mounted.get('scratch')?.type); // emptyDir
 * await volumes.unmountVolumes('1');
 * ```
 */
export class VolumeManager {
  readonly #options: ResolvedVolumeOptions;
  readonly #fileBytes: FileBytes;
  readonly #lanes = new OneAtATime();
  readonly #writes = new FairSemaphore(mostWrites);
  /** The writers of each pod, by their folder: they know what they have written. */
  readonly #writers = new Map<string, Map<string, AtomicWriter>>();
  #root: Promise<string> | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: VolumeManagerOptions) {
    this.#options = resolveVolumeOptions(options);
    this.#fileBytes = new FileBytes(this.#options);
  }

  /**
   * Makes the volumes that the pod's containers use ready, and brings what they hold up to date: cheap where nothing has
   * changed. Resolves with them by name.
   *
   * Rejects with a {@link VolumeError} that names each volume that is not ready; the others are. Rejects with the signal's
   * reason as soon as it aborts; what was begun then ends before the next call for the pod begins. Rejects with
   * ERR_OVER_BUDGET for a pod that uses too many volumes, and with ERR_INVALID_ARGUMENT for a pod without a namespace, name
   * or uid.
   */
  async mountVolumes(pod: Pod, signal: AbortSignal): Promise<PodVolumes> {
    requirePod(pod);
    const podUID = podUIDOf(pod);
    // refuses a uid that is no name of a folder
    podFolder('/', podUID);
    // what hangs holds the lane of the pod, and nobody who waits for its end
    return untilAborted(
      this.#lanes.run(podUID, () => this.#mount(pod, podUID, signal)),
      signal,
    );
  }

  /**
   * Unmounts all volumes of a pod and removes its folder with all that is in it. A pod without one is no error. It needs
   * nothing but what is on disk. Rejects where something cannot be unmounted; then nothing but secrets was deleted.
   */
  async unmountVolumes(podUID: string): Promise<void> {
    podFolder('/', podUID);
    await this.#lanes.run(podUID, async () => {
      this.#writers.delete(podUID);
      callGuarded(() => this.#options.tokens?.deletePod(podUID), ignoreFailure);
      const { mounter, drivers } = this.#options;
      await removePodFolder(podFolder(await this.#realRoot(), podUID), mounter, (volumesFolder) =>
        drivers === undefined ? requireNoDriverVolumes(volumesFolder) : drivers.unmount(podUID, volumesFolder),
      );
      this.#fileBytes.forget(podUID);
    });
  }

  /** The uids of pods that have a folder and are not among the known ones. */
  async orphans(knownUIDs: ReadonlySet<string>): Promise<readonly string[]> {
    return (await podsOnDisk(await this.#realRoot())).filter((podUID) => !knownUIDs.has(podUID));
  }

  async #mount(pod: Pod, podUID: string, signal: AbortSignal): Promise<PodVolumes> {
    signal.throwIfAborted();
    const volumesFolder = join(podFolder(await this.#realRoot(), podUID), 'volumes');
    await makeFolders(volumesFolder, hiddenMode);
    const volumes = this.#volumesOf(pod);
    const flow = { group: pod.metadata?.namespace ?? '', member: podUID };
    const memory = this.#fileBytes.begin(podUID, shown(pod));
    const common = {
      pod,
      volumesFolder,
      options: this.#options,
      memory,
      signal,
      fields: new ShownFields(pod, this.#options.nodeAllocatable),
      fsGroup: pod.spec?.securityContext?.fsGroup ?? undefined,
      fsUser: fsUserOf(pod),
      inTurn: (write: () => Promise<void>) => this.#writes.run(flow, write, signal),
      writerOf: (folder: string) => this.#writerOf(podUID, folder),
    };
    const results = await settledAtOnce(volumes, atOnce, (volume) => mountOne({ ...common, volume }));
    signal.throwIfAborted();
    const ready = new Map<string, MountedVolume>();
    const failed: { volume: string; reason: unknown }[] = [];
    for (const [index, result] of results.entries()) {
      const name = volumes[index]?.name ?? '';
      if (result.status === 'fulfilled') ready.set(name, result.value);
      else failed.push({ volume: name, reason: result.reason });
    }
    if (failed.length > 0) throw volumeErrorOf(failed);
    // where one has failed, its older files may still be there
    memory.done();
    return ready;
  }

  /** Those that its containers use. */
  #volumesOf(pod: Pod): readonly SpecVolume[] {
    const { maxVolumesPerPod } = this.#options;
    const used = usedVolumes(pod);
    const volumes = (pod.spec?.volumes ?? []).filter(({ name }) => used.has(name));
    if (volumes.length <= maxVolumesPerPod) return volumes;
    const message = `pod ${shown(pod)} uses ${volumes.length} volumes, and this node makes ${maxVolumesPerPod} for one pod`;
    const help = "Let the pod use fewer, or set volumeBudget.maxVolumesPerPod of the node's agent higher";
    throw new StatusManagerError('ERR_OVER_BUDGET', `${message}. ${help}`);
  }

  #writerOf(podUID: string, folder: string): AtomicWriter {
    const writers = this.#writers.get(podUID) ?? new Map<string, AtomicWriter>();
    this.#writers.set(podUID, writers);
    const writer = writers.get(folder) ?? new AtomicWriter(folder, this.#options);
    writers.set(folder, writer);
    return writer;
  }

  /** The folder of the agent, without symbolic links: the kernel lists mounts by such paths. */
  #realRoot(): Promise<string> {
    this.#root ??= this.#makeRoot().catch((error: unknown) => {
      this.#root = undefined;
      throw error;
    });
    return this.#root;
  }

  async #makeRoot(): Promise<string> {
    const { rootDirectory } = this.#options;
    await makeFolders(podsFolder(rootDirectory), hiddenMode);
    return realpath(rootDirectory);
  }
}

function shown({ metadata }: Pod): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

async function mountOne(request: VolumeRequest): Promise<MountedVolume> {
  const { volume } = request;
  if (!isDnsLabel(volume.name)) throw new Error('the name of the volume is no DNS label');
  const type = typeOf(volume);
  const mount = Object.hasOwn(volumeTypes, type) ? volumeTypes[type] : undefined;
  if (mount === undefined) throw new Error(`volume type ${type} is not supported by this agent`);
  return mount(request);
}

function mountByDriver(request: VolumeRequest): Promise<MountedVolume> {
  const { drivers } = request.options;
  if (drivers !== undefined) return drivers.mount(request);
  throw new Error(`volume type ${typeOf(request.volume)} is not supported by this agent: it speaks with no plugins`);
}

/** The member that says what the volume is. A volume that does not say is an empty folder, as for the apiserver. */
function typeOf(volume: SpecVolume): string {
  const types = Object.entries(volume).filter(([key, value]) => key !== 'name' && value !== undefined && value !== null);
  if (types.length > 1) throw new Error('the volume has more than one type');
  return types[0]?.[0] ?? 'emptyDir';
}

function volumeErrorOf(failed: readonly { readonly volume: string; readonly reason: unknown }[]): VolumeError {
  const failures = failed.map(({ volume, reason: cause }) => {
    const step = cause instanceof VolumeStepError ? cause : volumeStepError('FailedMount', 'MountVolume.SetUp', volume, cause);
    return { volume, reason: step.reason, message: step.message };
  });
  const cause = failed.length === 1 ? failed[0]?.reason : new AggregateError(failed.map(({ reason }) => reason));
  return new VolumeError(failures, { cause });
}

/** Why one volume is not ready. */
export interface VolumeFailure {
  /** The volume's name in the pod's spec. */
  readonly volume: string;
  /** The reason of the event that a kubelet writes. */
  readonly reason: VolumeFailureReason;
  /** The message of that event. */
  readonly message: string;
}

/** So many volumes are named in the message. */
const mostTold = 10;

/**
 * Volumes of a pod are not ready. Its `code` is `ERR_VOLUME`.
 *
 * @example
 * ```ts
 * import { VolumeError } from 'pod-status-manager/kubelet';
 *
 * const error = new VolumeError([{ volume: 'settings', reason: 'FailedMount', message: 'configmap "settings" not found' }]);
 * console.log(error.code, error.failures.length); // ERR_VOLUME 1
 * ```
 */
export class VolumeError extends StatusManagerError {
  /** One entry for each volume that is not ready. */
  readonly failures: readonly VolumeFailure[];

  constructor(failures: readonly VolumeFailure[], options?: ErrorOptions) {
    const told = failures.slice(0, mostTold).map(({ message }) => message);
    const rest = failures.length - told.length;
    super('ERR_VOLUME', [...told, ...(rest > 0 ? [`${rest} more volumes are not ready`] : [])].join('; '), options);
    this.name = 'VolumeError';
    this.failures = failures;
  }
}
