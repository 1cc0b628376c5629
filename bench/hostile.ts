// npm run bench:hostile [-- --pods 100]
// Pods as large as a real kube-apiserver takes them, beside ten ordinary ones, on a node agent with the heap that the guide names.
import { parseArgs } from 'node:util';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { kindsOfHostilePods } from '../test/support/hostile/hostile-pods.ts';
import { HostileWorld, isDecided, isRunning } from '../test/support/hostile/hostile-world.ts';

const { values } = parseArgs({ options: { pods: { type: 'string', default: '100' } } });
const pods = Number(values.pods);

await using controlPlane = await ControlPlane.start();
await using world = await HostileWorld.open(controlPlane.kubeConfig(), 'hostile');

/** Ten ordinary pods, one after the other, until each of them runs. How long the server takes for them says how busy it is itself. */
async function ordinary(round: string): Promise<object> {
  const names = Array.from({ length: 10 }, (_, index) => `${round}-${index}`);
  const begun = performance.now();
  for (const name of names) await world.createOrdinary(name);
  const createdAfterMs = Math.round(performance.now() - begun);
  return { createdAfterMs, allRunAfterMs: await world.reach(names, isRunning), ...(await world.usage()) };
}

const rows: Record<string, object> = {};
await world.startAgent();
rows['ordinary pods alone'] = await ordinary('alone');
const names: string[] = [];
for (const number of Array(pods).keys()) {
  const kind = kindsOfHostilePods[number % kindsOfHostilePods.length] as string;
  const bytes = await world.createHostile(kind, `h${number}`);
  names.push(`h${number}`);
  if (number < kindsOfHostilePods.length) rows[kind] = { bytes, ...(await world.usage()) };
}
rows[`ordinary pods beside ${pods} hostile ones`] = await ordinary('beside');
rows['the hostile ones run, are refused, or wait with a reason'] = {
  afterMs: await world.reach(names, isDecided),
  ...(await world.usage()),
};
rows['ordinary pods later'] = await ordinary('later');
await world.stopAgent();
await world.startAgent();
rows['ordinary pods right after a restart'] = await ordinary('again');
console.table(rows);
await world.stopAgent();
