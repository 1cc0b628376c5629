import { readdir, readFile } from 'node:fs/promises';

/** What an agent's processes have taken. */
export interface Usage {
  /** Processor time of the processes and of the children that they have waited for, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory now, in MiB. */
  readonly memoryMiB: number;
}

const ticksASecond = 100;

interface ProcessRow {
  readonly parent: number;
  readonly ticks: number;
}

/** The process and everything below it, by the parents that /proc names. */
export async function usageOf(pid: number): Promise<Usage> {
  const rows = await processes();
  const family = new Set([pid]);
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const [id, { parent }] of rows) if (family.has(parent)) family.add(id);
  }
  let ticks = 0;
  let kibibytes = 0;
  for (const id of family) {
    ticks += rows.get(id)?.ticks ?? 0;
    kibibytes += await residentKiB(id);
  }
  return { cpuSeconds: ticks / ticksASecond, memoryMiB: kibibytes / 1024 };
}

async function processes(): Promise<Map<number, ProcessRow>> {
  const rows = new Map<number, ProcessRow>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const row = parseStat(stat);
    if (row !== undefined) rows.set(Number(name), row);
  }
  return rows;
}

/** The name of a process may hold blanks and brackets, so fields are counted from the last bracket. */
function parseStat(stat: string): ProcessRow | undefined {
  const end = stat.lastIndexOf(') ');
  if (end < 0) return undefined;
  const fields = stat.slice(end + 2).split(' ');
  const sum = [11, 12, 13, 14].reduce((total, index) => total + Number(fields[index]), 0);
  return { parent: Number(fields[1]), ticks: sum };
}

async function residentKiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
