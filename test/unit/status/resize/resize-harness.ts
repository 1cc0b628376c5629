import type { V1PodCondition } from '@kubernetes/client-node';
import type { Labels, MetricsSink } from '../../../../src/base/metrics/metrics.ts';
import { Harness } from '../status-harness.ts';

/** A metrics sink that keeps the last value of every gauge series, and counts the calls of `set`. */
class Gauges implements MetricsSink {
  readonly series: Record<string, number> = {};
  sets = 0;
  increment(): void {}
  observe(): void {}
  set(name: string, value: number, labels?: Labels): void {
    this.sets++;
    const suffix = labels === undefined ? '' : `{${Object.values(labels).join()}}`;
    this.series[name.replace('kubelet_pod_', '') + suffix] = value;
  }
}

/** A running manager and its gauges. */
export function started(): { h: Harness; manager: Harness['manager']; gauges: Record<string, number>; metrics: Gauges } {
  const metrics = new Gauges();
  const h = new Harness({ metrics });
  return { h, manager: h.manager, gauges: metrics.series, metrics };
}

export const uid = 'uid-1';
/** Conditions without their times. */
export const pending = (reason: string, message: string, observedGeneration: number): object => ({
  type: 'PodResizePending',
  status: 'True',
  reason,
  message,
  observedGeneration,
});
export const inProgress = (observedGeneration: number, rest: object = {}): object => ({
  type: 'PodResizeInProgress',
  status: 'True',
  observedGeneration,
  ...rest,
});
export const untimed = (conditions: readonly V1PodCondition[]): object[] =>
  conditions.map(({ lastProbeTime: _, lastTransitionTime: __, ...rest }) => rest);
/** The probe time and the transition time, as times of day. */
export const times = (condition: V1PodCondition | undefined): (string | undefined)[] =>
  [condition?.lastProbeTime, condition?.lastTransitionTime].map((time) => time?.toISOString().slice(11, 19));
