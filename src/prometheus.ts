/**
 * The library's metrics in a registry of prom-client.
 *
 * @module pod-status-manager/prometheus
 */
import './base/node-version.ts';

export type { PrometheusMetricsOptions, PrometheusRegistry } from './observe/prometheus-metrics.ts';
export { createPrometheusMetrics, type PrometheusMetrics } from './observe/prometheus-metrics.ts';
