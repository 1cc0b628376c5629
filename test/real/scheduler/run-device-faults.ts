// `npm run test:claim-faults -- --nodes 100 --pods 1000 --kills 10 --pauses 2 --seed 1`: schedulers in processes of their own place pods with
// claims of devices, and the leader is killed, or stands still, again and again. Exits with 1 on any damage.
import { parseArgs } from 'node:util';
import { renderDeviceReport, runDeviceFaults } from './device-faults.ts';

const help = `Usage: npm run test:claim-faults -- [options]
  --nodes N     default 10, each with four devices
  --pods N      default 60
  --kills N     how often the leader is killed (default 2)
  --pauses N    how often it stands still until another one leads, and then goes on (default 1)
  --seed S      says when (default: another one each time)
  --broken blind  schedulers that wait for no Lease, and change objects whatever version they have: this has to be found; with
                  --pauses 0, since nobody leads`;

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
  if (values.broken !== undefined && values.broken !== 'blind') throw new Error(`--broken must be blind, got "${values.broken}"`);
  const log = (line: string): void => console.error(line);
  const size = { nodes: number('nodes'), pods: number('pods'), kills: number('kills'), pauses: number('pauses') };
  const report = await runDeviceFaults({ ...size, seed: number('seed'), broken: values.broken, log });
  console.log(`seed ${values.seed}\n${renderDeviceReport(report)}`);
  return report.findings.length + report.leftThatFit.length + report.refusals.length === 0 ? 0 : 1;
}

if (values.help) console.log(help);
else process.exitCode = await main();
