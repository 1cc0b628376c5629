/**
 * The library's metrics by a meter of OpenTelemetry.
 *
 * @module pod-status-manager/opentelemetry
 */
import './node-version.ts';

export { createOpenTelemetryMetrics, type OpenTelemetryMetrics } from './opentelemetry/opentelemetry-metrics.ts';
export type { OpenTelemetryMetricsOptions } from './opentelemetry/opentelemetry-options.ts';
