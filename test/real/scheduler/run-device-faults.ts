// `npm run test:claim-faults -- --nodes 100 --pods 1000 --kills 10 --pauses 2 --seed 1`: schedulers in processes of their own place pods with
// claims of devices, and the leader is killed, or stands still, again and again. Exits with 1 on any damage.
import { renderDeviceReport, runDeviceFaults } from './device-faults.ts';
import { type FaultFlags, faultFlags, logWithSeconds } from './fault-flags.ts';

const help = `Usage: npm run test:claim-faults -- [options]
  --nodes N     default 10, each with four devices
  --pods N      default 60
  --kills N     how often the leader is killed (default 2)
  --pauses N    how often it stands still until another one leads, and then goes on (default 1)
  --seed S      says when (default: another one each time)
  --broken blind  schedulers that wait for no Lease, and change objects whatever version they have: this has to be found; with
                  --pauses 0, since nobody leads`;

async function main(flags: FaultFlags<'blind'>): Promise<number> {
  const report = await runDeviceFaults({ ...flags, log: logWithSeconds() });
  console.log(`seed ${flags.seed}\n${renderDeviceReport(report)}`);
  const wrong = [...report.findings, ...report.leftThatFit, ...report.refusals];
  return wrong.length === 0 && report.isInOrder ? 0 : 1;
}

const flags = faultFlags(['blind']);
if (flags === undefined) console.log(help);
else process.exitCode = await main(flags);
