import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { dashboardFile, dashboardText } from '../real/monitoring/dashboard.ts';
import { rows } from '../real/monitoring/dashboard-panels.ts';
import { undefinedIn } from '../real/monitoring/named-metrics.ts';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const alerts = load(readFileSync(new URL('../../deploy/monitoring/alerts.yaml', import.meta.url), 'utf8')) as Rules;
const tests = readFileSync(new URL('../real/monitoring/alerts.test.yaml', import.meta.url), 'utf8');
const rules = alerts.groups.flatMap((group) => group.rules);

describe('the alert rules', () => {
  it('name only metrics, labels and values that are defined', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.flatMap(({ expr }) => undefinedIn(expr))).toEqual([]);
  });

  it('have a unit test each, of an agent that raises it', () => {
    const untested = rules.filter(({ alert }) => !new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`).test(tests));
    expect(untested).toEqual([]);
  });
});

describe('the dashboard', () => {
  const panels = rows.flatMap((row) => row.panels);

  it('names only metrics, labels and values that are defined', () => {
    expect(panels.length).toBeGreaterThan(20);
    expect(panels.flatMap(({ queries }) => queries.flatMap(([expr]) => undefinedIn(expr)))).toEqual([]);
  });

  it('is what its source makes: npm run dashboard', () => {
    expect(readFileSync(dashboardFile, 'utf8')).toBe(dashboardText());
  });

  it('says of each panel what it shows', () => {
    expect(panels.filter(({ title, description }) => title === '' || !description.endsWith('.'))).toEqual([]);
  });
});

describe('the check of names', () => {
  it.each([
    ['rate(pod_status_manager_nothing_total[5m])', ['pod_status_manager_nothing_total']],
    ['kubelet_mirror_pods_bucket', ['kubelet_mirror_pods_bucket']],
    ['pod_status_manager_pods{phase="nowhere"}', ['pod_status_manager_pods{phase="nowhere"}']],
    ['pod_status_manager_pods{faze="gone"}', ['pod_status_manager_pods{faze}']],
    ['sum(pod_status_manager_request_duration_seconds_count{job="a",verb=~"get|patch"})', []],
  ])('finds what is not defined in %s', (expr, found) => {
    expect(undefinedIn(expr)).toEqual(found);
  });
});
