// node member.ts SETTINGS: one member of a fleet, whose pods are in the kit's cloud. It says on standard output what it gains, serves and
// loses, a line of JSON each. SIGTERM ends it in peace; it ends at once when its standard input does.
import { writeSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { NodeFleet } from '../../../src/fleet.ts';
import type { Logger } from '../../../src/index.ts';
import { CloudClient } from './cloud-provider.ts';
import type { MemberLine, MemberSettings } from './member-process.ts';

type What = MemberLine extends infer Line ? (Line extends MemberLine ? Omit<Line, 'at'> : never) : never;

const settings: MemberSettings = JSON.parse(process.argv[2] ?? '{}');
const lookEveryMs = 100;

function say(line: What): void {
  console.log(JSON.stringify({ at: Date.now(), ...line }));
}

/** To standard error, at once: a process that is killed has written all of it. */
function logged(level: string): (fields: object, message: string) => void {
  return (fields, message) => {
    const { err, ...others } = fields as { err?: unknown };
    const error = err instanceof Error ? { err: `${err.name}: ${err.message}` } : err === undefined ? {} : { err: String(err) };
    writeSync(2, `${JSON.stringify({ at: new Date().toISOString(), level, message, ...others, ...error })}\n`);
  };
}

const logger: Logger = { debug: () => {}, info: logged('info'), warn: logged('warn'), error: logged('error') };
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(settings.kubeconfig);
const cloud = new CloudClient(settings.cloud, settings.id);
const { fleet: name, id, nodes, shards, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = settings;
const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
const provider = (nodeName: string) => cloud.provider(nodeName);
const fleet = new NodeFleet({ kubeConfig, name, id, nodes, shards, ...times, provider, logger });

const owned = new Set<number>();
const served = new Set<string>();

/** Says what is another than at the look before. */
function look(): void {
  for (const { shard, state } of fleet.snapshot({ nodes: false }).shards) {
    const isOwned = state === 'owned' || state === 'handingOver';
    if (isOwned === owned.has(shard)) continue;
    if (isOwned) owned.add(shard);
    else owned.delete(shard);
    say({ what: isOwned ? 'gained' : 'lost', shard });
  }
  for (const node of nodes) {
    const isServed = fleet.node(node) !== undefined;
    if (isServed === served.has(node)) continue;
    if (isServed) served.add(node);
    else served.delete(node);
    say({ what: isServed ? 'serves' : 'leaves', node });
  }
}

async function stop(): Promise<void> {
  const result = await fleet.stop();
  clearInterval(looks);
  look();
  await cloud[Symbol.asyncDispose]();
  say({ what: 'stopped', result });
  process.exit(0);
}

process.stdin.on('end', () => process.exit(1)).resume();
process.once('SIGTERM', () => void stop());
const looks = setInterval(look, lookEveryMs);
await fleet.start();
say({ what: 'started' });
