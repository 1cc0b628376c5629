// Measures what the debug handler costs: node --expose-gc bench/debug/worker.ts MODE PODS CHANGES-A-SECOND SECONDS
// MODE: bare (no handler), recorded (a handler that nobody reads), or the number of readers of its stream of changes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDebugHandler } from '../../src/debug.ts';
import { localManager } from '../support/local-manager.ts';
import { statusFor, wholeSecondNow } from '../support/workload.ts';

const mode = process.argv[2] ?? 'bare';
const [count = 0, changesASecond = 0, seconds = 0] = process.argv.slice(3).map(Number);
const tickMs = 10;

const { manager, pods } = localManager(count);
const handler = mode === 'bare' ? undefined : createDebugHandler({ manager });
const server = createServer(handler).listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
manager.start();

const now = wholeSecondNow();
for (const [index, pod] of pods.entries()) manager.setPodStatus(pod, statusFor(index, 0, now));
await manager.flush();

const readers = Array.from({ length: Number(mode) || 0 }, () =>
  spawn(process.execPath, [fileURLToPath(new URL('reader.ts', import.meta.url)), `${base}/api/changes`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);
await Promise.all(readers.map((reader) => once(reader.stdout, 'data')));

let next = 0;
let round = 0;
/** Sets so many pods, one after another and round and round. */
function change(many: number): void {
  for (let i = 0; i < many; i++) {
    if (next === 0) round += 1;
    const pod = pods[next];
    if (pod !== undefined) manager.setPodStatus(pod, statusFor(next, round, now));
    next = (next + 1) % count;
  }
}

async function run(forSeconds: number): Promise<number> {
  const start = performance.now();
  let made = 0;
  for (let elapsed = 0; elapsed < forSeconds * 1000; elapsed = performance.now() - start) {
    const due = Math.floor((elapsed / 1000) * changesASecond);
    change(due - made);
    made = due;
    await sleep(tickMs);
  }
  return made;
}

// warm: the history is full of what comes before the measurement
await run(seconds / 2);
const turns = monitorEventLoopDelay({ resolution: 10 });
turns.enable();
const cpu = process.cpuUsage();
const start = performance.now();
const changes = await run(seconds);
const { user, system } = process.cpuUsage(cpu);
const elapsedMs = performance.now() - start;
turns.disable();
globalThis.gc?.();
const { heapUsed, external } = process.memoryUsage();
const result = {
  changes,
  cpuPercent: (user + system) / 10 / elapsedMs,
  usAChange: (user + system) / changes,
  heapMB: (heapUsed + external) / 1e6,
  longestTurnMs: turns.max / 1e6 - 10,
};
for (const reader of readers) reader.kill();
handler?.close();
server.close();
server.closeAllConnections();
await manager.stop();
console.log(JSON.stringify(result));
