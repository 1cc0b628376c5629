import type { Bar } from '../support/results.ts';
import type { NodeRun } from './run.ts';

const figures: Readonly<Partial<Record<keyof NodeRun, string>>> = {
  readyP50Ms: 'created to Ready, one at a time, p50',
  goneP50Ms: 'deleted to gone, one at a time, p50',
  readySeconds: 'created to Ready, all at once, seconds until the last',
  goneSeconds: 'deleted to gone, all at once, seconds until the last',
  logP50Ms: "a pod's log through the apiserver, p50",
  kubectlLogsP50Ms: '`kubectl logs`, p50',
  requestsAPod: 'requests a pod',
  cpuMsAPod: 'CPU a pod',
  memoryMiB: 'memory, all pods Ready',
};

/** No figure of ours is to be worse than virtual-kubelet's. */
export function barsOf(ours: NodeRun, rival: NodeRun): Bar[] {
  return (Object.keys(figures) as (keyof NodeRun)[]).map((name) => ({
    what: `${figures[name]}, ours/virtual-kubelet`,
    value: ours[name] / rival[name],
    atMost: 1,
  }));
}
