// One measurement in its own process, like the peer's mode `informer`: the same pods, the same events, the same JSON line.
import { parseArgs } from 'node:util';
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node';
import { Reflector, resources } from '../../src/reflector.ts';

const { values } = parseArgs({
  options: { client: { type: 'string' }, server: { type: 'string' }, pods: { type: 'string' }, events: { type: 'string' } },
});
const { client = 'ours', server = '' } = values;
const [pods, events] = [Number(values.pods), Number(values.events)];

const kubeConfig = new KubeConfig();
kubeConfig.loadFromClusterAndUser({ name: 'bench', server, skipTLSVerify: true }, { name: 'bench' });

interface Subject {
  start(): Promise<void>;
  readonly size: () => number;
}

/** The reflector with a handler for updates, as its users set it up. */
function ours(updated: () => void): Subject {
  const reflector = new Reflector({ logger: null, kubeConfig, resource: resources.pods, handlers: { updated } });
  return { start: () => reflector.start(), size: () => reflector.store.size };
}

/** client-node's informer with a handler for updates. */
function clientNode(updated: () => void): Subject {
  const api = kubeConfig.makeApiClient(CoreV1Api);
  const informer = makeInformer<V1Pod>(kubeConfig, '/api/v1/pods', () => api.listPodForAllNamespaces());
  informer.on('update', updated);
  informer.on('error', (error: unknown) => {
    throw error;
  });
  return { start: () => informer.start(), size: () => informer.list().length };
}

function heapBytes(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

let seen = 0;
let firstAt = 0;
const all = Promise.withResolvers<number>();
const subject = (client === 'ours' ? ours : clientNode)(() => {
  if (seen === 0) firstAt = performance.now();
  seen += 1;
  if (seen === events) all.resolve((performance.now() - firstAt) / 1000);
});

const before = heapBytes();
const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
await subject.start();
while (subject.size() < pods) await new Promise((resolve) => setTimeout(resolve, 5));
const [syncSeconds, syncCPUSeconds] = [(performance.now() - startedAt) / 1000, cpuSeconds(cpu)];
// what the answer was read from is garbage by now
await new Promise((resolve) => setTimeout(resolve, 200));
const bytesAnObject = Math.round((heapBytes() - before) / pods);
const cpuOfEvents = process.cpuUsage();
await fetch(`${server}/change`, { method: 'POST' });
const seconds = await all.promise;
const cpuUsAnEvent = (cpuSeconds(cpuOfEvents) * 1e6) / events;
const maxRSS = process.resourceUsage().maxRSS * 1024;
const line = { syncSeconds, syncCPUSeconds, bytesAnObject, eventsASecond: events / seconds, cpuUsAnEvent, maxRSS };
process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(0));
