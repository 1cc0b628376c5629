// What the log lines cost a change of a status: node bench/logs.ts [ROUNDS]. In one process, the loggers in turn.
import { BasicPodManager, type Logger, type Pod, StatusManager } from '../src/index.ts';
import { nothingToDelete } from './support/clients.ts';
import { median } from './support/statistics.ts';
import { localPod, statusFor, wholeSecondNow } from './support/workload.ts';

const rounds = Number(process.argv[2] ?? 30);
const count = 500;
const nothing = (): void => {};
const dropping: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const loggers: Readonly<Record<string, { readonly logger?: Logger | null }>> = {
  'logger: null': { logger: null },
  'no logger (the console)': {},
  'a logger without debug': { logger: { ...dropping, isLevelEnabled: (level) => level !== 'debug' } },
  'a logger with debug': { logger: { ...dropping, isLevelEnabled: () => true } },
};

const pods: Pod[] = Array.from({ length: count }, (_, index) => localPod(index));
const now = wholeSecondNow();
const managers = Object.entries(loggers).map(([name, options]) => {
  const podManager = new BasicPodManager();
  podManager.setPods(pods);
  const manager = new StatusManager({ podClient: null, podManager, podDeletionSafety: nothingToDelete, ...options });
  return { name, manager, times: [] as number[] };
});

for (let round = 0; round < rounds; round += 1) {
  // each is the first of a round as often as the others
  const turn = round % managers.length;
  for (const { manager, times } of [...managers.slice(turn), ...managers.slice(0, turn)]) {
    const startedAt = performance.now();
    for (const [index, pod] of pods.entries()) manager.setPodStatus(pod, statusFor(index, round, now));
    times.push(((performance.now() - startedAt) * 1000) / count);
  }
}

const base = median(managers[0]?.times ?? []);
for (const { name, times } of managers) {
  console.log(
    `${name.padEnd(26)} ${median(times).toFixed(2).padStart(7)} µs a change, ${(median(times) / base).toFixed(2)} times`,
  );
}
