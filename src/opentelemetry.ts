/**
 * The library's metrics by a meter of OpenTelemetry.
 *
 * @module pod-status-manager/opentelemetry
 */
import './base/node-version.ts';

export { createOpenTelemetryMetrics, type OpenTelemetryMetrics } from './observe/opentelemetry/opentelemetry-metrics.ts';
export type { OpenTelemetryMetricsOptions } from './observe/opentelemetry/opentelemetry-options.ts';
