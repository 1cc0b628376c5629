import { readFile } from 'node:fs/promises';

/** What several processes have taken together. */
export interface ProcessesUsage {
  /** Processor time so far, in seconds: Linux counts it in hundredths. */
  readonly cpuSeconds: number;
  /** Resident memory now; pages that the processes share count once for each. */
  readonly rssMiB: number;
  /** The same, where a page that n processes share counts an n-th for each. */
  readonly pssMiB: number;
}

export async function usageOfAll(pids: readonly number[]): Promise<ProcessesUsage> {
  const each = await Promise.all(pids.map(usageOfOne));
  const sum = (name: keyof ProcessesUsage): number => each.reduce((total, usage) => total + usage[name], 0);
  return { cpuSeconds: sum('cpuSeconds'), rssMiB: sum('rssMiB'), pssMiB: sum('pssMiB') };
}

async function usageOfOne(pid: number): Promise<ProcessesUsage> {
  const [stat, rollup] = await Promise.all(['stat', 'smaps_rollup'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')));
  // the name of a process may hold blanks and brackets, so fields are counted from the last bracket
  const fields = (stat ?? '').replace(/^.*\) /s, '').split(' ');
  const mebibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup ?? '')?.[1]) / 1024;
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100, rssMiB: mebibytes('Rss'), pssMiB: mebibytes('Pss') };
}
