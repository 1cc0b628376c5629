import { describe, expect, it } from 'vitest';
import type { MetricLabels } from '../../../../src/base/metrics/metric-definitions.ts';
import { beginAtZero, type Labels, metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { type ErrorClass, metricDefinitions } from '../../../../src/index.ts';
import type { PodSyncPhase } from '../../../../src/status/sync/sync-phase.ts';

const definitions = Object.values(metricDefinitions);

/** True only where the two types are the same. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

describe('metricDefinitions', () => {
  it('is frozen, and names each metric by its key', () => {
    for (const [key, definition] of Object.entries(metricDefinitions)) {
      expect(definition.name).toBe(key);
      const parts = [metricDefinitions, definition, definition.labels, definition.buckets ?? definition];
      expect(parts.every((part) => Object.isFrozen(part))).toBe(true);
    }
  });

  it('follows the naming rules of Prometheus', () => {
    for (const { name, type, unit, labels, buckets } of definitions) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      // the kubelet gives this one no unit
      const hasUnit = unit === 's' && name !== 'kubelet_credential_provider_plugin_duration';
      expect([name, name.endsWith('_seconds')]).toEqual([name, hasUnit]);
      for (const label of Object.keys(labels)) expect(label).toMatch(/^[a-z][a-z_]*$/);
      expect([name, buckets !== undefined]).toEqual([name, type === 'histogram']);
      expect(buckets ?? []).toEqual([...(buckets ?? [])].sort((a, b) => a - b));
    }
  });

  it("has the library's own prefix wherever the name is not the kubelet's", () => {
    const other = definitions.filter(({ name, origin }) => (origin === 'own') !== name.startsWith('pod_status_manager_'));
    expect(other).toEqual([]);
  });

  it('has the values of labels that the library has types for', () => {
    const isSame: [
      Same<MetricLabels['pod_status_manager_retries_total']['error_class'], ErrorClass>,
      Same<MetricLabels['pod_status_manager_pods']['phase'], Exclude<PodSyncPhase, 'unknown' | 'cache-only'>>,
    ] = [true, true];
    expect(isSame).toEqual([true, true]);
  });
});

describe('counters that begin at zero', () => {
  it('have a series for every combination of label values', () => {
    const series: [string, Labels | undefined, number | undefined][] = [];
    const nothing = (): void => {};
    const sink = metricsOption({
      increment: (...args) => void series.push([args[0], args[1], args[2]]),
      observe: nothing,
      set: nothing,
    });
    beginAtZero(sink, ['pod_status_manager_hints_dropped_total', 'kubelet_restarted_pods_total']);
    expect(series).toEqual([
      ['pod_status_manager_hints_dropped_total', {}, 0],
      ['kubelet_restarted_pods_total', { static: '' }, 0],
      ['kubelet_restarted_pods_total', { static: 'true' }, 0],
    ]);
    series.length = 0;
    beginAtZero(sink, ['pod_status_manager_requests_total']);
    expect(series).toHaveLength(33);
  });
});
