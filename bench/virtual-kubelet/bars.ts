import type { Bar } from '../support/results.ts';
import type { NodeRun } from './run.ts';

/** What a figure is, the most that ours may be of virtual-kubelet's, and why it is more, where that is known. */
type Figure = readonly [what: string, atMost: number, knownMissed?: string];

const figures: Readonly<Partial<Record<keyof NodeRun, Figure>>> = {
  readyP50Ms: ['created to Ready, one at a time, p50', 1],
  goneP50Ms: ['deleted to gone, one at a time, p50', 1],
  readySeconds: ['created to Ready, all at once, seconds until the last', 1],
  goneSeconds: ['deleted to gone, all at once, seconds until the last', 1],
  logP50Ms: ["a pod's log through the apiserver, p50", 1, 'Node.js takes longer than Go to read and answer a request over TLS'],
  kubectlLogsP50Ms: ['`kubectl logs`, p50', 1, 'kubectl itself takes most of the time, and runs differ by more than the two do'],
  requestsAPod: ['requests a pod', 1],
  cpuMsAPod: ['CPU a pod', 1],
  memoryMiB: ['memory, all pods Ready', 1, 'Node.js with the client that reads the kubeconfig takes more before there is a pod'],
};

/** No figure of ours is to be worse than virtual-kubelet's. */
export function barsOf(ours: NodeRun, rival: NodeRun): Bar[] {
  return Object.entries(figures).map(([name, [what, atMost, knownMissed]]) => ({
    what: `${what}, ours/virtual-kubelet`,
    value: ours[name as keyof NodeRun] / rival[name as keyof NodeRun],
    atMost,
    ...(knownMissed !== undefined && { knownMissed }),
  }));
}
