import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';

const folder = new URL('../results/', import.meta.url);

/** The machine on which the numbers were measured. */
export function machine(): object {
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version, platform: process.platform };
}

export async function writeResult(name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(new URL(name, folder), text.endsWith('\n') ? text : `${text}\n`);
}

/** A measured value and its limit. */
export interface Bar {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Why the committed figures miss this bar. A run that misses it does not fail, and one that meets it says so. */
  readonly knownMissed?: string;
}

function isMet({ value, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }: Bar): boolean {
  return value <= atMost && value >= atLeast;
}

/** Of a value that was not measured nothing is known. */
function fails(bar: Bar): boolean {
  return !isMet(bar) && (bar.knownMissed === undefined || Number.isNaN(bar.value));
}

function verdictOf(bar: Bar): string {
  if (fails(bar)) return 'NO';
  if (!isMet(bar)) return `no, as is known: ${bar.knownMissed}`;
  return bar.knownMissed === undefined ? 'yes' : 'yes, but it is listed as known to be missed';
}

/** Prints the bars. The process then ends with 1 when a bar is missed that is not known to be missed. */
export function printBars(bars: readonly Bar[]): void {
  const rows = bars.map((bar) => ({
    bar: bar.what,
    measured: Number(bar.value.toPrecision(3)),
    wanted: bar.atMost === undefined ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`,
    met: verdictOf(bar),
  }));
  console.table(rows);
  if (bars.some(fails)) process.exitCode = 1;
}
