// One measurement in its own process: node --expose-gc bench/metrics/worker.ts SINK PODS ROUNDS
import { BasicPodManager, type Pod, StatusManager } from '../../src/index.ts';
import { instantClient, nothingToDelete } from '../support/clients.ts';
import { localPod, statusFor, wholeSecondNow } from '../support/workload.ts';
import { type SinkName, sinkNamed } from './sinks.ts';

const [sink, pods, rounds] = [process.argv[2] as SinkName, Number(process.argv[3]), Number(process.argv[4])];
const { metrics, collect } = sinkNamed(sink);
const now = wholeSecondNow();
const podClient = instantClient();
const podManager = new BasicPodManager();
const seen: Pod[] = Array.from({ length: pods }, (_, index) => localPod(index)).map((pod) => ({
  ...pod,
  metadata: { ...pod.metadata, resourceVersion: '1' },
}));
podManager.setPods(seen);
const manager = new StatusManager({
  podClient,
  podManager,
  podDeletionSafety: nothingToDelete,
  channelCapacity: pods,
  ...(metrics !== undefined && { metrics }),
});
manager.start();
const given = [0, 1].map((round) => seen.map((_, index) => statusFor(index, round, now)));

/** Microseconds of processor time that `act` took for each pod. */
async function cpuUs(act: () => unknown, count: number): Promise<number> {
  const start = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}

let [setUs, patchUs] = [0, 0];
for (let round = 0; round < rounds; round++) {
  const set = (): void => seen.forEach((pod, index) => void manager.setPodStatus(pod, given[round % 2]?.[index] ?? {}));
  const setRound = await cpuUs(set, pods);
  const patchRound = await cpuUs(() => manager.flush(), pods);
  // the first rounds compile the code
  if (round < 3) continue;
  setUs += setRound / (rounds - 3);
  patchUs += patchRound / (rounds - 3);
}
if (podClient.requests !== pods * rounds) throw new Error(`${podClient.requests} requests for ${pods * rounds} changes`);
const collections = 20;
const collectMs =
  (await cpuUs(async () => {
    for (let i = 0; i < collections; i++) await collect();
  }, collections)) / 1000;
await manager.stop();
console.log(JSON.stringify({ setUs, patchUs, collectMs }));
