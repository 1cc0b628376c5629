import type { Bar } from '../support/results.ts';
import type { InMemoryRun } from './in-memory.ts';
import type { ContenderRun } from './run.ts';

const wholeNodes = 'every pod has a status manager and a worker of its own in Node.js, where kwok fills in a template in Go';
const longer = 'Leases are renewed, and heartbeats sent, for as long as it takes longer';
const fourProcesses = 'four processes of Node.js keep the pods of their nodes, where one process in Go keeps them once';

/** The fleet is to be no worse than kwok with one process, of which kwok's users have one. */
export function barsBesideKwok(ours: ContenderRun, kwok: ContenderRun): Bar[] {
  const bar = (what: string, value: (run: ContenderRun) => number, knownMissed?: string): Bar => ({
    what: `${what}, ours/kwok`,
    value: value(ours) / value(kwok),
    atMost: 1,
    ...(knownMissed !== undefined && { knownMissed }),
  });
  return [
    bar('created to all Ready, seconds', ({ load }) => load.seconds, wholeNodes),
    bar('created to all Ready, CPU', ({ load }) => load.cpuSeconds, wholeNodes),
    bar('created to all Ready, memory (PSS)', ({ load }) => load.pssMiB, fourProcesses),
    bar('created to all Ready, requests', ({ load }) => load.requests, longer),
    bar('at rest, CPU', ({ rest }) => rest.cpuSeconds / rest.seconds, wholeNodes),
    bar('at rest, requests a second', ({ rest }) => rest.requestsASecond),
    bar('at rest, memory (PSS)', ({ rest }) => rest.pssMiB, fourProcesses),
  ];
}

/** Lease duration and five seconds. */
const takenOverSeconds = 20;

/** What happens to nodes when processes end. */
export function barsOfOwnership({ ownership }: ContenderRun): Bar[] {
  const { killed, stopped, notReady } = ownership ?? {};
  const missing = Number.NaN;
  return [
    { what: 'killed: served again, p99, seconds', value: killed?.servedP99Seconds ?? missing, atMost: takenOverSeconds },
    { what: 'stopped: between two owners of a node, p99, ms', value: stopped?.gapP99Ms ?? missing, atMost: 1000 },
    { what: 'nodes that the cluster saw as not Ready', value: notReady ?? missing, atMost: 0 },
  ];
}

/** What a node takes is not to grow with their number. */
export function barsOfMemory(runs: readonly InMemoryRun[]): Bar[] {
  const [least, most] = [runs.at(0), runs.at(-1)];
  if (least === undefined || most === undefined) return [];
  const growth = (value: (run: InMemoryRun) => number): number => value(most) / most.nodes / (value(least) / least.nodes);
  const sizes = `${most.nodes} to ${least.nodes} nodes`;
  return [
    { what: `memory a node, ${sizes}`, value: growth(({ rssMiB }) => rssMiB), atMost: 1.1 },
    { what: `CPU a node at rest, ${sizes}`, value: growth(({ restCpuSecondsAMinute }) => restCpuSecondsAMinute), atMost: 1.1 },
    { what: `CPU a node until all are Ready, ${sizes}`, value: growth(({ loadCpuSeconds }) => loadCpuSeconds), atMost: 1.1 },
  ];
}
