// Behaviour of pkg/kubelet/kubelet_pods.go makeMounts and ensureHostsFile, and of kuberuntime makeMounts, v1.36.3.

import { chmod, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { expanded } from '../../api/pod/expansion.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';
import { type Environment, textOf } from '../../node/environment/environment.ts';
import { pathLimit } from '../../node/environment/start-limits.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { fileHasText, readAtMost } from '../../node/files/small-file.ts';
import type { Mount, MountPropagation } from '../runtime/runtime-containers.ts';
import { type MountedVolume, type PodVolumes, podFolder } from '../volumes/pod-folder.ts';
import { managedHosts, nodeHosts, podHostname } from './pod-hosts.ts';

/** Whose mounts are made, and from what. */
export interface MountsRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly runtimeHandler: string;
  readonly volumes: PodVolumes;
  readonly podIPs: readonly string[];
  readonly environment: Environment;
}

/** What of the node goes into the mounts of its containers. */
export interface MountSettings {
  /** The absolute folder of the agent's files. Hosts files and termination logs are in its folder `pods`. */
  readonly rootDirectory: string;
  /** The node's own hosts file, for pods in its network. */
  readonly hostsFile: string;
  /** The domain of the cluster's names, such as `cluster.local`; empty: none. */
  readonly clusterDomain: string;
  /** True: files get SELinux labels. */
  readonly selinux: boolean;
  /** True where the handler of the runtime can keep mounts below a mount from being written. */
  readonly recursiveReadOnly: (runtimeHandler: string) => boolean;
  /**
   * Gives the path of a part of a volume that leads nowhere else. A {@link ContainerConfigError} is told as it is, and of any other one that it failed.
   */
  readonly prepareSubPath: (pod: Pod, request: SubPathMount, signal: AbortSignal) => Promise<string>;
  /** Gives numbers from 0 to 1, for names of files. */
  readonly random: () => number;
}

const etcHosts = '/etc/hosts';
const mostHostsBytes = 1024 * 1024;

/** All that a container sees of the node: volumes, the pod's hosts file, and the file for why the container ends. */
export async function containerMounts(
  request: MountsRequest,
  options: MountSettings,
  signal: AbortSignal,
): Promise<readonly Mount[]> {
  const { pod, container, volumes, runtimeHandler } = request;
  const mounts = [
    ...(await volumeMounts(container, {
      volumes,
      expandPath: (expression) => expandedPath(request, expression),
      prepareSubPath: (part) => options.prepareSubPath(pod, part, signal),
      recursiveReadOnly: options.recursiveReadOnly(runtimeHandler),
    })),
    ...(await hostsMount(request, options)),
    ...(await terminationMount(request, options)),
  ];
  return options.selinux ? mounts : mounts.map((mount) => ({ ...mount, selinuxRelabel: false }));
}

/** Names without a value are an error: the path would be another one. */
function expandedPath({ container, environment }: MountsRequest, expression: string): string {
  const missing = new Set<string>();
  const lookUp = (name: string) => {
    const value = textOf(environment, name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  const path = expanded(expression, lookUp, pathLimit(container.name));
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`);
  return path;
}

async function hostsMount({ pod, container, podIPs }: MountsRequest, options: MountSettings): Promise<readonly Mount[]> {
  const isOnNode = pod.spec?.hostNetwork === true;
  if (podIPs.length === 0 && !isOnNode) return [];
  if (container.volumeMounts?.some(({ mountPath }) => mountPath === etcHosts)) return [];
  const content = isOnNode
    ? nodeHosts(pod, await readAtMost(options.hostsFile, mostHostsBytes))
    : managedHosts(pod, podIPs, podHostname(pod, options.clusterDomain));
  const hostPath = await writeHostsFile(options.rootDirectory, podUIDOf(pod), content);
  return [fileMount(etcHosts, hostPath)];
}

async function terminationMount(
  { pod, container }: MountsRequest,
  { rootDirectory, random }: MountSettings,
): Promise<readonly Mount[]> {
  const path = container.terminationMessagePath;
  if (!path) return [];
  const fileName = Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
  const hostPath = await makeTerminationLog(rootDirectory, podUIDOf(pod), container.name, fileName);
  return [fileMount(isAbsolute(path) ? path : join('/', path), hostPath)];
}

function fileMount(containerPath: string, hostPath: string): Mount {
  return { containerPath, hostPath, readonly: false, selinuxRelabel: true, propagation: 'private' };
}

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/** Part of a volume that a container is to see. */
export interface SubPathMount {
  readonly containerName: string;
  /** The place of the mount in the container's `volumeMounts`. */
  readonly index: number;
  readonly volume: MountedVolume;
  /** Inside the volume; relative, and without `..`. */
  readonly subPath: string;
  /** True: nobody writes through it. */
  readonly readonly: boolean;
}

/** What mounts are made with. */
export interface MountSources {
  readonly volumes: PodVolumes;
  /** A path expression with its variables replaced. */
  readonly expandPath: (expression: string) => string;
  /** Gives a path that leads nowhere else, whatever a container does to the volume meanwhile. */
  readonly prepareSubPath: (request: SubPathMount) => Promise<string>;
  /** True: the runtime can keep mounts below a mount from being written. */
  readonly recursiveReadOnly: boolean;
}

/** What a container sees of its pod's volumes, in the order of its `volumeMounts`. Rejects with {@link ContainerConfigError}. */
export async function volumeMounts(container: Container, sources: MountSources): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  // one after another: each sub path may make mounts of its own
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    mounts.push(await volumeMount(container, mount, index, sources));
  }
  return mounts;
}

async function volumeMount(container: Container, mount: VolumeMount, index: number, sources: MountSources): Promise<Mount> {
  const volume = sources.volumes.get(mount.name);
  if (volume === undefined || volume.devicePath !== undefined) {
    throw new ContainerConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
  }
  const subPath = requireSafe(mount.subPathExpr ? sources.expandPath(mount.subPathExpr) : (mount.subPath ?? ''));
  const readonly = mount.readOnly === true || volume.readonly;
  const isImage = volume.imageRef !== undefined;
  return {
    containerPath: isAbsolute(mount.mountPath) ? mount.mountPath : join('/', mount.mountPath),
    hostPath: isImage ? '' : await hostPath(container, mount, index, { volume, subPath, readonly }, sources),
    ...(volume.imageRef !== undefined && { image: volume.imageRef }),
    ...(isImage && subPath !== '' && { imageSubPath: subPath }),
    readonly,
    selinuxRelabel: volume.selinuxRelabel,
    propagation: propagationOf(mount),
    ...(isRecursiveReadOnly(mount, sources.recursiveReadOnly) && { recursiveReadOnly: true }),
  };
}

async function hostPath(
  container: Container,
  mount: VolumeMount,
  index: number,
  part: Pick<SubPathMount, 'volume' | 'subPath' | 'readonly'>,
  { prepareSubPath }: MountSources,
): Promise<string> {
  if (part.subPath === '') return part.volume.hostPath;
  try {
    return await prepareSubPath({ containerName: container.name, index, ...part });
  } catch (error) {
    if (error instanceof ContainerConfigError) throw error;
    // what else went wrong could tell a user of the node's files, so only the log gets it
    const message = `failed to prepare subPath for volumeMount "${mount.name}" of container "${container.name}"`;
    throw new ContainerConfigError(message, { cause: error });
  }
}

function requireSafe(subPath: string): string {
  if (subPath.startsWith('/')) throw new ContainerConfigError(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) {
    throw new ContainerConfigError(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  }
  return subPath;
}

function propagationOf({ mountPropagation }: VolumeMount): MountPropagation {
  if (mountPropagation === 'HostToContainer') return 'hostToContainer';
  if (mountPropagation === 'Bidirectional') return 'bidirectional';
  if (!mountPropagation || mountPropagation === 'None') return 'private';
  throw new ContainerConfigError(`invalid MountPropagation mode: "${mountPropagation}"`);
}

function isRecursiveReadOnly(
  { name, recursiveReadOnly, readOnly, mountPropagation }: VolumeMount,
  isSupported: boolean,
): boolean {
  if (!recursiveReadOnly || recursiveReadOnly === 'Disabled') return false;
  const refuse = (why: string): never => {
    throw new ContainerConfigError(
      `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode, but it is ${why}`,
    );
  };
  if (readOnly !== true) refuse('not read-only');
  if (mountPropagation && mountPropagation !== 'None') refuse(`not compatible with propagation "${mountPropagation}"`);
  if (recursiveReadOnly === 'IfPossible') return isSupported;
  if (recursiveReadOnly !== 'Enabled') {
    throw new ContainerConfigError(
      `failed to resolve recursive read-only mode: unknown recursive read-only mode "${recursiveReadOnly}"`,
    );
  }
  if (!isSupported) refuse('not supported by the runtime');
  return true;
}

/** Writes the file that the pod's containers see as `/etc/hosts`, and resolves with its path. A file that says the same stays. */
export async function writeHostsFile(rootDirectory: string, podUID: string, content: string): Promise<string> {
  const path = join(podFolder(rootDirectory, podUID), 'etc-hosts');
  if (await fileHasText(path, content)) return path;
  await makeFolders(dirname(path), 0o750);
  // in place: containers that run have this file mounted
  await writeFile(path, content, { mode: 0o644 });
  await chmod(path, 0o644);
  return path;
}

/** Makes an empty file that a container can write why it ends into, and resolves with its path. */
export async function makeTerminationLog(
  rootDirectory: string,
  podUID: string,
  containerName: string,
  fileName: string,
): Promise<string> {
  const folder = join(podFolder(rootDirectory, podUID), 'containers', containerName);
  await makeFolders(folder, 0o750);
  const path = join(folder, fileName);
  await writeFile(path, '', { flag: 'wx', mode: 0o666 });
  // whatever the process's umask is
  await chmod(path, 0o666);
  return path;
}
