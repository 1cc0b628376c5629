// `npm run test:storage-faults -- --nodes 100 --pods 1000 --kills 10 --pauses 2 --seed 1`: schedulers in processes of their own place pods with claims,
// and the leader is killed, or stands still, again and again. Exits with 1 on any damage.
import { parseArgs } from 'node:util';
import { runStorageFaults } from './storage-faults.ts';
import { areClaimsSound, renderStorageReport } from './storage-report.ts';

const help = `Usage: npm run test:storage-faults -- [options]
  --nodes N     default 10
  --pods N      default 60; each tenth one has two claims
  --kills N     how often the leader is killed (default 2)
  --pauses N    how often it stands still until another one leads, and then goes on (default 1)
  --seed S      says when (default: another one each time)
  --broken HOW  something is wrong on purpose, and has to be found: blind (schedulers that wait for no Lease, and change objects whatever
                version they have), twice (two volumes are made for a claim). With rash (schedulers that wait for no Lease) two of them
                may take two volumes for one claim; no pod may be bound out of the reach of its volume all the same`;

const faults = ['rash', 'blind', 'twice'] as const;
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10' },
    pods: { type: 'string', default: '60' },
    kills: { type: 'string', default: '2' },
    pauses: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    broken: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function number(name: 'nodes' | 'pods' | 'kills' | 'pauses' | 'seed'): number {
  const value = Number(values[name]);
  if (values[name] === '' || !Number.isInteger(value) || value < 0)
    throw new Error(`--${name} must be a whole number, got "${values[name]}"`);
  return value;
}

async function main(): Promise<number> {
  const broken = faults.find((one) => one === values.broken);
  if (values.broken !== broken) throw new Error(`--broken must be one of ${faults.join(', ')}, got "${values.broken}"`);
  const began = performance.now();
  const log = (line: string): void => console.error(`${((performance.now() - began) / 1000).toFixed(1)} s: ${line}`);
  const size = { nodes: number('nodes'), pods: number('pods'), kills: number('kills'), pauses: number('pauses') };
  const report = await runStorageFaults({ ...size, seed: number('seed'), broken, log });
  console.log(renderStorageReport(report));
  return areClaimsSound(report) ? 0 : 1;
}

if (values.help) console.log(help);
else process.exitCode = await main();
