/**
 * The library's metrics by a meter of OpenTelemetry.
 *
 * @module pod-status-manager/opentelemetry
 */
import './base/node-version.ts';

export type { OpenTelemetryMetricsOptions } from './observe/opentelemetry-metrics.ts';
export { createOpenTelemetryMetrics, type OpenTelemetryMetrics } from './observe/opentelemetry-metrics.ts';
