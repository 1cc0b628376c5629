import { readdirSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { type Clock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorCodeOf, errorText, ifCode, StatusManagerError } from '../../base/errors.ts';

/** The file system of the kernel's cgroups. What is said of a path holds for each path. */
export interface CgroupFiles {
  /** The text of a file; undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Writes a file that the kernel has made. Rejects with what the kernel says. */
  write(path: string, text: string): Promise<void>;
  /** Makes a folder whose parent is there. One that is there already is no error. */
  makeFolder(path: string): Promise<void>;
  /** Removes a folder that has no folders in it. One that is not there is no error. */
  removeFolder(path: string): Promise<void>;
  /** The names of the folders in a folder; undefined where there is none. */
  foldersIn(path: string): Promise<readonly string[] | undefined>;
  /** Ends a process at once. One that has ended is no error. */
  kill(pid: number): void;
}

/** The machine's own. */
export const kernelCgroupFiles: CgroupFiles = {
  read: (path) => orUndefined(readFile(path, 'utf8')),
  // no new file: a name that the kernel does not have is an error
  write: (path, text) => writeFile(path, text, { flag: 'r+' }),
  makeFolder: (path) => mkdir(path, 0o755).catch(ifCode('EEXIST')),
  removeFolder: (path) => rmdir(path).catch(ifCode('ENOENT')),
  foldersIn: (path) => orUndefined(listFolders(path)),
  kill: (pid) => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (errorCodeOf(error) !== 'ESRCH') throw error;
    }
  },
};

/** The kernel counts a folder's folders as its links. */
const mostLinksAtOnce = 500;

/**
 * A pod has dozens of these folders, and the kernel has them in memory: to list one takes less than to hand it to a thread, unless
 * somebody has made very many.
 */
async function listFolders(path: string): Promise<readonly string[]> {
  const isSmall = statSync(path).nlink <= mostLinksAtOnce;
  const entries = isSmall ? readdirSync(path, { withFileTypes: true }) : await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = errorCodeOf(error);
    // a group can go while it is read
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

const waits = { firstMs: 5, longestMs: 50 };
/** With the waits between them about two seconds. */
const mostTries = 44;

/**
 * Kills what is left in a group and in the groups below it, and removes them, the deepest first. `folders` are those of the group
 * in each hierarchy. The kernel needs a moment to let go of killed processes, so it is tried again for about two seconds; then it
 * rejects with a {@link CgroupError}.
 */
export function removeGroup(folders: readonly string[], files: CgroupFiles, clock: Clock): Promise<void> {
  return inSomeTries(folders, clock, (folder) => removeTree(folder, files));
}

/** Kills what is left in a group and in the groups below it, until there is nothing left. It rejects as {@link removeGroup}. */
export function endProcesses(folders: readonly string[], files: CgroupFiles, clock: Clock): Promise<void> {
  return inSomeTries(folders, clock, (folder) => killTree(folder, files));
}

/** True where the agent itself, or the first process of all, is in a group or in the groups below it. */
export async function holdsAgent(folders: readonly string[], files: CgroupFiles): Promise<boolean> {
  for (const folder of folders) {
    const pids = ((await files.read(`${folder}/cgroup.procs`)) ?? '').split('\n').map(Number);
    if (pids.includes(process.pid) || pids.includes(1)) return true;
    const below = ((await files.foldersIn(folder)) ?? []).map((name) => `${folder}/${name}`);
    if (await holdsAgent(below, files)) return true;
  }
  return false;
}

/** `trial` resolves with what is in the way of a folder; undefined: nothing. */
async function inSomeTries(folders: readonly string[], clock: Clock, trial: (folder: string) => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    let refused: unknown;
    for (const folder of folders) refused = (await trial(folder)) ?? refused;
    if (refused === undefined) return;
    if (tries >= mostTries) {
      throw new CgroupError(`cannot remove the cgroup ${folders[0] ?? ''}: it has processes that do not end`, { cause: refused });
    }
    await sleep(clock, nthDelayMs(tries, waits), new AbortController().signal);
  }
}

/** Resolves with the processes that were there. */
async function killTree(folder: string, files: CgroupFiles): Promise<string | undefined> {
  let found: string | undefined;
  for (const name of (await files.foldersIn(folder)) ?? []) found = (await killTree(`${folder}/${name}`, files)) ?? found;
  return (await killProcesses(folder, files)) || found;
}

/** Resolves with what the kernel said where a folder stays. */
async function removeTree(folder: string, files: CgroupFiles): Promise<unknown> {
  const names = await files.foldersIn(folder);
  if (names === undefined) return undefined;
  let refused: unknown;
  for (const name of names) refused = (await removeTree(`${folder}/${name}`, files)) ?? refused;
  if (refused !== undefined) return refused;
  try {
    // the kernel removes no group that has processes
    await files.removeFolder(folder);
    return undefined;
  } catch (error) {
    if (errorCodeOf(error) !== 'EBUSY' && errorCodeOf(error) !== 'ENOTEMPTY') {
      throw new CgroupError(`cannot remove ${folder}: ${errorText(error)}`, { cause: error });
    }
    await killProcesses(folder, files);
    return error;
  }
}

/** Resolves with the processes that were there, one a line; empty for none. */
async function killProcesses(folder: string, files: CgroupFiles): Promise<string> {
  const processes = ((await files.read(`${folder}/cgroup.procs`)) ?? '').trim();
  for (const line of processes.split('\n')) {
    const pid = Number(line);
    // 0: a process that this namespace does not see; to the kernel it would mean the agent's own group
    if (Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid) files.kill(pid);
  }
  return processes;
}

// Behaviour of pkg/kubelet/cm/helpers_linux.go and cgroup_v2_manager_linux.go, v1.36.3. The kernel's smallest and largest
// numbers stand in its kernel/sched.

/** The fewest shares of processor time. */
export const minShares = 2;
const maxShares = 262_144;
const sharesOfOneProcessor = 1024;
const minQuotaUs = 1000;

/** The relative weight of so many thousandths of a processor, as cgroup v1 counts it. */
export function sharesOf(milliCPU: number): number {
  return Math.min(maxShares, Math.max(minShares, Math.trunc((milliCPU * sharesOfOneProcessor) / 1000)));
}

/** Microseconds of processor time in a period, for so many thousandths of a processor. 0, for no limit, stays 0. */
export function quotaOf(milliCPU: number, periodUs: number): number {
  return milliCPU === 0 ? 0 : Math.max(minQuotaUs, Math.trunc((milliCPU * periodUs) / 1000));
}

/** Thousandths of a processor behind so many shares, rounded up; 0 for fewer than the kernel takes. */
export function milliCPUOfShares(shares: number): number {
  return shares < minShares ? 0 : Math.ceil((shares * 1000) / sharesOfOneProcessor);
}

/** Thousandths of a processor behind a quota; 0 for no limit. */
export function milliCPUOfQuota(quotaUs: number, periodUs: number): number {
  return quotaUs < 0 || periodUs <= 0 ? 0 : Math.trunc((quotaUs * 1000) / periodUs);
}

/** Shares as cgroup v2 counts them: from 1 to 10,000. */
export function weightOf(shares: number): number {
  return shares >= maxShares ? 10_000 : 1 + Math.trunc((Math.max(0, shares - minShares) * 9999) / 262_142);
}

/** The shares behind a weight of cgroup v2. */
export function sharesOfWeight(weight: number): number {
  return Math.trunc(((weight - 1) * 262_142) / 9999) + minShares;
}

/**
 * A cgroup could not be made, changed or removed; code ERR_CGROUP. The message names the folder or the file; `cause` is what the kernel said.
 *
 * @example
 * ```ts
 * import { CgroupError } from 'pod-status-manager/kubelet';
 *
 * const error = new CgroupError('cannot write 1024 to /sys/fs/cgroup/cpu/kubepods/cpu.shares: EINVAL');
 * console.log(error.name); // CgroupError
 * ```
 */
export class CgroupError extends StatusManagerError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_CGROUP', message, options);
    this.name = 'CgroupError';
  }
}
