import { median, rounded } from '../support/statistics.ts';
import { run, type Server } from './compare.ts';

const widths = [1, 4, 8, 16, 32] as const;
/** The default, with which the others are compared. */
const defaultWidth = 16;

export interface Width {
  readonly concurrency: number;
  /** Medians over the rounds. */
  readonly seconds: number;
  readonly cpuMsAnUpdate: number;
  /** Median of the ratios of seconds within one round. */
  readonly toDefault: number;
}

/** Measures a storm with each width: so many pods at once, over as many sockets. It shows which default is best. */
export async function compareWidths(server: Server, pods: number, rounds: number): Promise<Width[]> {
  const runs = widths.map((): { seconds: number; cpuMsAnUpdate: number }[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, concurrency] of widths.entries()) {
      runs[index]?.push(await run(server, 'ours', { mode: 'manager', pods, repeats: 3, concurrency }));
    }
    process.stderr.write(`concurrency: round ${round + 1} of ${rounds}\n`);
  }
  const byDefault = runs[widths.indexOf(defaultWidth)] ?? [];
  return widths.map((concurrency, index) => {
    const own = runs[index] ?? [];
    return {
      concurrency,
      seconds: rounded(median(own.map(({ seconds }) => seconds))),
      cpuMsAnUpdate: rounded(median(own.map(({ cpuMsAnUpdate }) => cpuMsAnUpdate))),
      toDefault: rounded(median(own.map(({ seconds }, round) => seconds / (byDefault[round]?.seconds ?? Number.NaN)))),
    };
  });
}
