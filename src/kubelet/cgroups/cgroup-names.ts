// Behaviour of pkg/kubelet/cm/cgroup_manager_linux.go and pod_container_manager_linux.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isMirrorPod, isStaticPod } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass, type PodQOSClass } from '../../api/pod/pod-qos-class.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText, invalidArgument, invalidOption } from '../../base/errors.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';
import { CgroupError, type CgroupFiles } from './cgroup-files.ts';

/** Who makes cgroups: the agent itself, in the file system, or systemd. */
export type CgroupDriver = 'cgroupfs' | 'systemd';

/** A cgroup by the names of its parents and its own, such as `['kubepods', 'burstable', 'podA']`. None: the root. */
export type CgroupName = readonly string[];

const podPrefix = 'pod';
const sliceEnd = '.slice';
/** A uid becomes a folder's name, so that nothing may lead out of its parent. */
const safeUID = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;

/** The absolute path of a cgroup in each hierarchy: with systemd a slice in the slices of its parents. */
export function cgroupPath(name: CgroupName, driver: CgroupDriver): string {
  if (driver === 'cgroupfs') return `/${name.join('/')}`;
  const parts = name.map((part) => part.replaceAll('-', '_'));
  return `/${parts.map((_, index) => `${parts.slice(0, index + 1).join('-')}${sliceEnd}`).join('/')}`;
}

/**
 * The group that a path names; for systemd by the names of groups, or by those of their slices. Throws ERR_INVALID_OPTION for a path
 * of slices that are not inside one another.
 */
export function rootCgroup(path: string, driver: CgroupDriver): CgroupName {
  const parts = path.split('/').filter((part) => part !== '');
  if (driver === 'cgroupfs' || !parts.some((part) => part.endsWith(sliceEnd))) return parts;
  const last = parts.at(-1) ?? '';
  const name = last.slice(0, -sliceEnd.length).split('-');
  const slices = name.map((part) => part.replaceAll('_', '-'));
  if (last.endsWith(sliceEnd) && !name.includes('') && cgroupPath(slices, 'systemd') === `/${parts.join('/')}`) return slices;
  throw invalidOption('cgroupRoot', 'slices, each in the one that its name begins with, as in "/a.slice/a-b.slice"', path);
}

/** The group of all pods of a class: guaranteed ones stand right below the group of all pods. */
export function classCgroup(root: CgroupName, qosClass: PodQOSClass): CgroupName {
  const pods = [...root, 'kubepods'];
  return qosClass === 'Guaranteed' ? pods : [...pods, qosClass.toLowerCase()];
}

/** The absolute path of a group of the machine, by the name that its settings give it: with systemd that of a slice. */
export function namedCgroup(name: string, driver: CgroupDriver): string {
  const parts = name.split('/').filter((part) => part !== '');
  if (driver === 'cgroupfs') return cgroupPath(parts, driver);
  const slice = (parts.at(-1) ?? '').replace(/\.slice$/, '');
  return cgroupPath(
    slice.split('-').map((part) => part.replaceAll('_', '-')),
    driver,
  );
}

/** The group of one pod. Throws ERR_INVALID_ARGUMENT for a uid that is no name of a folder. */
export function podCgroup(root: CgroupName, podUID: string, qosClass: PodQOSClass): CgroupName {
  // no underscore: systemd's names turn hyphens into underscores, and back
  if (!safeUID.test(podUID)) throw invalidArgument('podUID', 'letters, digits, "-" and "."', podUID);
  return [...classCgroup(root, qosClass), `${podPrefix}${podUID}`];
}

/** The pod whose group has a folder of that name in the group of its class; undefined for any other folder. */
export function podOfFolder(folder: string, driver: CgroupDriver): string | undefined {
  const last = driver === 'systemd' ? sliceName(folder) : folder;
  const uid = last?.startsWith(podPrefix) ? last.slice(podPrefix.length) : '';
  return safeUID.test(uid) ? uid : undefined;
}

function sliceName(folder: string): string | undefined {
  if (!folder.endsWith(sliceEnd)) return undefined;
  return folder.slice(0, -sliceEnd.length).split('-').at(-1)?.replaceAll('_', '-');
}

/** The limits of a pod's group. */
export interface GroupResources extends LinuxContainerResources {
  /** The most processes. */
  readonly pidsLimit?: number;
}

/** What differs between the two versions of cgroups. Groups are named by their absolute path, the same in each hierarchy. */
export interface CgroupTree {
  readonly version: 1 | 2;
  /** The folders of a group, one in each hierarchy. */
  foldersOf(group: string): readonly string[];
  /** Those of the folders without which a group that somebody else has made is not there. */
  neededFoldersOf(group: string): readonly string[];
  /** Makes a group and its parents, so that each can be limited, and sets limits as `set` does. */
  make(group: string, resources?: GroupResources): Promise<void>;
  /** Sets limits; what is absent stays; -1 and 0 are no limit. */
  set(group: string, resources: GroupResources): Promise<void>;
  /** The limits that are in force; undefined where there is no such group. */
  get(group: string): Promise<LinuxContainerResources | undefined>;
  /** What the group takes; undefined where there is no such group. */
  usage(group: string, at: number): Promise<ResourceUsage | undefined>;
  /** Kills what is left in a group, and removes it, as `removeGroup` does. One that is not there is no error. */
  remove(group: string, clock: Clock): Promise<void>;
  /** Lets go of what is known of pods' groups right below this one that are not there, as after a crash. */
  forgetLost(group: string): Promise<void>;
  /** Lets go of connections. The next call opens one anew. */
  close(): void;
}

/** Does something with a file of a group, and names the file in what it rejects with. */
export async function inFile<T>(what: string, path: string, doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    throw failedTo(what, path, error);
  }
}

/** The error of what could not be done with a file or a folder. */
export function failedTo(what: string, path: string, error: unknown): CgroupError {
  return new CgroupError(`cannot ${what} ${path}: ${errorText(error)}`, { cause: error });
}

/** Writes one value. */
export function writeValue(files: CgroupFiles, path: string, value: number | string): Promise<void> {
  return inFile(`write ${value} to`, path, () => files.write(path, String(value)));
}

/** A file that holds one number; undefined where there is none, or no number in it. */
export async function readNumber(files: CgroupFiles, path: string): Promise<number | undefined> {
  return numberOf(await files.read(path));
}

/** A file of lines such as `name 7`. */
export async function readNumbers(files: CgroupFiles, path: string): Promise<ReadonlyMap<string, number>> {
  const numbers = new Map<string, number>();
  for (const line of ((await files.read(path)) ?? '').split('\n')) {
    const [name = '', text] = line.split(' ');
    const value = numberOf(text);
    if (value !== undefined) numbers.set(name, value);
  }
  return numbers;
}

function numberOf(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** `/a/b/c` is `/a`, `/a/b`, `/a/b/c`. */
export function withParents(group: string): readonly string[] {
  const parts = group.split('/').filter((part) => part !== '');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

/** Memory that cannot be taken back: all of it but files that nobody has used of late. */
export function workingSet(usage: number, inactiveFile: number): number {
  return Math.max(0, usage - inactiveFile);
}

// Behaviour of pkg/apis/core/v1/helper/qos GetPodQOS and pkg/kubelet/types IsNodeCriticalPod, v1.36.3.

/** The quality of service that the pod was given, or else the one that its spec gives it. */
export function qosClassOf({ spec, status }: Pod): PodQOSClass {
  const given = status?.qosClass;
  if (given === 'BestEffort' || given === 'Burstable' || given === 'Guaranteed') return given;
  return computePodQOSClass(spec);
}

/** The priority from which on a pod is critical. */
export const systemCritical = 2_000_000_000;

/** True for a pod that the node cannot do without. */
export function isNodeCritical(pod: Pod): boolean {
  if (pod.spec?.priorityClassName !== 'system-node-critical') return false;
  return isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= systemCritical;
}
