import { describe, expect, it } from 'vitest';
import { type MetricsSink, metricsOption, noMetrics } from '../../../../src/base/metrics/metrics.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';

const throws = (): never => {
  throw new Error('boom');
};
const rejects = async (): Promise<never> => throws();
const ignore = (): void => {};
const plain: MetricsSink = { increment: ignore, observe: ignore, set: ignore };

describe('the option metrics', () => {
  it('measures nothing when it is absent', () => {
    expect(metricsOption(undefined)).toBe(noMetrics);
    expect(noMetrics.isUsed).toBe(false);
  });

  it.each([
    [null, /`metrics` to be an object with increment, observe, set,/],
    [{ increment: ignore, set: ignore }, /`metrics` to be an object with observe,/],
    [{ ...plain, remove: 1 }, /`metrics.remove` to be a function, or absent/],
    [{ ...plain, onCollect: null }, /`metrics.onCollect` to be a function, or absent/],
  ])('refuses %o', (sink, message) => {
    expect(() => metricsOption(sink as unknown as MetricsSink)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });

  it('hands on what is measured, and calls the methods on the sink itself', () => {
    const calls: unknown[] = [];
    const sink = {
      calls,
      increment(...args: unknown[]) {
        this.calls.push(args);
      },
      observe(...args: unknown[]) {
        this.calls.push(args);
      },
      set(...args: unknown[]) {
        this.calls.push(args);
      },
      remove(...args: unknown[]) {
        this.calls.push(args);
      },
    };
    const metrics = metricsOption(sink);
    metrics.increment('pod_status_manager_hints_dropped_total');
    metrics.increment('kubelet_restarted_pods_total', { static: '' }, 3);
    metrics.observe('pod_status_manager_request_duration_seconds', 0.5, { verb: 'get' });
    metrics.set('kubelet_mirror_pods', 2);
    const labels = { probe_type: 'Liveness', container: 'c', pod: 'p', namespace: 'n' } as const;
    metrics.remove('prober_probe_duration_seconds', labels);
    expect(calls).toEqual([
      ['pod_status_manager_hints_dropped_total', undefined, undefined],
      ['kubelet_restarted_pods_total', { static: '' }, 3],
      ['pod_status_manager_request_duration_seconds', 0.5, { verb: 'get' }],
      ['kubelet_mirror_pods', 2, undefined],
      ['prober_probe_duration_seconds', labels],
    ]);
  });

  it.each([throws, rejects])('does no harm when the sink fails (%o)', async (fail) => {
    const sink = { increment: fail, observe: fail, set: fail, remove: fail, onCollect: fail };
    const metrics = metricsOption(sink as unknown as MetricsSink);
    const measureAll = (): void => {
      metrics.increment('pod_status_manager_hints_dropped_total');
      metrics.observe('pod_status_manager_batch_duration_seconds', 1);
      metrics.set('kubelet_mirror_pods', 1);
      metrics.remove('kubelet_mirror_pods', {});
      metrics.onCollect?.(ignore)?.();
    };
    expect(await unhandledRejectionsOf(measureAll)).toEqual([]);
  });

  it('reads no more once the subscription has ended, though the sink goes on', () => {
    let collect = ignore;
    let ended = 0;
    const sink: MetricsSink = {
      ...plain,
      onCollect(read) {
        collect = read;
        return () => void ended++;
      },
    };
    let reads = 0;
    const end = metricsOption(sink).onCollect?.(() => void reads++);
    collect();
    end?.();
    collect();
    expect([reads, ended]).toEqual([1, 1]);
  });
});
