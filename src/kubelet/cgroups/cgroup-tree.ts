import type { LinuxContainerResources } from '../runtime/linux-resources.ts';
import type { ResourceUsage } from '../runtime/runtime-stats.ts';
import { CgroupError } from './cgroup-error.ts';
import type { CgroupFiles } from './cgroup-files.ts';

/** The limits of a pod's group. */
export interface GroupResources extends LinuxContainerResources {
  /** The most processes. */
  readonly pidsLimit?: number;
}

/** What differs between the two versions of cgroups. Groups are named by their absolute path, the same in each hierarchy. */
export interface CgroupTree {
  /** The version. */
  readonly version: 1 | 2;
  /** The folders of a group, one in each hierarchy. */
  foldersOf(group: string): readonly string[];
  /** Makes a group and its parents, so that each can be limited. */
  make(group: string): Promise<void>;
  /** Sets limits; what is absent stays; -1 and 0 are no limit. */
  set(group: string, resources: GroupResources): Promise<void>;
  /** The limits that are in force; undefined where there is no such group. */
  get(group: string): Promise<LinuxContainerResources | undefined>;
  /** What the group takes; undefined where there is no such group. */
  usage(group: string, at: number): Promise<ResourceUsage | undefined>;
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
  const why = error instanceof Error ? error.message : String(error);
  return new CgroupError(`cannot ${what} ${path}: ${why}`, { cause: error });
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
