import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../base/logging/logger.ts';

/** Removes the folders of log files, named `NAMESPACE_NAME_UID`, of pods that are gone. Other folders stay. */
export async function removePodLogs(folder: string, isGone: (podUID: string) => boolean, logger: Logger): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const name of names) {
    const parts = name.split('_');
    const podUID = parts[2];
    if (parts.length !== 3 || !podUID || !isGone(podUID)) continue;
    try {
      await rm(path.join(folder, name), { recursive: true, force: true });
    } catch (err) {
      logger.warn({ err, podUID }, 'the log files of a pod that is gone could not be removed');
    }
  }
}

/** The highest number of a log file such as `3.log` or `3.log.20260101-000000`; -1 where there is none. */
export async function lastLogNumber(folder: string): Promise<number> {
  const names = await readdir(folder).catch((): string[] => []);
  return Math.max(-1, ...names.map((name) => Number(/^(\d{1,9})\.log/.exec(name)?.[1] ?? -1)));
}
