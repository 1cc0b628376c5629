import type { CelMeter } from '../cel-meter.ts';
import type { CelValue } from '../values.ts';

/** The values that names have where a part is evaluated. */
export interface CelScope {
  readonly meter: CelMeter;
  /** Undefined for a name that is not there. */
  lookup(name: string): CelValue | undefined;
}

/** The variables of a whole expression. */
export class CelVariables implements CelScope {
  readonly meter: CelMeter;
  readonly #values: ReadonlyMap<string, CelValue>;

  constructor(values: ReadonlyMap<string, CelValue>, meter: CelMeter) {
    this.#values = values;
    this.meter = meter;
  }

  lookup(name: string): CelValue | undefined {
    return this.#values.get(name);
  }
}
