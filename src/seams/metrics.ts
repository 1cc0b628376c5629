export type Labels = Readonly<Record<string, string>>;

/**
 * Where measurements go. Metric names are Prometheus names; times are in seconds.
 * A sink that throws is ignored. No series is ever taken away: where the kubelet drops one, it is set to 0.
 */
export interface MetricsSink {
  increment(name: string, labels?: Labels, by?: number): void;
  observe(name: string, value: number, labels?: Labels): void;
  set(name: string, value: number, labels?: Labels): void;
}

const nothing = (): void => {};

export const noMetrics: MetricsSink = { increment: nothing, observe: nothing, set: nothing };

/** The same sink, but one that throws harms nobody. */
export function safeMetrics(sink: MetricsSink): MetricsSink {
  const guard =
    <Args extends unknown[]>(call: (...args: Args) => void) =>
    (...args: Args): void => {
      try {
        call(...args);
      } catch {
        // a sink that fails must not stop the sync
      }
    };
  return {
    increment: guard((...args) => sink.increment(...args)),
    observe: guard((...args) => sink.observe(...args)),
    set: guard((...args) => sink.set(...args)),
  };
}
