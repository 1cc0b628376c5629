import { callGuarded, ignoreFailure } from './guard.ts';

export type Labels = Readonly<Record<string, string>>;

/**
 * Receives measurements. Metric names are Prometheus names; times are in seconds. The errors of a sink are ignored.
 * No series is removed: where the kubelet drops a series, it is set to 0.
 */
export interface MetricsSink {
  increment(name: string, labels?: Labels, by?: number): void;
  observe(name: string, value: number, labels?: Labels): void;
  set(name: string, value: number, labels?: Labels): void;
}

const nothing = (): void => {};

export const noMetrics: MetricsSink = { increment: nothing, observe: nothing, set: nothing };

/** The same sink with its failures ignored: they must not stop a sync. */
export function safeMetrics(sink: MetricsSink): MetricsSink {
  const guard =
    <Args extends unknown[]>(call: (...args: Args) => void) =>
    (...args: Args): void =>
      callGuarded(() => call(...args), ignoreFailure);
  return {
    increment: guard((...args) => sink.increment(...args)),
    observe: guard((...args) => sink.observe(...args)),
    set: guard((...args) => sink.set(...args)),
  };
}
