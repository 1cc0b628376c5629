/** What a metric is: a counter only grows, a gauge goes up and down, a histogram counts values by buckets. */
export type MetricType = 'counter' | 'gauge' | 'histogram';

/** One label of a metric. */
export interface LabelDefinition {
  /** What the label says, in one sentence. */
  readonly help: string;
  /** Every value that the label can have; absent where the values are open. */
  readonly values?: readonly string[];
}

/** What is known of a metric before anything is measured. */
export interface MetricDefinition {
  /** As Prometheus writes names. */
  readonly name: string;
  /** Counter, gauge or histogram. */
  readonly type: MetricType;
  /** What is measured, in one sentence or two. */
  readonly help: string;
  /** As UCUM, and OpenTelemetry, write units: `s` for seconds, and what is counted in braces, such as `{pod}`. */
  readonly unit: string;
  /** By name. */
  readonly labels: Readonly<Record<string, LabelDefinition>>;
  /** The upper bounds of a histogram's buckets, ascending, without infinity; absent for other types. */
  readonly buckets?: readonly number[];
  /** The part that measures it, by the name of its class. */
  readonly part: string;
  /** `kubelet` and `kube-scheduler`: name, type, labels and buckets are those of that program of Kubernetes v1.36.3. */
  readonly origin: 'kubelet' | 'kube-scheduler' | 'own';
  /** True where each pod has series of its own, which end with the pod: see `MetricsSink.remove`. */
  readonly endsWithPod?: true;
  /** True where each resource of device plugins has series of its own, which end when the node has the resource no more: see `MetricsSink.remove`. */
  readonly endsWithResource?: true;
}

/** A definition as it is written down: its name is its key. */
export type WrittenDefinition = Omit<MetricDefinition, 'name'>;

// Labels and buckets that several metrics have.

/** Why a request failed, in the words of the type `ErrorClass`. */
const errorClasses = [
  'gone',
  'conflict',
  'invalid',
  'unauthorized',
  'forbidden',
  'throttled',
  'unavailable',
  'timeout',
  'broken-answer',
  'aborted',
] as const;

export const errorClassLabel = { help: 'what the failure means; ARCHITECTURE.md has a table', values: errorClasses } as const;

export const resultLabel = {
  help: '`ok`, or what the failure means; ARCHITECTURE.md has a table of that',
  values: ['ok', ...errorClasses],
} as const;

export const staticLabel = { help: '`true` for static pods, empty for pods of the apiserver', values: ['', 'true'] } as const;

/** The buckets that Prometheus clients have by default. */
export const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** As client-go's buckets for requests, in seconds. */
export const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
