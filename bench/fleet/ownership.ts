import { setTimeout as delay } from 'node:timers/promises';
import { percentile, rounded } from '../support/statistics.ts';
import type { ClusterView, Move } from './cluster-view.ts';
import type { Processes } from './contenders.ts';
import type { Creator } from './creator.ts';

/** What the nodes of a process that ended, and of one that came, went through. */
export interface Ownership {
  readonly killed: MovedNodes;
  /** A process is started in the place of the killed one: nodes move to it from those that live. */
  readonly started: MovedNodes;
  /** A process gets SIGTERM. */
  readonly stopped: MovedNodes;
  /** Nodes that were Ready, and that the cluster then saw as not Ready, over all three. */
  readonly notReady: number;
}

export interface MovedNodes {
  readonly nodes: number;
  /** Of a node: from the event (a kill, a start, a signal) until its Lease is first renewed by its next process. */
  readonly servedP50Seconds: number;
  readonly servedP99Seconds: number;
  /** Of a node: from the last write of its Lease by the process before to the first by the next one. */
  readonly gapP50Ms: number;
  readonly gapP99Ms: number;
  /** Of a pod, one a node, created just after the event: from its creation until it is Ready. */
  readonly podReadyP50Ms: number;
  readonly podReadyP99Ms: number;
}

const withinMs = 120_000;

export async function measureOwnership(processes: Processes, view: ClusterView, creator: Creator): Promise<Ownership> {
  const notReadyBefore = view.notReady.length;
  const killed = await end('SIGKILL', processes, view, creator);
  await delay(5000);
  const started = await startOne(processes, view, creator);
  await delay(5000);
  const stopped = await end('SIGTERM', processes, view, creator);
  return { killed, started, stopped, notReady: view.notReady.length - notReadyBefore };
}

/** Ends the process that has run longest. */
async function end(
  signal: 'SIGKILL' | 'SIGTERM',
  processes: Processes,
  view: ClusterView,
  creator: Creator,
): Promise<MovedNodes> {
  const [pid = 0] = processes.pids;
  const isItself = await processes.ownerOfPid(pid);
  const nodes = view.nodesOf(isItself);
  const [began, moves] = [performance.now(), view.moves.length];
  process.kill(pid, signal);
  const pods = await creator.createPods(nodes, 1, signal.toLowerCase());
  await view.until(`all nodes are taken over after ${signal}`, () => view.nodesOf(isItself).length === 0, withinMs);
  return movedNodes(view.moves.slice(moves), began, await readyWaits(view, pods));
}

async function startOne(processes: Processes, view: ClusterView, creator: Creator): Promise<MovedNodes> {
  const [began, moves] = [performance.now(), view.moves.length];
  await processes.startOne();
  // it moves while these pods come, on all nodes, one a node
  const pods = await creator.createPods(
    view.nodesOf(() => true),
    1,
    'start',
  );
  await untilQuiet(view);
  return movedNodes(view.moves.slice(moves), began, await readyWaits(view, pods));
}

/** Until no node has moved for twenty seconds: nobody says how many will. */
async function untilQuiet(view: ClusterView): Promise<void> {
  for (let before = -1; before !== view.moves.length; ) {
    before = view.moves.length;
    await delay(20_000);
  }
}

async function readyWaits(view: ClusterView, pods: ReadonlyMap<string, number>): Promise<number[]> {
  await view.until('all pods are Ready', () => [...pods.keys()].every((name) => view.podReadyAt.has(name)), withinMs);
  return [...pods].map(([name, at]) => Math.max(0, (view.podReadyAt.get(name) ?? 0) - at));
}

function movedNodes(moves: readonly Move[], began: number, waits: readonly number[]): MovedNodes {
  const served = moves.map(({ firstAt }) => (firstAt - began) / 1000);
  const gaps = moves.map(({ firstAt, lastAt }) => firstAt - lastAt);
  return {
    nodes: moves.length,
    servedP50Seconds: rounded(percentile(served, 0.5)),
    servedP99Seconds: rounded(percentile(served, 0.99)),
    gapP50Ms: rounded(percentile(gaps, 0.5)),
    gapP99Ms: rounded(percentile(gaps, 0.99)),
    podReadyP50Ms: rounded(percentile(waits, 0.5)),
    podReadyP99Ms: rounded(percentile(waits, 0.99)),
  };
}
