// Serves the page of a manager of so many pods until it is killed: node bench/page/server.ts PODS. Prints its address. Each
// line on its standard input is how many changes a second it makes from then on.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { createDebugHandler } from '../../src/debug.ts';
import { localManager } from '../support/local-manager.ts';
import { statusFor, wholeSecondNow } from '../support/workload.ts';

const count = Number(process.argv[2]);
const tickMs = 10;

const { manager, pods } = localManager(count);
const server = createServer(createDebugHandler({ manager })).listen(0, '127.0.0.1');
await once(server, 'listening');
manager.start();
const now = wholeSecondNow();
for (const [index, pod] of pods.entries()) manager.setPodStatus(pod, statusFor(index, 0, now));
await manager.flush();
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

/** Steps through the pods so that neighbours in the table do not change together. */
const stride = 7919;
let [changesASecond, made, startedAt] = [0, 0, performance.now()];
let step = 0;
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * changesASecond;
  for (; made < due; made += 1, step += 1) {
    const index = (step * stride) % count;
    const pod = pods[index];
    if (pod !== undefined) manager.setPodStatus(pod, statusFor(index, 1 + Math.floor(step / count), now));
  }
}, tickMs);
for await (const line of createInterface(process.stdin)) [changesASecond, made, startedAt] = [Number(line), 0, performance.now()];
