import type { VNode } from 'preact';
import type { Model } from '../model/model.ts';
import { columnsOf, type TrafficColumns } from '../model/traffic.ts';
import { count, duration } from '../text/format.ts';
import { type ChartSeries, LineChart } from './line-chart.tsx';

const requestSeries: readonly ChartSeries[] = [
  { name: 'patches', colour: 'patch', format: count },
  { name: 'reads', colour: 'get', format: count },
  { name: 'deletes', colour: 'delete', format: count },
  { name: 'failed', colour: 'failed', format: count },
];
const delaySeries: readonly ChartSeries[] = [
  { name: 'p50', colour: 'p50', format: duration },
  { name: 'p99', colour: 'p99', format: duration },
];

export function Charts({ model, isFolded }: { readonly model: Model; readonly isFolded: boolean }): VNode {
  const columns = columnsOf(model.traffic, model.now());
  return (
    <details class="charts" open={!isFolded}>
      <summary>
        Delay and requests <span class="muted">last five minutes</span>
        <span class="spring" />
        <span class="now">{nowOf(columns)}</span>
      </summary>
      <div class="chart-pair">
        <LineChart
          title="Delay"
          subtitle="from set to acknowledged"
          seconds={columns.seconds}
          values={[columns.p50, columns.p99]}
          series={delaySeries}
          axis={duration}
        />
        <LineChart
          title="Requests"
          subtitle="a second"
          isCount
          seconds={columns.seconds}
          values={[columns.patches, columns.gets, columns.deletes, columns.failed]}
          series={requestSeries}
          axis={count}
        />
      </div>
    </details>
  );
}

/** The newest second in words, which stay readable when the charts are folded. */
function nowOf({ p99, patches, gets, deletes, failed }: TrafficColumns): string {
  const at = patches.length - 1;
  const requests = (patches[at] ?? 0) + (gets[at] ?? 0) + (deletes[at] ?? 0);
  const newest = p99.findLast((value) => value !== null);
  const delay = newest === undefined || newest === null ? '' : `, p99 ${duration(newest)}`;
  return `${count(requests)} ${requests === 1 ? 'request' : 'requests'}/s${failed[at] ? `, ${count(failed[at])} failed` : ''}${delay}`;
}
