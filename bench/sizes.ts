// npm run bench:sizes [-- --rounds 15 --only scheduler]
// Inputs whose size others choose, as large as they get through: the longest turn, how it grows, and what is held of them.
import { parseArgs } from 'node:util';
import { measureKinds } from './sizes/kind-rows.ts';
import { manifestRows } from './sizes/manifest-rows.ts';
import { measure, type Row } from './sizes/measure.ts';
import { placementRows } from './sizes/placement-rows.ts';
import { startRows } from './sizes/start-rows.ts';
import { statusRows } from './sizes/status-rows.ts';
import { wireRows } from './sizes/wire-rows.ts';
import { rounded } from './support/statistics.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' }, only: { type: 'string', default: '' } } });
const rounds = Number(values.rounds);

const inputs = [...statusRows, ...startRows, ...placementRows, ...wireRows, ...manifestRows];
const rows: Row[] = [];
for (const input of inputs) {
  if (!input.input.includes(values.only)) continue;
  rows.push(await measure(input, rounds));
}
const kinds = 'pods of each kind'.includes(values.only) ? measureKinds(rounds) : [];

/** What one turn may take, in milliseconds. */
const mostMs = 50;
/** 4 is linear. Small sizes profit from caches, and large ones pay the collector. */
const mostGrowth = 8;

const shown = (value: number | undefined): number | string => (value === undefined ? '-' : rounded(value));
console.log(
  `${rounds} rounds; milliseconds of the longest turn, in processor time of the thread; growth from a quarter to the whole`,
);
if (rows.length > 0)
  console.table(
    rows.map(({ input, count, bytes, ms: [quarter, half, whole], worstMs, growth, heldPerByte }) => ({
      input,
      count,
      KB: rounded(bytes / 1000),
      'at 1/4': rounded(quarter),
      'at 1/2': rounded(half),
      whole: rounded(whole),
      worst: rounded(worstMs),
      growth: shown(growth),
      'held a byte': shown(heldPerByte),
    })),
  );
if (kinds.length > 0)
  console.table(
    kinds.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, isText(value) ? value : rounded(value)])),
    ),
  );
for (const { input, ms } of rows) if (ms[2] > mostMs) console.log(`over ${mostMs} ms: ${input}`);
for (const { input, growth = 0 } of rows) if (growth > mostGrowth) console.log(`grows by more than its size: ${input}`);
// a manager of a benchmark may still have a timer
process.exit();

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
