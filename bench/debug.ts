// npm run bench:debug [-- --rounds 3 --pods 10000 --changes 1000 --seconds 8]
// Measures what the debug handler costs a manager: without it, with it and no reader, and with readers of its stream of changes.
// Each mode runs in a process of its own, one after another in each round; the readers run in processes of their own, too.
import { parseArgs } from 'node:util';
import { machine, writeResult } from './support/results.ts';
import { runScript } from './support/run-json.ts';
import { median, rounded } from './support/statistics.ts';

interface Measurement {
  readonly cpuPercent: number;
  readonly usAChange: number;
  readonly heapMB: number;
  readonly longestTurnMs: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pods: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '8' },
  },
});
const [rounds, pods, changes, seconds] = [values.rounds, values.pods, values.changes, values.seconds].map(Number);

/** What the worker is told, and what that means. */
const modes = new Map([
  ['bare', 'no handler'],
  ['recorded', 'handler, no reader'],
  ['1', 'handler, 1 reader'],
  ['8', 'handler, 8 readers'],
]);
const all: Record<string, Measurement[]> = {};
for (let round = 0; round < (rounds ?? 0); round++) {
  for (const mode of modes.keys()) {
    const measured = await runScript<Measurement>('debug/worker.ts', [mode, pods ?? 0, changes ?? 0, seconds ?? 0]);
    all[mode] = [...(all[mode] ?? []), measured];
  }
}

function medianOf(mode: string, figure: keyof Measurement): number {
  return median((all[mode] ?? []).map((one) => one[figure]));
}

/** The median of the differences from the bare run of the same round. */
function more(mode: string, figure: keyof Measurement): number {
  return median((all[mode] ?? []).map((one, round) => one[figure] - (all.bare?.[round]?.[figure] ?? 0)));
}

const rows = Array.from(modes, ([mode, what]) => ({
  mode: what,
  'CPU %': rounded(medianOf(mode, 'cpuPercent')),
  'more CPU %': rounded(more(mode, 'cpuPercent')),
  'more us a change': rounded(more(mode, 'usAChange')),
  'heap MB': rounded(medianOf(mode, 'heapMB')),
  'more MB': rounded(more(mode, 'heapMB')),
  'longest turn ms': rounded(medianOf(mode, 'longestTurnMs')),
}));
console.log(`${pods} pods, ${changes} changes a second, ${rounds} rounds of ${seconds} s; CPU in percent of one core`);
console.table(rows);
await writeResult('debug.json', JSON.stringify({ machine: machine(), pods, changes, rounds, seconds, rows }, undefined, 2));
