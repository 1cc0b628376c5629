import type { Bar } from '../support/results.ts';
import type { SchedulerRun } from './run.ts';

const startCounts = 'the CPU of the start of the process counts here';
const machineDecides = 'at this rate the time is that of the machine, and goes both ways';

/** What the committed figures miss, by the bar's name. */
const knownMissed: Readonly<Record<string, string>> = {
  'waiting for the scheduler: CPU seconds, ours/kube-scheduler': startCounts,
  '50 a second: created to bound, p99, ours/kube-scheduler': machineDecides,
};

/** Our scheduler is to be no slower than kube-scheduler. Where pods come at a rate (`free` is false), that is the rate of both. */
export function barsOf(what: string, free: boolean, ours: SchedulerRun, theirs: SchedulerRun): Bar[] {
  const ratio = (value: (run: SchedulerRun) => number): number => value(ours) / value(theirs);
  const speed = { what: `${what}: pods a second, ours/kube-scheduler`, value: ratio((run) => run.podsASecond), atLeast: 1 };
  const bars: Bar[] = [
    ...(free ? [speed] : []),
    { what: `${what}: created to bound, p50, ours/kube-scheduler`, value: ratio((run) => run.p50Ms), atMost: 1 },
    { what: `${what}: created to bound, p99, ours/kube-scheduler`, value: ratio((run) => run.p99Ms), atMost: 1 },
    { what: `${what}: CPU seconds, ours/kube-scheduler`, value: ratio((run) => run.cpuSeconds), atMost: 1 },
    { what: `${what}: requests a pod, ours/kube-scheduler`, value: ratio((run) => run.requestsAPod), atMost: 1 },
  ];
  return bars.map((bar) => {
    const why = knownMissed[bar.what];
    return why === undefined ? bar : { ...bar, knownMissed: why };
  });
}
