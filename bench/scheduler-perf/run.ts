import type { Throughput } from './throughput.ts';

/** Who schedules, and in what. */
export const columns = ['schedulerPerf', 'kubeScheduler', 'ours', 'memory'] as const;
export type Column = (typeof columns)[number];
export const namesOfColumns: Readonly<Record<Column, string>> = {
  schedulerPerf: 'scheduler_perf',
  kubeScheduler: 'kube-scheduler',
  ours: 'examples/scheduler',
  memory: 'Scheduler in memory',
};

/** What was seen of the measured pods of one workload. */
export interface PerfRun {
  /** Not there where it was over too soon, and in memory, where nothing else has a turn meanwhile. */
  readonly throughput?: Throughput;
  /** From the first request for a measured pod until the last one is bound; scheduler_perf looks once a second whether it is. */
  readonly podsASecond: number;
  /** On a server of ours: how fast it took the measured pods, while others of them were scheduled. Faster than this they cannot be. */
  readonly createdASecond?: number;
  /**
   * Of the scheduler's process. Of scheduler_perf it is that of all together: scheduler, apiserver, what creates the pods, and etcd.
   * Not there where it was over too soon.
   */
  readonly cpuMsAPod?: number;
  readonly memoryMiB?: number;
}

/** As long as upstream's harness waits for the pods of a step. */
export const mostMsAStep = 10 * 60_000;
