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
}

function isMet({ value, atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }: Bar): boolean {
  return value <= atMost && value >= atLeast;
}

export function printBars(bars: readonly Bar[]): void {
  const rows = bars.map((bar) => ({
    bar: bar.what,
    measured: Number(bar.value.toPrecision(3)),
    wanted: bar.atMost === undefined ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`,
    met: isMet(bar) ? 'yes' : 'NO',
  }));
  console.table(rows);
}
