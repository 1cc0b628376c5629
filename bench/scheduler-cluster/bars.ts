import type { Bar } from '../support/results.ts';
import type { Load, SchedulerRun } from './run.ts';

const cpu =
  'bindings alone, sent from Node.js without a decision, take a third of what kube-scheduler takes in all, and events as much again';
const memory = 'Node.js with the program takes 80 MiB before it knows of a pod';

/** What the committed figures miss, by the bar's name. */
const knownMissed: Readonly<Record<string, string>> = {
  'waiting for the scheduler: pods a second, ours/kube-scheduler':
    'bindings alone, sent without a decision, reach 1.7 to 2.6 times, and a scheduler writes as many events on the same server',
  'waiting for the scheduler: CPU seconds, ours/kube-scheduler': cpu,
  'all at once: CPU seconds, ours/kube-scheduler': cpu,
  'all at once: memory afterwards, ours/kube-scheduler': memory,
  '50 a second: CPU seconds, ours/kube-scheduler': cpu,
  '50 a second: memory afterwards, ours/kube-scheduler': memory,
};

type Figure = Exclude<keyof SchedulerRun, 'requests' | 'podsOnANode'>;
type Target = readonly [Figure, words: string, limit: Pick<Bar, 'atMost' | 'atLeast'>];

/** What is wanted of every load. */
const always: readonly Target[] = [
  ['cpuSeconds', 'CPU seconds', { atMost: 0.6 }],
  ['memoryMiB', 'memory afterwards', { atMost: 1.5 }],
  ['requestsAPod', 'requests a pod', { atMost: 1 }],
];

/** With pods that wait only the scheduler decides; where they are created meanwhile, creation is the limit. */
function targetsOf({ waiting, podsASecond }: Load): readonly Target[] {
  const [p50, p99] = ['created to bound, p50', 'created to bound, p99'];
  if (waiting) {
    return [
      ['podsASecond', 'pods a second', { atLeast: 2 }],
      ['p50Ms', p50, { atMost: 1 }],
      ['p99Ms', p99, { atMost: 1 }],
    ];
  }
  if (podsASecond === undefined) {
    return [
      ['podsASecond', 'pods a second', { atLeast: 1 }],
      ['p50Ms', p50, { atMost: 1 }],
      ['p99Ms', p99, { atMost: 0.5 }],
    ];
  }
  return [
    ['p50Ms', p50, { atMost: 0.9 }],
    ['p99Ms', p99, { atMost: 1 }],
  ];
}

/** Our scheduler beside kube-scheduler, by the targets. */
export function barsOf(name: string, load: Load, ours: SchedulerRun, theirs: SchedulerRun): Bar[] {
  return [...targetsOf(load), ...always].map(([figure, words, limit]) => {
    const what = `${name}: ${words}, ours/kube-scheduler`;
    const why = knownMissed[what];
    return { what, value: ours[figure] / theirs[figure], ...limit, ...(why !== undefined && { knownMissed: why }) };
  });
}
