// One measurement in its own process, like `peer`: the same pods, the same rounds, the same JSON line.
import type { WirePod } from '../../src/index.ts';
import { percentile } from '../support/statistics.ts';
import { isReadyIn, podName, statusFor, wholeSecondNow } from '../support/workload.ts';
import { startAgent, workerOptions } from './agent.ts';

const options = workerOptions();
const oneAtATime = options.mode === 'latency';

/** Pods whose watch event has not come yet: the name, and when the status was set. */
const sent = new Map<string, number>();
const delays: number[] = [];
let wanted = 'True';
let whenSeen: (() => void) | undefined;

function podUpdated(pod: WirePod): void {
  const name = pod.metadata?.name ?? '';
  const since = sent.get(name);
  if (since === undefined) return;
  if (pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== wanted) return;
  delays.push(performance.now() - since);
  sent.delete(name);
  if (sent.size === 0) whenSeen?.();
}

function allSeen(): Promise<void> {
  if (sent.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    whenSeen = resolve;
  });
}

const { pods, manager, stop } = await startAgent(options, { podUpdated });
const [seconds, cpuSeconds]: [number[], number[]] = [[], []];
for (let round = 0; round < options.rounds; round++) {
  const now = wholeSecondNow();
  wanted = isReadyIn(round) ? 'True' : 'False';
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (const [index, pod] of pods.entries()) {
    sent.set(podName(index), performance.now());
    manager.setPodStatus(pod, statusFor(index, round, now));
    if (oneAtATime) await allSeen();
  }
  await allSeen();
  seconds.push((performance.now() - start) / 1000);
  const { user, system } = process.cpuUsage(cpu);
  cpuSeconds.push((user + system) / 1e6);
}
await stop();
const [p50ms, p99ms] = [percentile(delays, 0.5), percentile(delays, 0.99)];
console.log(JSON.stringify({ mode: options.mode, pods: options.count, seconds, cpuSeconds, p50ms, p99ms }));
