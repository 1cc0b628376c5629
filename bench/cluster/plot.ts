import { barChart } from '../support/chart.ts';
import type { Comparison, Run } from './compare.ts';
import { type Contender, namesOfContenders, rivals } from './contenders.ts';

interface Plotted {
  readonly storms: readonly Comparison[];
  readonly single: Comparison;
}

/** The SVG of a run: each contender in each panel it took part in. */
export function plot({ storms, single }: Plotted): string {
  const categories = storms.map(({ pods }) => `${pods} pods`);
  const contenders: readonly Contender[] = ['ours', ...rivals, 'raw'];
  const ofStorms = (title: string, unit: string, value: (run: Run) => number) => ({
    title,
    unit,
    categories,
    series: contenders.map((contender) => ({
      name: namesOfContenders[contender],
      values: storms.map(({ results }) => {
        const run = results[contender];
        return run === undefined ? 0 : value(run);
      }),
    })),
  });
  return barChart([
    ofStorms('All pods set at once', 's', ({ seconds }) => seconds),
    ofStorms('Client CPU an update', 'ms', ({ cpuMsAnUpdate }) => cpuMsAnUpdate),
    ofStorms('Requests an update', 'requests', ({ requestsAnUpdate }) => requestsAnUpdate),
    {
      title: 'One update at a time, set to watch event',
      unit: 'ms',
      categories: ['p50', 'p99'],
      series: (['ours', ...rivals] as const).map((contender) => ({
        name: namesOfContenders[contender],
        values: [single.results[contender]?.p50ms ?? 0, single.results[contender]?.p99ms ?? 0],
      })),
    },
  ]);
}
