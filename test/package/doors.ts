// `npm run doors`: each door of the built package with its bytes and the time that an import takes, as a table.
// The times are those of fresh processes of this Node, one at a time, the doors in turn: the median, and the shortest, which
// says more on a busy machine.
import { execFile } from 'node:child_process';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../structure/source-tree.ts';
import { type DoorSize, doorSizes } from './door-sizes.ts';

const rounds = 15;

/** How long a fresh process takes to import a door, in milliseconds, its start not counted. */
async function importMs(door: string): Promise<number> {
  const name = posix.join('pod-status-manager', door);
  const code = `const start = performance.now(); await import('${name}'); console.log(performance.now() - start);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { cwd: root });
  return Number(stdout);
}

/** The median and the smallest, rounded. */
function summary(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} | ${sorted[0]}`;
}

async function importTimes(sizes: readonly DoorSize[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(sizes.map(({ door }) => [door, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [door, list] of times) list.push(await importMs(door));
  }
  return times;
}

const sizes = await doorSizes(root);
const times = await importTimes(sizes);
const lines = sizes.map(({ door, files, own, withDependencies }) => {
  const name = posix.join('pod-status-manager', door);
  return `| \`${name}\` | ${files} | ${own} | ${withDependencies} | ${summary(times.get(door) ?? [])} |`;
});
console.log(`Node ${process.version}, ${rounds} fresh processes a door. Bytes are minified and gzipped.\n`);
console.log('| door | files | bytes | bytes with dependencies | import ms, median | shortest |\n|---|---|---|---|---|---|');
console.log(lines.join('\n'));
