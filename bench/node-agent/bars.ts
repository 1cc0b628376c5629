import type { Bar } from '../support/results.ts';
import type { AgentRun } from './compare.ts';

/** What is wanted of our agent beside the kubelet. */
export function barsOf(ours: AgentRun, kubelet: AgentRun, many: number): Bar[] {
  const ratio = (value: (run: AgentRun) => number): number => value(ours) / value(kubelet);
  return [
    { what: 'created to Ready, one at a time, p50, ours/kubelet', value: ratio((run) => run.startP50Ms), atMost: 0.45 },
    { what: 'deleted to gone, one at a time, p50, ours/kubelet', value: ratio((run) => run.goneP50Ms), atMost: 0.2 },
    { what: 'created to Ready, all at once, p50, ours/kubelet', value: ratio((run) => run.burstStartP50Ms), atMost: 0.9 },
    { what: 'start of the agent to Ready of the node, ours/kubelet', value: ratio((run) => run.readyMs), atMost: 1 },
    {
      what: 'CPU seconds of one script, ours/kubelet',
      value: ratio((run) => run.cpuSeconds),
      atMost: 1,
      knownMissed: 'the agent takes more CPU for the start of a pod',
    },
    { what: 'requests a pod life, ours/kubelet', value: ratio((run) => run.requestsALife), atMost: 0.999 },
    { what: `memory at ${many} pods, ours/kubelet`, value: ratio((run) => run.memoryMiB[many] ?? Number.NaN), atMost: 1.5 },
  ];
}
