import type { WirePod } from '../../src/api/json/types.ts';
import type { SchedulerClient } from '../../src/scheduler/framework/scheduler-client.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { benchNode, benchPod, type Workload } from './workloads.ts';

export interface SchedulerRun {
  readonly podsASecond: number;
  /** Of the whole process, per pod. */
  readonly cpuMicroseconds: number;
}

/** Pods that are scheduled before the measurement, so that nodes are not empty and the code is warm. */
const warmUp = 1000;

/** Schedules so many pods on so many nodes in memory: bindings succeed at once, and a watch confirms them at once. */
export async function runScheduler(workload: Workload, nodes: number, pods: number): Promise<SchedulerRun> {
  const bound = new Map<string, string>();
  const client: SchedulerClient = {
    async bind(pod: WirePod, nodeName: string) {
      const uid = pod.metadata?.uid ?? '';
      if (bound.has(uid)) throw new Error(`${uid} was bound twice`);
      bound.set(uid, nodeName);
      scheduler.setPod({ ...pod, spec: { ...(pod.spec as NonNullable<WirePod['spec']>), nodeName } });
    },
    async patchStatus(pod) {
      throw new Error(`${pod.metadata?.name} fits nowhere`);
    },
    async deletePod() {},
    event() {},
  };
  const scheduler = new Scheduler({ client, logger: null });
  try {
    for (let index = 0; index < nodes; index++) scheduler.setNode(benchNode(index));
    scheduler.start();
    await schedule(scheduler, workload, 0, warmUp);
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    await schedule(scheduler, workload, warmUp, pods);
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    if (bound.size !== warmUp + pods) throw new Error(`${bound.size} of ${warmUp + pods} pods were bound`);
    return { podsASecond: pods / seconds, cpuMicroseconds: (user + system) / pods };
  } finally {
    await scheduler.stop();
  }
}

async function schedule(scheduler: Scheduler, workload: Workload, from: number, count: number): Promise<void> {
  for (let index = from; index < from + count; index++) scheduler.setPod(benchPod(index, workload));
  await scheduler.flush();
}
