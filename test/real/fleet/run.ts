// `npm run test:fleet-faults -- --minutes 60 --seed 1`: a fleet of processes on two kube-apiservers over one etcd; members are
// killed, stopped, paused and cut off, servers killed and paused, while pods come, go and change. Exits with 1 on any damage.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isSound, renderFleetReport } from './fault-report.ts';
import { runFleetFaults } from './fleet-faults.ts';

const help = `Usage: npm run test:fleet-faults -- [options]
  --minutes M   how long faults happen (default 5)
  --seed S      picks faults, pods and changes; the same again for the same seed (default: another one each time)
  --faults N    how many faults (default: 100 an hour, and 20 at least)
  --nodes N     default 60
  --shards N    default 16
  --lease MS    how long a Lease lasts; its other times follow (default 15000)
  --out FOLDER  keeps the members' logs and the record there`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    faults: { type: 'string' },
    nodes: { type: 'string', default: '60' },
    shards: { type: 'string', default: '16' },
    lease: { type: 'string', default: '15000' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function number(name: 'minutes' | 'seed' | 'nodes' | 'shards' | 'lease' | 'faults', text: string): number {
  const value = Number(text);
  if (text === '' || !(value >= 0)) throw new Error(`--${name} must be a number, got "${text}"`);
  return value;
}

async function main(): Promise<number> {
  const { out } = values;
  const minutes = number('minutes', values.minutes);
  const faults = values.faults === undefined ? Math.max(20, Math.round((minutes * 100) / 60)) : number('faults', values.faults);
  const options = {
    minutes,
    faults,
    seed: number('seed', values.seed),
    nodes: number('nodes', values.nodes),
    shards: number('shards', values.shards),
    leaseDurationMs: number('lease', values.lease),
    log: (line: string) => console.error(line),
  };
  if (out !== undefined) await mkdir(out, { recursive: true });
  const report = await runFleetFaults(options, async ({ dir }) => {
    if (out !== undefined) await cp(dir, join(out, 'members'), { recursive: true });
  });
  if (out !== undefined) await writeFile(join(out, 'record.json'), JSON.stringify(report.record));
  console.log(renderFleetReport(report));
  return isSound(report) ? 0 : 1;
}

if (values.help) console.log(help);
else process.exitCode = await main();
