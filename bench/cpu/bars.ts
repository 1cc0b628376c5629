import type { Bar } from '../support/results.ts';

export const metrics = ['bytesPerPod', 'changedUs', 'sameUs', 'readinessUs', 'getFirstUs', 'getSecondUs'] as const;
export type Metric = (typeof metrics)[number];
export type Measurement = Record<Metric, number>;

export interface Comparison {
  readonly pods: number;
  readonly ours: Measurement;
  readonly oursWithDates: Measurement;
  readonly go: Measurement;
  /** Medians of the ratios within one round. */
  readonly ratio: Measurement;
}

export interface BatchResult {
  readonly pods: number;
  readonly syncUs: number;
  readonly batchMs: number;
  readonly longestTurnMs: number;
  readonly requestsOfQuietBatches: number;
}

export interface CpuResult {
  readonly rounds: number;
  /** From the fewest pods to the most. */
  readonly comparisons: readonly Comparison[];
  /** The most pods beside the fewest. */
  readonly growth: Measurement;
  readonly batches: readonly BatchResult[];
}

const typesAreChecked = 'the type of each changed member is checked, which is the work of the compiler of Go';
const memoryIsSlower = 'no operation does more work with more pods, but each access of memory takes longer';

export function barsOf({ rounds, comparisons, growth, batches }: CpuResult): Bar[] {
  const [few, many, batch] = [comparisons[0], comparisons.at(-1), batches.at(-1)];
  if (few === undefined || many === undefined || batch === undefined) throw new Error('Nothing was measured');
  const range = `${many.pods}/${few.pods} pods`;
  const ofGrowth = (what: string, value: number): Bar => ({
    what: `${what}, ${range}`,
    value,
    atMost: 1.5,
    knownMissed: memoryIsSlower,
  });
  return [
    { what: 'setPodStatus changed, ours/Go', value: many.ratio.changedUs, atMost: 1, knownMissed: typesAreChecked },
    { what: 'setPodStatus unchanged, ours/Go', value: many.ratio.sameUs, atMost: 0.4 },
    { what: 'setContainerReadiness, ours/Go', value: many.ratio.readinessUs, atMost: 0.5 },
    { what: 'heap bytes a cached two-container pod', value: many.ours.bytesPerPod, atMost: 3000 },
    ofGrowth('setPodStatus changed', growth.changedUs),
    ofGrowth('setPodStatus unchanged', growth.sameUs),
    ofGrowth('setContainerReadiness', growth.readinessUs),
    { what: `longest turn of a batch over ${batch.pods} unchanged pods, ms`, value: batch.longestTurnMs, atMost: 10 },
    { what: `requests of ${rounds} quiet batches`, value: batch.requestsOfQuietBatches, atMost: 0 },
  ];
}
