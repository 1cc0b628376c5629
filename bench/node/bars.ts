import type { Bar } from '../support/results.ts';
import type { VirtualNodeName, VirtualNodeRun } from './virtual-nodes.ts';
import type { PodWorkersName } from './workers.ts';
import type { WorkersFigures } from './workers-worker.ts';

const bothCores = "the kubelet's workers use both cores";
const otherObjects = 'each pod becomes another object, where the kubelet changes the one it has';

export function barsOfWorkers({ ours, kubelet }: Readonly<Record<PodWorkersName, WorkersFigures>>): Bar[] {
  const ratio = (figure: keyof WorkersFigures): number => ours[figure] / kubelet[figure];
  return [
    { what: 'pods a second, created, ours to Go', value: ratio('createdASecond'), atLeast: 1, knownMissed: bothCores },
    {
      what: 'pods a second, changed, ours to Go',
      value: ratio('changedASecond'),
      atLeast: 1,
      knownMissed: `${bothCores}, and ${otherObjects}`,
    },
    { what: 'one of 10,000 changed, ours to Go', value: ratio('oneChangedMs'), atMost: 1 },
    { what: 'bytes a pod, ours to Go', value: ratio('bytesPerPod'), atMost: 1 },
  ];
}

export function barsOfVirtualNodes({ ours, kwok }: Readonly<Record<VirtualNodeName, VirtualNodeRun>>): Bar[] {
  return [{ what: 'seconds until all are Ready, ours to kwok', value: ours.seconds / kwok.seconds, atMost: 1 }];
}
