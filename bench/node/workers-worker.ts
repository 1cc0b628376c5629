// node --expose-gc bench/node/workers-worker.ts PODS: lists of pods through PodConfig into PodWorkers, whose syncer does
// nothing. test/peers/agent/bench_test.go does the same with the kubelet's parts.

import type { Pod } from '../../src/api/json/types.ts';
import { PodConfig, type PodUpdate, PodWorkers } from '../../src/node.ts';

export interface WorkersFigures {
  readonly createdASecond: number;
  readonly createdCpuUs: number;
  readonly changedASecond: number;
  readonly changedCpuUs: number;
  readonly oneChangedMs: number;
  readonly bytesPerPod: number;
}

const [count = 10_000] = process.argv.slice(2).map(Number);
const turns = 50;

function pod(index: number, version: string): Pod {
  const containers = ['app', 'side'].map((name) => ({
    name,
    image: `registry.example/${name}:1`,
    env: [{ name: 'A', value: '1' }],
  }));
  return {
    metadata: {
      name: `pod-${index}`,
      namespace: 'default',
      uid: `uid-${index}`,
      resourceVersion: version,
      labels: { app: 'web', version },
    },
    spec: { nodeName: 'node-1', containers },
  };
}

const pods = (version: string): Pod[] => Array.from({ length: count }, (_, index) => pod(index, version));

function usedMemory(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

let syncs = 0;
let target = 0;
let reached = (): void => {};

/** Resolves once so many more syncs have been made. */
function expectSyncs(more: number): Promise<void> {
  target = syncs + more;
  return new Promise((resolve) => {
    reached = resolve;
  });
}

const nothing = async (): Promise<undefined> => undefined;
const created = pods('1');
const changed = pods('2');
const before = usedMemory();
const config = new PodConfig();
const emptyStatus = (podUID: string) => ({ podUID, ips: [], containers: [], sandboxes: [] });
const workers = new PodWorkers({
  logger: null,
  podSyncer: {
    async syncPod() {
      syncs += 1;
      if (syncs === target) reached();
      return undefined;
    },
    syncTerminatingPod: nothing,
    syncTerminatingRuntimePod: nothing,
    syncTerminatedPod: nothing,
  },
  runtimeStatusCache: { get: emptyStatus, getNewerThan: async (podUID) => emptyStatus(podUID) },
});
const send = config.channel('api');
config.start();

async function read(updates: AsyncIterable<PodUpdate>): Promise<void> {
  for await (const { op, pods: some } of updates) {
    for (const one of some) workers.updatePod({ updateType: op === 'ADD' ? 'create' : 'update', pod: one });
  }
}
const reading = read(config.updates());

async function measure(list: readonly Pod[], more: number): Promise<{ readonly seconds: number; readonly cpuUs: number }> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const done = expectSyncs(more);
  send(list);
  await done;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - began) / 1000, cpuUs: user + system };
}

const first = await measure(created, count);
await new Promise((resolve) => setTimeout(resolve, 100));
const bytesPerPod = (usedMemory() - before) / count;
const second = await measure(changed, count);
const began = performance.now();
for (let index = 0; index < turns; index++) {
  // the same list, as an informer gives it: all objects but one are those of the list before
  changed[index] = pod(index, '3');
  await measure([...changed], 1);
}
const figures: WorkersFigures = {
  createdASecond: count / first.seconds,
  createdCpuUs: first.cpuUs / count,
  changedASecond: count / second.seconds,
  changedCpuUs: second.cpuUs / count,
  oneChangedMs: (performance.now() - began) / turns,
  bytesPerPod,
};
await config.stop();
await workers.stop();
await reading;
// the first list is kept until here, so that its memory does not count
if (created.length === count) console.log(JSON.stringify(figures));
