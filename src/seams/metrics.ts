import { callGuarded, ignoreFailure } from './guard.ts';

export type Labels = Readonly<Record<string, string>>;

/**
 * Where measurements go. Metric names are Prometheus names; times are in seconds.
 * The failures of a sink that throws or rejects are ignored. No series is ever taken away: where the kubelet drops one, it is set to 0.
 */
export interface MetricsSink {
  increment(name: string, labels?: Labels, by?: number): void;
  observe(name: string, value: number, labels?: Labels): void;
  set(name: string, value: number, labels?: Labels): void;
}

const nothing = (): void => {};

export const noMetrics: MetricsSink = { increment: nothing, observe: nothing, set: nothing };

/** The same sink, whose failures are ignored: they must not stop the sync. */
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
