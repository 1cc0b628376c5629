import { type MetricNameOf, metricDefinitions } from './metric-definitions.ts';
import type { Metrics } from './metrics.ts';

/** A counter whose labels all have known values. */
type Counter = MetricNameOf<'counter'>;

/**
 * Makes every series of these counters exist, with the value 0: of a series that begins with 1, Prometheus sees no increase. The
 * labels of each must have known values.
 */
export function beginAtZero(metrics: Metrics, names: readonly Counter[]): void {
  if (!metrics.isUsed) return;
  for (const name of names) {
    for (const labels of combinations(name))
      (metrics.increment as (name: string, labels: object, by: number) => void)(name, labels, 0);
  }
}

function combinations(name: Counter): Readonly<Record<string, string>>[] {
  let found: Record<string, string>[] = [{}];
  for (const [label, { values = [] }] of Object.entries(metricDefinitions[name].labels)) {
    found = found.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value })));
  }
  return found;
}
