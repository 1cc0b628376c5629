import { type Clock, sleep } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorCodeOf } from '../../base/errors.ts';
import { CgroupError } from './cgroup-error.ts';
import type { CgroupFiles } from './cgroup-files.ts';

const waits = { firstMs: 5, longestMs: 50 };
/** With the waits between them about two seconds. */
const mostTries = 44;

/**
 * Kills what is left in a group and in the groups below it, and removes them, the deepest first. `folders` are those of the group
 * in each hierarchy. The kernel needs a moment to let go of killed processes, so it is tried again for about two seconds; then it
 * rejects with a {@link CgroupError}.
 */
export async function removeGroup(folders: readonly string[], files: CgroupFiles, clock: Clock): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    let refused: unknown;
    for (const folder of folders) refused = (await removeTree(folder, files)) ?? refused;
    if (refused === undefined) return;
    if (tries >= mostTries) {
      throw new CgroupError(`cannot remove the cgroup ${folders[0] ?? ''}: it has processes that do not end`, { cause: refused });
    }
    await sleep(clock, nthDelayMs(tries, waits), new AbortController().signal);
  }
}

/** Resolves with what the kernel said where a folder stays. */
async function removeTree(folder: string, files: CgroupFiles): Promise<unknown> {
  const names = await files.foldersIn(folder);
  if (names === undefined) return undefined;
  let refused: unknown;
  for (const name of names) refused = (await removeTree(`${folder}/${name}`, files)) ?? refused;
  if (refused !== undefined) return refused;
  await killProcesses(folder, files);
  try {
    await files.removeFolder(folder);
    return undefined;
  } catch (error) {
    if (errorCodeOf(error) === 'EBUSY' || errorCodeOf(error) === 'ENOTEMPTY') return error;
    throw new CgroupError(`cannot remove ${folder}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function killProcesses(folder: string, files: CgroupFiles): Promise<void> {
  for (const line of ((await files.read(`${folder}/cgroup.procs`)) ?? '').split('\n')) {
    const pid = Number(line);
    // 0: a process that this namespace does not see; to the kernel it would mean the agent's own group
    if (Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid) files.kill(pid);
  }
}
