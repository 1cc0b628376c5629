// Measures the work of a sync without a network: node --expose-gc bench/cpu/batch.ts PODS ROUNDS
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BasicPodManager, type Clock, type Pod, StatusManager, systemClock } from '../../src/index.ts';
import { instantClient, nothingToDelete } from '../support/clients.ts';
import { median } from '../support/statistics.ts';
import { localPod, statusFor, wholeSecondNow } from '../support/workload.ts';

const [count, rounds] = [Number(process.argv[2]), Number(process.argv[3])];
const syncPeriodMs = 3_600_000;

/** The machine's clock, except that a batch starts when `tick` is called. */
let tick = (): void => {};
const clock: Clock = {
  now: systemClock.now,
  setTimer(callback, delayMs, options) {
    if (delayMs !== syncPeriodMs) return systemClock.setTimer(callback, delayMs, options);
    tick = callback;
    return () => {};
  },
};

const now = wholeSecondNow();
const pods = Array.from({ length: count }, (_, index): Pod => {
  const pod = localPod(index);
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: String(index + 1) }, status: { phase: 'Pending' } };
});
const podClient = instantClient();
const podManager = new BasicPodManager();
podManager.setPods(pods);
const manager = new StatusManager({
  logger: null,
  podClient,
  podManager,
  podDeletionSafety: nothingToDelete,
  syncPeriodMs,
  clock,
});
manager.start();

/** Sets every pod and waits until all are acknowledged. Returns microseconds per pod. */
async function storm(round: number): Promise<number> {
  const statuses = pods.map((_, index) => statusFor(index, round, now));
  const start = performance.now();
  for (const [index, pod] of pods.entries()) manager.setPodStatus(pod, statuses[index] ?? {});
  await manager.flush();
  return ((performance.now() - start) * 1000) / count;
}

/** Runs one batch. Returns its whole time, and the longest time it held the event loop. */
async function batch(): Promise<{ busyMs: number; longestMs: number }> {
  let [busyMs, longestMs, quietTurns] = [0, 0, 0];
  let before = performance.now();
  tick();
  while (quietTurns < 50) {
    // this immediate fires once in each turn of the event loop, and nothing else runs in this process
    await nextTurn();
    const now = performance.now();
    const turnMs = now - before;
    before = now;
    busyMs += turnMs;
    longestMs = Math.max(longestMs, turnMs);
    quietTurns = turnMs < 0.05 ? quietTurns + 1 : 0;
  }
  return { busyMs, longestMs };
}

await storm(0);
const storms: number[] = [];
for (let round = 1; round <= rounds; round++) storms.push(await storm(round));
const before = podClient.requests;
await batch();
globalThis.gc?.();
const batches = [];
for (let round = 0; round < rounds; round++) batches.push(await batch());
const result = {
  pods: count,
  syncUs: median(storms),
  batchMs: median(batches.map(({ busyMs }) => busyMs)),
  longestTurnMs: median(batches.map(({ longestMs }) => longestMs)),
  requestsOfQuietBatches: podClient.requests - before,
};
await manager.stop();
console.log(JSON.stringify(result));
