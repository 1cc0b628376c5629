import type { Bar } from '../support/results.ts';
import type { Column, PerfRun } from './run.ts';

/** What the committed figures miss, by the bar's name. */
const knownMissed: Readonly<Record<string, string>> = {};

/**
 * On a server the creation of the pods is the limit of both, as `createdASecond` shows: ours is to be no slower there, and to cost
 * less. Twice the speed is for ours in memory beside upstream's harness.
 */
export function barsOf(workload: string, runs: Partial<Record<Column, PerfRun>>): Bar[] {
  const { schedulerPerf, kubeScheduler, ours, memory } = runs;
  const bars: Bar[] = [];
  if (ours !== undefined && kubeScheduler !== undefined) {
    bars.push(
      { what: `${workload}: pods a second, ours/kube-scheduler`, value: speedRatio(ours, kubeScheduler), atLeast: 1 },
      { what: `${workload}: CPU, ours/kube-scheduler`, value: ratio(ours.cpuMsAPod, kubeScheduler.cpuMsAPod), atMost: 0.6 },
    );
  }
  if (memory !== undefined && schedulerPerf !== undefined) {
    bars.push({
      what: `${workload}: pods a second, in memory/scheduler_perf`,
      value: speedRatio(memory, schedulerPerf),
      atLeast: 2,
    });
  }
  return bars.map((bar) => {
    const why = knownMissed[bar.what];
    return why === undefined ? bar : { ...bar, knownMissed: why };
  });
}

/** By upstream's throughput where both have it; else by the whole time. */
function speedRatio(ours: PerfRun, theirs: PerfRun): number {
  if (ours.throughput === undefined) return ratio(ours.podsASecond, theirs.throughput?.average ?? theirs.podsASecond);
  if (theirs.throughput === undefined) return ratio(ours.podsASecond, theirs.podsASecond);
  return ratio(ours.throughput.average, theirs.throughput.average);
}

const ratio = (ours = Number.NaN, theirs = Number.NaN): number => ours / theirs;
