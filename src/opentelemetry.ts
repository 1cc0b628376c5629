import './node-version.ts';

export { createOpenTelemetryMetrics, type OpenTelemetryMetrics } from './opentelemetry/opentelemetry-metrics.ts';
export type { OpenTelemetryMetricsOptions } from './opentelemetry/opentelemetry-options.ts';
