import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import type { MetricsSink } from '../../src/index.ts';
import { createOpenTelemetryMetrics } from '../../src/opentelemetry.ts';
import { createPrometheusMetrics } from '../../src/prometheus.ts';

export const sinkNames = ['none', 'empty', 'prom-client', 'OpenTelemetry'] as const;
export type SinkName = (typeof sinkNames)[number];

export interface MeasuredSink {
  readonly metrics: MetricsSink | undefined;
  /** Collects once, as a scrape does. */
  readonly collect: () => Promise<unknown>;
}

class PulledReader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

const nothing = (): void => {};

export function sinkNamed(name: SinkName): MeasuredSink {
  switch (name) {
    case 'none':
      return { metrics: undefined, collect: async () => {} };
    case 'empty':
      return {
        metrics: { increment: nothing, observe: nothing, set: nothing, onCollect: () => nothing },
        collect: async () => {},
      };
    case 'prom-client': {
      const registry = new Registry();
      return { metrics: createPrometheusMetrics({ registry, eventLoopDelay: false }), collect: () => registry.metrics() };
    }
    case 'OpenTelemetry': {
      const reader = new PulledReader();
      const meter = new MeterProvider({ readers: [reader] }).getMeter('bench');
      return { metrics: createOpenTelemetryMetrics({ meter, eventLoopDelay: false }), collect: () => reader.collect() };
    }
  }
}
