// `npm run test:fleet-faults -- --minutes 60 --faults 100 --seed 1`: a fleet of processes on two kube-apiservers over one etcd; members are
// killed, stopped, paused and cut off, servers killed and paused, while pods come, go and change. Exits with 1 on any damage.
// SIGTERM and Ctrl-C end the faults early; what has happened by then is judged.
import { appendFileSync } from 'node:fs';
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
  --changes N   how many statuses change a second (default 10); a third as many pods come or go
  --lease MS    how long a Lease lasts; its other times follow (default 15000)
  --out FOLDER  keeps the members' logs, the record, what happens (progress.log, while it runs) and the report there
SIGTERM or Ctrl-C ends the faults early; what has happened by then is judged.`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    faults: { type: 'string' },
    nodes: { type: 'string', default: '60' },
    shards: { type: 'string', default: '16' },
    changes: { type: 'string', default: '10' },
    lease: { type: 'string', default: '15000' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

function number(name: 'minutes' | 'seed' | 'nodes' | 'shards' | 'changes' | 'lease' | 'faults', text: string): number {
  const value = Number(text);
  if (text === '' || !(value >= 0)) throw new Error(`--${name} must be a number, got "${text}"`);
  return value;
}

async function main(): Promise<number> {
  const { out } = values;
  const minutes = number('minutes', values.minutes);
  const faults = values.faults === undefined ? Math.max(20, Math.round((minutes * 100) / 60)) : number('faults', values.faults);
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort());
  const log = (line: string): void => {
    const said = `${new Date().toISOString()} ${line}`;
    console.error(said);
    if (out !== undefined) appendFileSync(join(out, 'progress.log'), `${said}\n`);
  };
  const options = {
    minutes,
    faults,
    seed: number('seed', values.seed),
    nodes: number('nodes', values.nodes),
    shards: number('shards', values.shards),
    changes: number('changes', values.changes),
    leaseDurationMs: number('lease', values.lease),
    log,
    signal: end.signal,
  };
  if (out !== undefined) await mkdir(out, { recursive: true });
  const report = await runFleetFaults(options, async ({ dir }) => {
    if (out !== undefined) await cp(dir, join(out, 'members'), { recursive: true });
  });
  if (out !== undefined) await writeFile(join(out, 'record.json'), JSON.stringify(report.record));
  const rendered = renderFleetReport(report);
  if (out !== undefined) await writeFile(join(out, 'report.txt'), `${rendered}\n`);
  console.log(rendered);
  return isSound(report) ? 0 : 1;
}

if (values.help) console.log(help);
else process.exitCode = await main();
