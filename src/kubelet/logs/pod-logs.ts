import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';

/** Removes the folders of log files, named `NAMESPACE_NAME_UID`, of pods that are gone. Other folders stay. */
export async function removePodLogs(folder: string, isGone: (podUID: string) => boolean, logger: Logger): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    const parts = name.split('_');
    const [podNamespace, podName, podUID] = parts;
    if (parts.length !== 3 || !podUID || !isGone(podUID)) continue;
    try {
      await rm(join(folder, name), { recursive: true, force: true });
    } catch (err) {
      logger.warn({ err, podNamespace, podName, podUID }, 'the log files of a pod that is gone could not be removed');
    }
  }
}

/** The highest number of a log file such as `3.log` or `3.log.20260101-000000`; -1 where there is none. */
export async function lastLogNumber(folder: string): Promise<number> {
  const names = await readdir(folder).catch((): string[] => []);
  return Math.max(-1, ...names.map((name) => Number(/^(\d{1,9})\.log/.exec(name)?.[1] ?? -1)));
}

/** Removes the log of a container and all that was rotated from it. What is not there is no error. */
export async function removeContainerLogs(path: string): Promise<void> {
  for (const name of await logFilesBeside(path)) await rm(join(dirname(path), name), { force: true });
  await rm(path, { force: true });
}

/** The names of the files beside a log that begin with its name and a dot. */
export async function logFilesBeside(path: string): Promise<readonly string[]> {
  const start = `${basename(path)}.`;
  try {
    return (await readdir(dirname(path))).filter((name) => name.startsWith(start));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
