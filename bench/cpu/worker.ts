// One measurement in its own process, like `peer -mode cpu`: node --expose-gc bench/cpu/worker.ts PODS ROUNDS [dates]
import { BasicPodManager, type Pod, type PodStatus, StatusManager } from '../../src/index.ts';
import { nothingToDelete } from '../support/clients.ts';
import { containerID, isReadyIn, localPod, statusFor, wholeSecondNow } from '../support/workload.ts';
import { withDates } from './with-dates.ts';

const [count, rounds] = [Number(process.argv[2]), Number(process.argv[3])];
const asGiven: (status: PodStatus) => PodStatus = process.argv[4] === 'dates' ? withDates : (status) => status;

const pods: Pod[] = Array.from({ length: count }, (_, index) => localPod(index));
const podUIDs = pods.map((pod) => String(pod.metadata?.uid));
const containerIDs = pods.map((_, index) => containerID('main', index));
const podManager = new BasicPodManager();
podManager.setPods(pods);
const manager = new StatusManager({ logger: null, podClient: null, podManager, podDeletionSafety: nothingToDelete });
const now = wholeSecondNow();

function usedHeap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const key in value) count += countValues((value as Record<string, unknown>)[key]);
  return count;
}

/** Calls `act` for every pod in every round. Returns microseconds per call. */
function perCall(act: (index: number, round: number) => unknown, firstRound = 0): number {
  const start = performance.now();
  for (let round = firstRound; round < firstRound + rounds; round++) {
    for (let index = 0; index < count; index++) act(index, round);
  }
  return ((performance.now() - start) * 1000) / (count * rounds);
}

/** Sets new statuses in every round and reads all of them in two passes. Returns microseconds per read, for each pass. */
function readTwice(): [number, number] {
  let [firstMs, secondMs, read] = [0, 0, 0];
  const pass = (): number => {
    const start = performance.now();
    for (let index = 0; index < count; index++) if (manager.getPodStatus(podUIDs[index] ?? '') !== undefined) read++;
    return performance.now() - start;
  };
  for (let index = 0; index < count; index++) set(index, given(index, 0));
  for (let round = 1; round <= rounds; round++) {
    for (let index = 0; index < count; index++) {
      if (!set(index, given(index, round))) throw new Error('a status did not change, so there is no first read of it');
    }
    firstMs += pass();
    secondMs += pass();
  }
  if (read !== 2 * count * rounds) throw new Error('a status to read was missing');
  return [(firstMs * 1000) / (count * rounds), (secondMs * 1000) / (count * rounds)];
}

const set = (index: number, status: PodStatus): boolean => manager.setPodStatus(pods[index] as Pod, status);

// first set statuses that are dropped again: compiled code and inline caches must not count as memory of the pods
for (let index = 0; index < count; index++) set(index, asGiven(statusFor(index, 0, now)));
manager.removeOrphanedStatuses(new Set());
const before = usedHeap();
for (let index = 0; index < count; index++) set(index, asGiven(statusFor(index, 0, now)));
const bytesPerPod = (usedHeap() - before) / count;

const next = [0, 1].map((round) => pods.map((_, index) => asGiven(statusFor(index, round, now))));
const given = (index: number, round: number): PodStatus => next[round % 2]?.[index] as PodStatus;

const changedUs = perCall((index, round) => set(index, given(index, round)), 1);
const sameUs = perCall((index) => set(index, given(index, rounds)));
const readinessUs = perCall((index, round) =>
  manager.setContainerReadiness(podUIDs[index] ?? '', containerIDs[index] ?? '', !isReadyIn(round + rounds)),
);
const [getFirstUs, getSecondUs] = readTwice();

// the cost of a call that reads the given and the cached status and does nothing with them
const cached = podUIDs.map((podUID) => manager.getPodStatus(podUID));
let values = 0;
const walkUs = perCall((index) => {
  values += countValues(given(index, rounds)) + countValues(cached[index]);
});
if (values === 0) throw new Error('there was nothing to read');

console.log(JSON.stringify({ pods: count, bytesPerPod, changedUs, sameUs, readinessUs, getFirstUs, getSecondUs, walkUs }));
