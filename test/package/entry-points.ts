// `npm run entry-points`: each entry point of the built package with its bytes and the time that an import takes, as a table.
// The times are those of fresh processes of this Node, one at a time, the entry points in turn: the median, and the shortest,
// which says more on a busy machine.
import { execFile } from 'node:child_process';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../structure/source-tree.ts';
import { type EntryPointSize, entryPointSizes } from './entry-point-sizes.ts';

const rounds = 15;

/** How long a fresh process takes to import an entry point, in milliseconds, its start not counted. */
async function importMs(entryPoint: string): Promise<number> {
  const name = posix.join('pod-status-manager', entryPoint);
  const code = `const start = performance.now(); await import('${name}'); console.log(performance.now() - start);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { cwd: root });
  return Number(stdout);
}

/** The median and the smallest, rounded. */
function summary(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} | ${sorted[0]}`;
}

async function importTimes(sizes: readonly EntryPointSize[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(sizes.map(({ entryPoint }) => [entryPoint, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [entryPoint, list] of times) list.push(await importMs(entryPoint));
  }
  return times;
}

const sizes = await entryPointSizes(root);
const times = await importTimes(sizes);
const lines = sizes.map(({ entryPoint, files, own, withDependencies }) => {
  const name = posix.join('pod-status-manager', entryPoint);
  return `| \`${name}\` | ${files} | ${own} | ${withDependencies} | ${summary(times.get(entryPoint) ?? [])} |`;
});
console.log(`Node ${process.version}, ${rounds} fresh processes for each entry point. Bytes are minified and gzipped.\n`);
console.log(
  '| entry point | files | bytes | bytes with dependencies | import ms, median | shortest |\n|---|---|---|---|---|---|',
);
console.log(lines.join('\n'));
