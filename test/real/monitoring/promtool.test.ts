import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { metricDefinitions } from '../../../src/index.ts';
import { createPrometheusMetrics } from '../../../src/prometheus.ts';
import { promtool } from '../../support/promtool.ts';
import { runPromtool } from '../../support/run-promtool.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { rows } from './dashboard-panels.ts';

const alertsFile = fileURLToPath(new URL('../../../deploy/monitoring/alerts.yaml', import.meta.url));
const testsFile = fileURLToPath(new URL('alerts.test.yaml', import.meta.url));
const good = { code: 0 };
const bad = { code: expect.not.toSatisfy((code) => code === 0) };

let tool: string;
beforeAll(async () => {
  tool = await promtool();
});

/** A scrape with a series of every metric. */
async function scrape(): Promise<string> {
  const registry = new Registry();
  const sink = createPrometheusMetrics({ registry, labels: { node: 'node-1' } });
  for (const { name, type, labels } of Object.values(metricDefinitions)) {
    const given = Object.fromEntries(
      Object.entries(labels).map(([label, { values = ['a "quoted" \\ value'] }]) => [label, values[0] ?? '']),
    );
    if (type === 'counter') sink.increment(name, given);
    if (type === 'histogram') sink.observe(name, 0.1, given);
    if (type === 'gauge') sink.set(name, 1, given);
  }
  const text = await registry.metrics();
  await sink.close();
  return text;
}

describe('promtool takes', () => {
  it('every metric, and finds nothing to better', async () => {
    const text = await scrape();
    expect(text.split('\n').filter((line) => line.startsWith('# TYPE'))).toHaveLength(Object.keys(metricDefinitions).length);
    expect(await runPromtool(tool, ['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
    expect(await runPromtool(tool, ['check', 'metrics'], text.replace('_total counter', '_total gauge'))).toMatchObject(bad);
  });

  it('the alert rules', async () => {
    expect(await runPromtool(tool, ['check', 'rules', '--lint=all', '--lint-fatal', alertsFile])).toMatchObject(good);
  });

  it('the unit tests of the alert rules, and refuses them for other rules', async () => {
    expect(await runPromtool(tool, ['test', 'rules', testsFile])).toMatchObject(good);
    const dir = await tempDir();
    const [alerts, tests] = await Promise.all([alertsFile, testsFile].map((file) => readFile(file, 'utf8')));
    await writeFile(join(dir, 'alerts.yaml'), String(alerts).replace('_age_seconds > 60', '_age_seconds > 6000'));
    await writeFile(join(dir, 'alerts.test.yaml'), String(tests).replace('../../../deploy/monitoring/', ''));
    expect(await runPromtool(tool, ['test', 'rules', join(dir, 'alerts.test.yaml')])).toMatchObject(bad);
  });

  it('the queries of the dashboard, with values for its variables', async () => {
    const file = join(await tempDir(), 'queries.yaml');
    const queries = rows.flatMap(({ panels }) => panels.flatMap(({ queries: each }) => each.map(([expr]) => expr)));
    const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr: withValues(expr) }));
    await writeFile(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    expect(await runPromtool(tool, ['check', 'rules', file])).toMatchObject(good);
    await writeFile(
      file,
      JSON.stringify({ groups: [{ name: 'queries', rules: [...rules, { record: 'broken', expr: 'rate(a' }] }] }),
    );
    expect(await runPromtool(tool, ['check', 'rules', file])).toMatchObject(bad);
  });
});

function withValues(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*').replaceAll('$instance', '.*');
}
