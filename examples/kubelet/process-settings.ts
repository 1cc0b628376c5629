// What the file says of the process of the agent itself.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ConfigError } from './config-values.ts';
import { ownDefaults } from './told-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A field that the process does not follow, and why. */
export interface Undone {
  readonly field: string;
  readonly why: string;
}

/**
 * Has the kernel end this process later than others where memory runs out, and lets it open so many files. Returns what could not be
 * done, which is no reason not to start, as for a kubelet. Throws a {@link ConfigError} for a number that the kernel does not know.
 */
export async function applyToProcess(own: Fields, pid: number = process.pid): Promise<readonly Undone[]> {
  const { oomScoreAdj, maxOpenFiles } = { ...ownDefaults, ...own };
  if (typeof oomScoreAdj !== 'number' || oomScoreAdj < -1000 || oomScoreAdj > 1000) {
    throw new ConfigError(`oomScoreAdj must be an integer from -1000 to 1000, got ${JSON.stringify(oomScoreAdj)}`);
  }
  if (typeof maxOpenFiles !== 'number' || maxOpenFiles < 1) {
    throw new ConfigError(`maxOpenFiles must be an integer of 1 or more, got ${JSON.stringify(maxOpenFiles)}`);
  }
  const undone = [
    await failureOf('oomScoreAdj', 'set OOMScoreAdjust= in the unit', () => setOomScore(pid, oomScoreAdj)),
    await failureOf('maxOpenFiles', 'set LimitNOFILE= in the unit', () => setOpenFiles(pid, maxOpenFiles)),
  ];
  return undone.filter((each) => each !== undefined);
}

async function failureOf(field: string, help: string, act: () => Promise<void>): Promise<Undone | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-2);
    return { field, why: `${field} could not be followed, ${help}: ${why.trim()}` };
  }
}

/** A process without the right to lower it needs none where it has the value already. */
async function setOomScore(pid: number, score: number): Promise<void> {
  const path = `/proc/${pid}/oom_score_adj`;
  if (Number(await readFile(path, 'utf8')) !== score) await writeFile(path, String(score));
}

/** Node.js cannot set limits of its own: the program `prlimit` of util-linux does. */
async function setOpenFiles(pid: number, files: number): Promise<void> {
  await promisify(execFile)('prlimit', ['--pid', String(pid), `--nofile=${files}:${files}`], { timeout: 10_000 });
}
