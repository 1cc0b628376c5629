/**
 * The library's metrics in a registry of prom-client.
 *
 * @module pod-status-manager/prometheus
 */
import './base/node-version.ts';

export { createPrometheusMetrics, type PrometheusMetrics } from './observe/prometheus/prometheus-metrics.ts';
export type { PrometheusMetricsOptions } from './observe/prometheus/prometheus-options.ts';
export type { PrometheusRegistry } from './observe/prometheus/shared-metric.ts';
