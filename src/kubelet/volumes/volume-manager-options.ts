import { mebibyte } from '../../api/json/bytes.ts';
import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { type Clock, safeClock, systemClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { integerOption, optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { ConfigMapReader } from '../../node/object-managers/config-map-manager.ts';
import type { SecretReader } from '../../node/object-managers/secret-manager.ts';
import type { TokenManager } from '../../node/pod-files/token-manager.ts';
import type { DriverVolumes } from './driver-volumes.ts';
import type { Mounter } from './mounter.ts';

/** Where volumes are made, and what from. Only `rootDirectory` and `mounter` are needed: a volume that lacks its part is refused. */
export interface VolumeManagerOptions {
  /** The absolute folder of the agent's files. Volumes are in its folder `pods`. */
  readonly rootDirectory: string;
  /** Makes mounts, such as a `LinuxMounter`. */
  readonly mounter: Mounter;
  /** Gives secrets, such as a `SecretManager` that has the pod registered. */
  readonly secrets?: SecretReader;
  /** Gives config maps, such as a `ConfigMapManager` that has the pod registered. */
  readonly configMaps?: ConfigMapReader;
  /** Gives service account tokens, such as a `TokenManager`. */
  readonly tokens?: Pick<TokenManager, 'getToken' | 'deletePod'>;
  /** Pulls the image of an image volume, and resolves with the reference that the runtime knows it by. */
  readonly ensureImage?: (pod: Pod, volume: SpecVolume, signal: AbortSignal) => Promise<string>;
  /** Makes the volumes of storage drivers and those that are claimed: `csi`, `persistentVolumeClaim`, `ephemeral`. Default: they are refused. */
  readonly drivers?: DriverVolumes;
  /** So many volumes of one pod are made; a pod that uses more waits. Default 500. */
  readonly maxVolumesPerPod?: number;
  /** What the files of one pod's volumes may take in memory, in bytes; a pod with more waits. Default 64 MiB. */
  readonly maxFileBytesPerPod?: number;
  /** What the files of all pods' volumes may take in memory, in bytes; of each pod 1 MiB is taken in any case. Default 1 GiB. */
  readonly maxFileBytes?: number;
  /** What the node can give, by resource. Default: nothing is known. */
  readonly nodeAllocatable?: () => ResourceQuantities;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
}

/** The options with their defaults. */
export type ResolvedVolumeOptions = VolumeManagerOptions &
  Required<Pick<VolumeManagerOptions, 'nodeAllocatable' | 'clock' | 'maxVolumesPerPod' | 'maxFileBytesPerPod' | 'maxFileBytes'>>;

const mounterMethods = [
  ...['mountTmpfs', 'isTmpfs', 'bind', 'mount', 'prepareFileSystem', 'isolate'],
  ...['holdDevice', 'releaseDevice', 'unmount', 'mountsBelow', 'changeOwner'],
];

const knownOptions = [
  ...['rootDirectory', 'mounter', 'secrets', 'configMaps', 'tokens', 'ensureImage', 'drivers'],
  ...['maxVolumesPerPod', 'maxFileBytesPerPod', 'maxFileBytes', 'nodeAllocatable', 'clock'],
];

export function resolveVolumeOptions(options: VolumeManagerOptions): ResolvedVolumeOptions {
  requireKnownOptions('options', options, knownOptions);
  const { maxVolumesPerPod = 500, maxFileBytesPerPod = 64 * mebibyte, maxFileBytes = 1024 * mebibyte } = options;
  const {
    rootDirectory,
    mounter,
    secrets,
    configMaps,
    tokens,
    ensureImage,
    drivers,
    nodeAllocatable,
    clock = systemClock,
  } = options;
  if (typeof rootDirectory !== 'string' || !rootDirectory.startsWith('/') || rootDirectory.includes('\0')) {
    throw invalidOption('rootDirectory', 'an absolute path', rootDirectory);
  }
  requireMethods('mounter', mounter, mounterMethods);
  if (secrets !== undefined) requireMethods('secrets', secrets, ['getSecret']);
  if (configMaps !== undefined) requireMethods('configMaps', configMaps, ['getConfigMap']);
  if (tokens !== undefined) requireMethods('tokens', tokens, ['getToken', 'deletePod']);
  if (ensureImage !== undefined) optionOfType('ensureImage', ensureImage, 'function');
  if (drivers !== undefined) requireMethods('drivers', drivers, ['mount', 'unmount']);
  if (nodeAllocatable !== undefined) optionOfType('nodeAllocatable', nodeAllocatable, 'function');
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    ...options,
    maxVolumesPerPod: integerOption('maxVolumesPerPod', maxVolumesPerPod, 0),
    maxFileBytesPerPod: integerOption('maxFileBytesPerPod', maxFileBytesPerPod, 0),
    maxFileBytes: integerOption('maxFileBytes', maxFileBytes, 0),
    nodeAllocatable: nodeAllocatable ?? (() => ({})),
    clock: safeClock(clock),
  };
}
