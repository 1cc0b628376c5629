/**
 * The library's metrics in a registry of prom-client.
 *
 * @module pod-status-manager/prometheus
 */
import './node-version.ts';

export { createPrometheusMetrics, type PrometheusMetrics } from './prometheus/prometheus-metrics.ts';
export type { PrometheusMetricsOptions } from './prometheus/prometheus-options.ts';
export type { PrometheusRegistry } from './prometheus/shared-metric.ts';
