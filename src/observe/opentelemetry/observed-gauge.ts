import type { BatchObservableResult, Observable } from '@opentelemetry/api';
import type { Labels } from '../../base/metrics/metrics.ts';

interface Series {
  readonly attributes: Labels;
  readonly value: number;
}

/** An observable gauge, with the last value of each series, which is reported at each collection. */
export class ObservedGauge {
  readonly instrument: Observable;
  readonly #series = new Map<string, Series>();

  constructor(instrument: Observable) {
    this.instrument = instrument;
  }

  set(attributes: Labels, value: number): void {
    this.#series.set(keyOf(attributes), { attributes, value });
  }

  report(result: BatchObservableResult): void {
    for (const { attributes, value } of this.#series.values()) result.observe(this.instrument, value, attributes);
  }
}

function keyOf(attributes: Labels): string {
  const names = Object.keys(attributes).sort();
  return JSON.stringify(names.map((name) => [name, attributes[name]]));
}
