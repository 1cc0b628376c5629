import { Counter, type OpenMetricsContentType, Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { type MetricName, metricDefinitions } from '../../../src/index.ts';
import { createPrometheusMetrics, type PrometheusMetrics, type PrometheusMetricsOptions } from '../../../src/prometheus.ts';

const open: PrometheusMetrics[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sink) => sink.close()));
});

function sinkOn(registry: Registry, options: Partial<PrometheusMetricsOptions> = {}): PrometheusMetrics {
  const sink = createPrometheusMetrics({ registry, eventLoopDelay: false, ...options });
  open.push(sink);
  return sink;
}

/** The lines of a scrape that show values of this metric. */
async function scraped(registry: Registry, name: MetricName): Promise<string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => new RegExp(`^${name}(?:_bucket|_sum|_count)?[{ ]`).test(line));
}

const refused = (message: RegExp): object =>
  expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) });

describe('a sink over a registry of prom-client', () => {
  it('registers every metric as it is defined', async () => {
    const registry = new Registry();
    sinkOn(registry);
    const text = await registry.metrics();
    for (const { name, type, help } of Object.values(metricDefinitions)) {
      if (name === 'pod_status_manager_event_loop_delay_seconds') continue;
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    }
  });

  it('shows what is measured, and nothing of a gauge that nobody has set', async () => {
    const registry = new Registry();
    const sink = sinkOn(registry);
    sink.increment('pod_status_manager_requests_total', { verb: 'get', result: 'ok' });
    sink.increment('pod_status_manager_requests_total', { verb: 'get', result: 'ok' }, 2);
    sink.observe('kubelet_pod_status_sync_duration_seconds', 0.2);
    sink.set('pod_status_manager_channel_capacity', 1000);
    sink.increment('a_name_that_is_not_defined');
    expect(await scraped(registry, 'pod_status_manager_requests_total')).toEqual([
      'pod_status_manager_requests_total{verb="get",result="ok"} 3',
    ]);
    const sync = await scraped(registry, 'kubelet_pod_status_sync_duration_seconds');
    expect(sync).toContain('kubelet_pod_status_sync_duration_seconds_bucket{le="0.5"} 1');
    expect(sync).toContain('kubelet_pod_status_sync_duration_seconds_bucket{le="0.1"} 0');
    // eleven buckets, the one to infinity, the sum and the count
    expect(sync).toHaveLength(14);
    expect(await scraped(registry, 'pod_status_manager_channel_capacity')).toEqual(['pod_status_manager_channel_capacity 1000']);
    expect(await scraped(registry, 'pod_status_manager_channel_depth')).toEqual([]);
  });

  it('reads its gauges once in each collection', async () => {
    const registry = new Registry();
    const sink = sinkOn(registry);
    let reads = 0;
    const end = sink.onCollect(() => {
      reads += 1;
      sink.set('pod_status_manager_channel_depth', reads);
      sink.set('kubelet_mirror_pods', reads);
    });
    expect(await scraped(registry, 'pod_status_manager_channel_depth')).toEqual(['pod_status_manager_channel_depth 1']);
    expect(await scraped(registry, 'kubelet_mirror_pods')).toEqual(['kubelet_mirror_pods 2']);
    end();
    expect(await scraped(registry, 'kubelet_mirror_pods')).toEqual(['kubelet_mirror_pods 2']);
  });

  it('removes the series of a pod', async () => {
    const registry = new Registry();
    const sink = sinkOn(registry, { labels: { node: 'a' } });
    const labels = { probe_type: 'Liveness', container: 'c', pod: 'p', namespace: 'n' };
    sink.observe('prober_probe_duration_seconds', 1, labels);
    sink.increment('prober_probe_total', { ...labels, pod_uid: 'u', result: 'failed' });
    expect(await scraped(registry, 'prober_probe_total')).toHaveLength(1);
    sink.remove('prober_probe_duration_seconds', labels);
    sink.remove('prober_probe_total', { ...labels, pod_uid: 'u', result: 'failed' });
    expect(await scraped(registry, 'prober_probe_duration_seconds')).toEqual([]);
    expect(await scraped(registry, 'prober_probe_total')).toEqual([]);
  });

  it('leaves metrics out', async () => {
    const registry = new Registry();
    const sink = sinkOn(registry, { omit: ['kubelet_mirror_pods'] });
    sink.set('kubelet_mirror_pods', 1);
    expect(await registry.metrics()).not.toContain('kubelet_mirror_pods');
  });

  it('works with a registry in the OpenMetrics format', async () => {
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const sink = createPrometheusMetrics({ registry, eventLoopDelay: false });
    open.push(sink);
    sink.increment('pod_status_manager_repairs_total');
    expect(await registry.metrics()).toContain('\npod_status_manager_repairs_total 1\n');
    sink.increment('pod_status_manager_repairs_total');
    expect(await registry.metrics()).toContain('\npod_status_manager_repairs_total 2\n');
  });
});

describe('the event loop delay', () => {
  it('is measured while the sink is open, and keeps no process alive', async () => {
    const registry = new Registry();
    const sink = sinkOn(registry, { eventLoopDelay: true });
    await scraped(registry, 'pod_status_manager_event_loop_delay_seconds');
    const lines = await scraped(registry, 'pod_status_manager_event_loop_delay_seconds');
    expect(lines.map((line) => line.replace(/ \S+$/, ''))).toEqual(
      ['50', '90', '99', '100'].map((percentile) => `pod_status_manager_event_loop_delay_seconds{percentile="${percentile}"}`),
    );
    for (const line of lines) expect(Number(line.split(' ')[1])).toBeGreaterThanOrEqual(0);
    await sink.close();
    expect(await registry.metrics()).toBe('\n');
  });
});

describe('two sinks on one registry', () => {
  it('share the metrics, and are told apart by their labels', async () => {
    const registry = new Registry();
    const [a, b] = ['a', 'b'].map((node) => sinkOn(registry, { labels: { node } }));
    a?.onCollect(() => a.set('kubelet_mirror_pods', 1));
    b?.onCollect(() => b.set('kubelet_mirror_pods', 2));
    a?.increment('pod_status_manager_repairs_total');
    b?.increment('pod_status_manager_repairs_total', {}, 5);
    expect(await scraped(registry, 'kubelet_mirror_pods')).toEqual([
      'kubelet_mirror_pods{node="a"} 1',
      'kubelet_mirror_pods{node="b"} 2',
    ]);
    expect(await scraped(registry, 'pod_status_manager_repairs_total')).toEqual([
      'pod_status_manager_repairs_total{node="a"} 1',
      'pod_status_manager_repairs_total{node="b"} 5',
    ]);
  });

  it('close one by one: each takes its own series with it, and the last one the metrics', async () => {
    const registry = new Registry();
    const [a, b] = ['a', 'b'].map((node) => sinkOn(registry, { labels: { node } }));
    for (const sink of [a, b]) {
      sink?.increment('pod_status_manager_repairs_total');
      sink?.observe('pod_status_manager_request_duration_seconds', 1, { verb: 'get' });
    }
    await a?.close();
    a?.increment('pod_status_manager_repairs_total');
    expect(await scraped(registry, 'pod_status_manager_repairs_total')).toEqual(['pod_status_manager_repairs_total{node="b"} 1']);
    const durations = await scraped(registry, 'pod_status_manager_request_duration_seconds');
    expect(durations.filter((line) => line.includes('node="a"'))).toEqual([]);
    expect(durations).not.toEqual([]);
    await b?.close();
    await b?.close();
    expect(await registry.metrics()).toBe('\n');
  });

  it('keep their labels until the close has ended, so that no series of a later sink goes', async () => {
    const registry = new Registry();
    sinkOn(registry, { labels: { node: 'b' } });
    const first = sinkOn(registry, { labels: { node: 'a' } });
    first.increment('pod_status_manager_repairs_total', {}, 5);
    const closing = first.close();
    expect(() => sinkOn(registry, { labels: { node: 'a' } })).toThrow(refused(/close\(\) has ended/));
    await closing;
    const second = sinkOn(registry, { labels: { node: 'a' } });
    second.increment('pod_status_manager_repairs_total', {}, 3);
    expect(await scraped(registry, 'pod_status_manager_repairs_total')).toContain('pod_status_manager_repairs_total{node="a"} 3');
  });

  it('close at the same time, and then the registry is empty', async () => {
    const registry = new Registry();
    await Promise.all(['a', 'b'].map((node) => sinkOn(registry, { labels: { node } }).close()));
    expect(await registry.metrics()).toBe('\n');
  });

  it('are refused where nothing would tell them apart, and then nothing has changed', async () => {
    const registry = new Registry();
    const first = sinkOn(registry, { labels: { node: 'a' } });
    first.increment('pod_status_manager_repairs_total');
    const before = await registry.metrics();
    expect(() => sinkOn(registry, { labels: { node: 'a' } })).toThrow(refused(/`labels` to be an object with other values/));
    expect(() => sinkOn(registry, { labels: { zone: 'z' } })).toThrow(refused(/names that the other sinks .* have \(node\)/));
    expect(() => sinkOn(registry)).toThrow(refused(/names that the other sinks .* have \(node\)/));
    expect(await registry.metrics()).toBe(before);
    await first.close();
    sinkOn(registry, { labels: { node: 'a' } });
  });
});

describe('a registry that has one of the names already', () => {
  it('is refused, and stays as it was, unless the name is left out', async () => {
    const registry = new Registry();
    const counter = new Counter({ name: 'kubelet_restarted_pods_total', help: 'ours', registers: [registry] });
    counter.inc(7);
    const before = await registry.metrics();
    expect(() => sinkOn(registry)).toThrow(refused(/without a metric kubelet_restarted_pods_total of somebody else/));
    expect(await registry.metrics()).toBe(before);
    const sink = sinkOn(registry, { omit: ['kubelet_restarted_pods_total'] });
    sink.increment('kubelet_restarted_pods_total', { static: '' });
    expect(await scraped(registry, 'kubelet_restarted_pods_total')).toEqual(['kubelet_restarted_pods_total 7']);
    await sink.close();
    expect(await registry.metrics()).toBe(before);
  });
});

describe('the options', () => {
  it.each<[unknown, RegExp]>([
    [{}, /`registry` to be an object with getSingleMetric/],
    [{ labels: null }, /`labels` to be an object/],
    [{ labels: { node: 1 } }, /`labels.node` to be a string/],
    [{ labels: { verb: 'x' } }, /`labels.verb` to be named otherwise, or pod_status_manager_requests_total left out/],
    [{ omit: ['nothing'] }, /`omit` to be a list of names in `metricDefinitions`/],
    [{ omit: 'kubelet_mirror_pods' }, /`omit` to be a list/],
    [{ omit: 5, eventLoopDelay: false }, /`omit` to be a list/],
    [{ eventLoopDelay: 1 }, /`eventLoopDelay` to be a boolean/],
    [{ prefix: 'x' }, /`options.prefix` to be absent/],
  ])('%o are refused', (options, message) => {
    const given = { ...(message.source.includes('registry') ? {} : { registry: new Registry() }), ...(options as object) };
    expect(() => createPrometheusMetrics(given as PrometheusMetricsOptions)).toThrow(refused(message));
  });

  it.each(['a-b', '__a', 'le', ''])('refuse a label named "%s", and then nothing is registered', async (name) => {
    const registry = new Registry();
    expect(() => sinkOn(registry, { labels: { [name]: 'c' } })).toThrow(refused(/named as Prometheus allows it/));
    expect(await registry.metrics()).toBe('\n');
  });
});
