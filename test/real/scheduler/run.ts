// `npm run test:storage-faults -- --nodes 100 --pods 1000 --kills 10 --pauses 2 --seed 1`: schedulers in processes of their own place pods with claims,
// and the leader is killed, or stands still, again and again. Exits with 1 on any damage.
import { type FaultFlags, faultFlags, logWithSeconds } from './fault-flags.ts';
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

async function main(flags: FaultFlags<(typeof faults)[number]>): Promise<number> {
  const report = await runStorageFaults({ ...flags, log: logWithSeconds() });
  console.log(renderStorageReport(report));
  return areClaimsSound(report) ? 0 : 1;
}

const flags = faultFlags(faults);
if (flags === undefined) console.log(help);
else process.exitCode = await main(flags);
