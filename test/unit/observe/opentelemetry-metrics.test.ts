import { AggregationTemporality, DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { type MetricName, metricDefinitions } from '../../../src/index.ts';
import {
  createOpenTelemetryMetrics,
  type OpenTelemetryMetrics,
  type OpenTelemetryMetricsOptions,
} from '../../../src/opentelemetry.ts';

/** A reader that collects when the test asks for it. */
class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

class Metering {
  // with the other temporality, CUMULATIVE, the SDK goes on to report a series that nobody observes any more
  readonly #reader = new PulledReader({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA });
  readonly meter = new MeterProvider({ readers: [this.#reader] }).getMeter('test');

  sink(options: Partial<OpenTelemetryMetricsOptions> = {}): OpenTelemetryMetrics {
    return createOpenTelemetryMetrics({ meter: this.meter, eventLoopDelay: false, ...options });
  }

  async metrics() {
    const { resourceMetrics, errors } = await this.#reader.collect();
    expect(errors).toEqual([]);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }

  /** The values of one metric, by attributes. */
  async points(name: MetricName): Promise<[attributes: object, value: unknown][]> {
    const found = (await this.metrics()).find(({ descriptor }) => descriptor.name === name);
    return found?.dataPoints.map(({ attributes, value }) => [attributes, value]) ?? [];
  }
}

describe('a sink over a meter of OpenTelemetry', () => {
  it('makes an instrument for every metric, as it is defined', async () => {
    const metering = new Metering();
    const sink = metering.sink({ eventLoopDelay: true });
    for (const { name, type, labels: names } of Object.values(metricDefinitions)) {
      const given = Object.fromEntries(Object.keys(names).map((label) => [label, 'x']));
      if (type === 'counter') sink.increment(name, given);
      if (type === 'histogram') sink.observe(name, 0.02, given);
      if (type === 'gauge') sink.set(name, 1, given);
    }
    const metrics = await metering.metrics();
    const types = { counter: DataPointType.SUM, gauge: DataPointType.GAUGE, histogram: DataPointType.HISTOGRAM };
    const shown = metrics.map(({ descriptor: { name, description, unit }, dataPointType }) => ({
      name,
      description,
      unit,
      dataPointType,
    }));
    const defined = Object.values(metricDefinitions).map(({ name, help, unit, type }) => ({
      ...{ name, description: help, unit },
      dataPointType: types[type],
    }));
    const byName = (one: { name: string }, other: { name: string }): number => (one.name < other.name ? -1 : 1);
    expect(shown.sort(byName)).toEqual(defined.sort(byName));
    const boundaries = metrics.find(({ descriptor }) => descriptor.name === 'pod_status_manager_batch_duration_seconds');
    expect(boundaries?.dataPoints[0]?.value).toMatchObject({
      buckets: { boundaries: metricDefinitions.pod_status_manager_batch_duration_seconds.buckets },
    });
    sink.close();
  });

  it('shows what is measured', async () => {
    const metering = new Metering();
    const sink = metering.sink({ attributes: { node: 'a' } });
    sink.increment('pod_status_manager_requests_total', { verb: 'get', result: 'ok' });
    sink.increment('pod_status_manager_requests_total', { verb: 'get', result: 'ok' }, 2);
    sink.increment('a_name_that_is_not_defined');
    expect(await metering.points('pod_status_manager_requests_total')).toEqual([[{ verb: 'get', result: 'ok', node: 'a' }, 3]]);
    sink.observe('pod_status_manager_request_duration_seconds', 0.3, { verb: 'get' });
    expect(await metering.points('pod_status_manager_request_duration_seconds')).toMatchObject([
      [
        { verb: 'get', node: 'a' },
        { count: 1, sum: 0.3 },
      ],
    ]);
  });

  it('reads its gauges once in each collection', async () => {
    const metering = new Metering();
    const sink = metering.sink();
    let reads = 0;
    const end = sink.onCollect(() => {
      reads += 1;
      sink.set('kubelet_mirror_pods', reads);
    });
    expect(await metering.points('kubelet_mirror_pods')).toEqual([[{}, 1]]);
    expect(await metering.points('kubelet_mirror_pods')).toEqual([[{}, 2]]);
    end();
    expect(await metering.points('kubelet_mirror_pods')).toEqual([[{}, 2]]);
  });

  it('measures the delay of the event loop', async () => {
    const metering = new Metering();
    const sink = metering.sink({ eventLoopDelay: true });
    const points = await metering.points('pod_status_manager_event_loop_delay_seconds');
    expect(points.map(([attributes]) => attributes)).toEqual(['50', '90', '99', '100'].map((percentile) => ({ percentile })));
    sink[Symbol.dispose]();
  });

  it('reports no more once it is closed, while another sink of the meter does', async () => {
    const metering = new Metering();
    const [a, b] = ['a', 'b'].map((node) => metering.sink({ attributes: { node } }));
    for (const sink of [a, b]) sink?.onCollect(() => sink.set('kubelet_mirror_pods', 1));
    expect(await metering.points('kubelet_mirror_pods')).toEqual([
      [{ node: 'a' }, 1],
      [{ node: 'b' }, 1],
    ]);
    a?.close();
    a?.close();
    a?.increment('pod_status_manager_repairs_total');
    expect(await metering.points('kubelet_mirror_pods')).toEqual([[{ node: 'b' }, 1]]);
    expect(await metering.points('pod_status_manager_repairs_total')).toEqual([]);
  });

  it('leaves metrics out', async () => {
    const metering = new Metering();
    const sink = metering.sink({ omit: ['kubelet_mirror_pods'] });
    sink.set('kubelet_mirror_pods', 1);
    expect(await metering.points('kubelet_mirror_pods')).toEqual([]);
  });
});

describe('the options', () => {
  it.each<[object, RegExp]>([
    [{ meter: {} }, /`meter` to be an object with createCounter/],
    [{ attributes: { node: 1 } }, /`attributes.node` to be a string/],
    [{ attributes: { pod: 'p' } }, /`attributes.pod` to be named otherwise/],
    [{ omit: ['nothing'] }, /`omit` to be a list of names/],
    [{ omit: 5, eventLoopDelay: false }, /`omit` to be a list of names/],
    [{ labels: {} }, /`options.labels` to be absent/],
  ])('%o are refused', (options, message) => {
    const given = { meter: new Metering().meter, ...options } as OpenTelemetryMetricsOptions;
    expect(() => createOpenTelemetryMetrics(given)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });
});
