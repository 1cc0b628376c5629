import { setTimeout as delay } from 'node:timers/promises';
import { AdminClient } from '../../test/support/admin-client.ts';
import { ControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { percentile, rounded } from '../support/statistics.ts';
import { ClusterView } from './cluster-view.ts';
import { type Contender, isKwok, Processes, processesOf } from './contenders.ts';
import { Creator, nodeNames } from './creator.ts';
import { measureOwnership, type Ownership } from './ownership.ts';
import { type RequestTotals, requestsBetween, requestTotals } from './request-totals.ts';
import { type ProcessesUsage, usageOfAll } from './usage.ts';

export interface FleetSize {
  readonly nodes: number;
  readonly podsOnEach: number;
  readonly restSeconds: number;
}

/** What was taken between two times. */
export interface Phase {
  readonly seconds: number;
  /** Of the contender's processes. */
  readonly cpuSeconds: number;
  readonly apiServerCpuSeconds: number;
  readonly etcdCpuSeconds: number;
  /** Without those of the benchmark itself. */
  readonly requests: number;
  readonly requestsASecond: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Of the contender's processes, at the end. */
  readonly rssMiB: number;
  readonly pssMiB: number;
  readonly apiServerRssMiB: number;
}

export interface ContenderRun {
  /** From the start of the processes until all nodes are Ready. */
  readonly start: Phase;
  readonly emptyRest: Phase;
  /** From the first creation until all pods are Ready. */
  readonly load: Phase & {
    readonly p50Ms: number;
    readonly p99Ms: number;
    /** Until the last pod was created. */
    readonly creationSeconds: number;
    /** Of the benchmark's own process, which creates and watches. */
    readonly ownCpuSeconds: number;
  };
  /** With all pods, nothing happens. */
  readonly rest: Phase;
  readonly ownership: Ownership | undefined;
}

interface Reading {
  readonly at: number;
  readonly agents: ProcessesUsage;
  readonly apiServer: ProcessesUsage;
  readonly etcd: ProcessesUsage;
  readonly requests: RequestTotals;
}

const minutes = 60_000;

/** One contender, from an empty cluster on an apiserver and etcd of its own, so that none finds what another has left. */
export async function runContender(contender: Contender, { nodes, podsOnEach, restSeconds }: FleetSize): Promise<ContenderRun> {
  await using controlPlane = await ControlPlane.start();
  await using creator = new Creator(controlPlane.kubeConfig());
  await using view = new ClusterView(controlPlane.kubeConfig());
  await using processes = await Processes.prepare(controlPlane, contender, nodes);
  const admin = new AdminClient(controlPlane.kubeConfig());
  const names = nodeNames(nodes);
  const read = async (): Promise<Reading> => {
    const { apiServer = 0, etcd = 0 } = controlPlane.pids;
    const [agents, server, store, requests] = [
      await usageOfAll(processes.pids),
      await usageOfAll([apiServer]),
      await usageOfAll([etcd]),
      await requestTotals(admin),
    ];
    return { at: performance.now(), agents, apiServer: server, etcd: store, requests };
  };
  const rest = async (seconds: number): Promise<Phase> => {
    const before = await read();
    await delay(seconds * 1000);
    return phaseBetween(before, await read());
  };
  try {
    if (isKwok(contender)) await creator.createNodes(names);
    const atStart = await read();
    await processes.startAll();
    await view.until(
      'all nodes are Ready',
      () => view.readyNodes.size === nodes && view.nodesOf(() => true).length === nodes,
      minutes,
    );
    const start = phaseBetween(atStart, await read());
    await delay(10_000);
    const emptyRest = await rest(Math.min(30, restSeconds));

    const own = process.cpuUsage();
    const beforeLoad = await read();
    const createdAt = await creator.createPods(names, podsOnEach, 'pod');
    const createdLast = performance.now();
    await view.until('all pods are Ready', () => view.podReadyAt.size === nodes * podsOnEach, 5 * minutes);
    const afterLoad = await read();
    const { user, system } = process.cpuUsage(own);
    const waits = [...createdAt].map(([name, at]) => Math.max(0, (view.podReadyAt.get(name) ?? 0) - at));
    const load = {
      ...phaseBetween(beforeLoad, afterLoad),
      p50Ms: rounded(percentile(waits, 0.5)),
      p99Ms: rounded(percentile(waits, 0.99)),
      creationSeconds: rounded((createdLast - beforeLoad.at) / 1000),
      ownCpuSeconds: rounded((user + system) / 1e6),
    };
    await delay(10_000);
    const atRest = await rest(restSeconds);
    const ownership =
      processesOf(contender) > 1 && contender !== 'split' ? await measureOwnership(processes, view, creator) : undefined;
    return { start, emptyRest, load, rest: atRest, ownership };
  } catch (error) {
    console.error(await processes.logs());
    throw error;
  } finally {
    await admin.close();
  }
}

function phaseBetween(before: Reading, after: Reading): Phase {
  const seconds = (after.at - before.at) / 1000;
  const cpu = (name: 'agents' | 'apiServer' | 'etcd'): number => rounded(after[name].cpuSeconds - before[name].cpuSeconds);
  const kinds = requestsBetween(before.requests, after.requests);
  const requests = Object.values(kinds).reduce((sum, count) => sum + count, 0);
  return {
    seconds: rounded(seconds),
    cpuSeconds: cpu('agents'),
    apiServerCpuSeconds: cpu('apiServer'),
    etcdCpuSeconds: cpu('etcd'),
    requests,
    requestsASecond: rounded(requests / seconds),
    kinds,
    rssMiB: rounded(after.agents.rssMiB),
    pssMiB: rounded(after.agents.pssMiB),
    apiServerRssMiB: rounded(after.apiServer.rssMiB),
  };
}
