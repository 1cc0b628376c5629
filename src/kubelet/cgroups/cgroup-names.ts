// Behaviour of pkg/kubelet/cm/cgroup_manager_linux.go and pod_container_manager_linux.go, v1.36.3.

import type { PodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { invalidArgument } from '../../base/errors.ts';

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

/** The group of all pods of a class: guaranteed ones stand right below the group of all pods. */
export function classCgroup(root: CgroupName, qosClass: PodQOSClass): CgroupName {
  const pods = [...root, 'kubepods'];
  return qosClass === 'Guaranteed' ? pods : [...pods, qosClass.toLowerCase()];
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
