import { type BarPanel, barChart } from '../support/chart.ts';
import { type Contender, contenders } from './contenders.ts';
import type { ContenderRun } from './run.ts';

/** The SVG of the contenders that were measured, side by side. */
export function plot(runs: Readonly<Partial<Record<Contender, ContenderRun>>>): string {
  const measured = (Object.keys(contenders) as Contender[]).filter((name) => runs[name] !== undefined);
  const panel = (title: string, unit: string, values: Readonly<Record<string, (run: ContenderRun) => number>>): BarPanel => ({
    title,
    unit,
    categories: Object.keys(values),
    series: measured.map((name) => ({
      name: contenders[name],
      values: Object.values(values).map((value) => value(runs[name] as ContenderRun)),
    })),
  });
  const aMinute = (run: ContenderRun, value: number): number => (value * 60) / run.rest.seconds;
  return barChart([
    panel('First pod created to all Ready', 's', { time: ({ load }) => load.seconds }),
    panel('Processor time, first pod created to all Ready', 's', {
      'the processes': ({ load }) => load.cpuSeconds,
      'kube-apiserver': ({ load }) => load.apiServerCpuSeconds,
    }),
    panel('Processor time a minute at rest', 's', {
      'the processes': (run) => aMinute(run, run.rest.cpuSeconds),
      'kube-apiserver': (run) => aMinute(run, run.rest.apiServerCpuSeconds),
    }),
    panel('Memory of the processes (PSS)', 'MiB', {
      'no pods': ({ emptyRest }) => emptyRest.pssMiB,
      'all pods, at rest': ({ rest }) => rest.pssMiB,
    }),
  ]);
}
