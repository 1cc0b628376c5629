import type { SteadyClock } from '../../base/clock.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Namesakes } from './namesakes.ts';
import type { ProbeType } from './probe-types.ts';
import type { ProbeDefinition } from './probed-container.ts';

type Result = MetricLabels['prober_probe_total']['result'];

const results: readonly Result[] = ['successful', 'failed', 'unknown'];
const types = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const satisfies Record<ProbeType, string>;

/** Measures the probes of one worker. */
export class ProbeMeasures {
  readonly #metrics: Metrics;
  readonly #clock: SteadyClock;
  readonly #labels: MetricLabels['prober_probe_duration_seconds'];
  readonly #podUID: string;
  readonly #namesakes: Namesakes;
  readonly #name: string;

  constructor(
    { metrics, clock }: { readonly metrics: Metrics; readonly clock: SteadyClock },
    namesakes: Namesakes,
    { pod, container, type }: ProbeDefinition,
  ) {
    const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
    this.#metrics = metrics;
    this.#clock = clock;
    this.#labels = { probe_type: types[type], container: container.name, pod: name, namespace };
    this.#podUID = uid;
    this.#namesakes = namesakes;
    this.#name = [namespace, name, container.name, type].join('/');
    namesakes.begin(this.#name);
  }

  /** By the clock that only grows. */
  now(): number {
    return this.#clock.elapsed();
  }

  count(said: 'Success' | 'Failure' | undefined, startedAt: number): void {
    const result = said === undefined ? 'unknown' : said === 'Success' ? 'successful' : 'failed';
    this.#metrics.increment('prober_probe_total', this.#ofResult(result));
    if (said !== 'Success') return;
    const seconds = (this.#clock.elapsed() - startedAt) / 1000;
    this.#metrics.observe('prober_probe_duration_seconds', seconds, this.#labels);
  }

  /** The container is probed no more in this way. */
  end(): void {
    for (const result of results) this.#metrics.remove('prober_probe_total', this.#ofResult(result));
    // a pod that was created anew has the series of this name, too
    if (this.#namesakes.end(this.#name)) this.#metrics.remove('prober_probe_duration_seconds', this.#labels);
  }

  #ofResult(result: Result): MetricLabels['prober_probe_total'] {
    return { ...this.#labels, pod_uid: this.#podUID, result };
  }
}
