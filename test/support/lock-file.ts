import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './is-alive.ts';

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(`${process.pid}\n`);
    await file.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

export interface LockOptions {
  /** Called once, when another live process has the lock. */
  readonly onWait?: (holderPid: number) => void;
  readonly pollMs?: number;
}

/**
 * Runs `work` while holding the lock file at `path`. It takes over the lock of a process that died. This is no mutual
 * exclusion: two callers may take over a dead lock at the same moment, so `work` must be harmless when done twice.
 */
export async function withLockFile<T>(
  path: string,
  work: () => Promise<T>,
  { onWait, pollMs = 500 }: LockOptions = {},
): Promise<T> {
  let waiting = false;
  let unreadable = 0;
  while (!(await tryLock(path))) {
    const holder = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
    // A lock without a pid is being written, or its writer died meanwhile: read it a few times more.
    unreadable = Number.isNaN(holder) ? unreadable + 1 : 0;
    if (unreadable > 5 || (unreadable === 0 && !isAlive(holder))) {
      await rm(path, { force: true });
      continue;
    }
    if (!waiting && unreadable === 0) {
      waiting = true;
      onWait?.(holder);
    }
    await delay(pollMs);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}
