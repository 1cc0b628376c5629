import type { MetricsSink } from '../../src/index.ts';
import { type Labels, metricDefinitions } from '../../src/index.ts';

/**
 * A metrics sink that keeps the value of each series, and refuses what is not defined: an unknown name, another type, labels
 * that the definition does not have. With `pulled` the sampled gauges are read by `collect` alone.
 */
export class MetricsRecorder implements MetricsSink {
  readonly #series = new Map<string, number[]>();
  readonly #reads = new Set<() => void>();
  /** What was against the definitions. */
  readonly mistakes: string[] = [];
  readonly onCollect?: (read: () => void) => () => void;

  constructor({ pulled = true }: { readonly pulled?: boolean } = {}) {
    if (pulled) {
      this.onCollect = (read) => {
        this.#reads.add(read);
        return () => void this.#reads.delete(read);
      };
    }
  }

  increment(name: string, labels: Labels = {}, by = 1): void {
    const [value = 0] = this.#check('counter', name, labels);
    this.#series.set(seriesOf(name, labels), [value + by]);
  }

  observe(name: string, value: number, labels: Labels = {}): void {
    this.#series.set(seriesOf(name, labels), [...this.#check('histogram', name, labels), value]);
  }

  set(name: string, value: number, labels: Labels = {}): void {
    this.#check('gauge', name, labels);
    this.#series.set(seriesOf(name, labels), [value]);
  }

  remove(name: string, labels: Labels): void {
    this.#series.delete(seriesOf(name, labels));
  }

  /** Reads the sampled gauges, as a scrape does. */
  collect(): this {
    for (const read of this.#reads) read();
    return this;
  }

  /** How many parts have asked to be read. */
  get readers(): number {
    return this.#reads.size;
  }

  /** The value of one counter or gauge; of a counter or gauge without the series, undefined. */
  value(name: string, labels: Labels = {}): number | undefined {
    return this.#series.get(seriesOf(name, labels))?.[0];
  }

  /** What a histogram was given, in order. */
  values(name: string, labels: Labels = {}): readonly number[] {
    return this.#series.get(seriesOf(name, labels)) ?? [];
  }

  /** The series of a counter or gauge that are not 0, as label values joined by commas. */
  nonZero(name: string): Record<string, number> {
    const found: Record<string, number> = {};
    for (const [key, [value = 0]] of this.#series) {
      const [of, ...labels] = JSON.parse(key) as string[];
      if (of === name && value !== 0) found[labels.map((label) => label.slice(label.indexOf('=') + 1)).join()] = value;
    }
    return found;
  }

  /** The names of the metrics that have a series. */
  names(): Set<string> {
    return new Set([...this.#series.keys()].map((key) => (JSON.parse(key) as string[])[0] ?? ''));
  }

  #check(type: string, name: string, labels: Labels): readonly number[] {
    const definition = Object.values(metricDefinitions).find((one) => one.name === name);
    const key = seriesOf(name, labels);
    if (definition?.type !== type) this.mistakes.push(`${key} is no ${type}`);
    const known = Object.keys(definition?.labels ?? {}).sort();
    if (JSON.stringify(Object.keys(labels).sort()) !== JSON.stringify(known)) this.mistakes.push(`${key} has other labels`);
    for (const [label, value] of Object.entries(labels)) {
      const { values } = definition?.labels[label] ?? {};
      if (typeof value !== 'string' || values?.includes(value) === false)
        this.mistakes.push(`${key}: ${label} has no such value`);
    }
    return this.#series.get(key) ?? [];
  }
}

function seriesOf(name: string, labels: Labels): string {
  const sorted = Object.keys(labels).sort();
  return JSON.stringify([name, ...sorted.map((label) => `${label}=${labels[label]}`)]);
}
