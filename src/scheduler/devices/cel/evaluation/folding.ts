import type { CelMeter } from '../cel-meter.ts';
import type { CelFold } from '../syntax.ts';
import { CelFailure, CelList, CelMap, type CelValue, typeNameOf } from '../values.ts';
import type { Evaluate } from './attributes.ts';
import type { CelScope } from './scope.ts';

interface FoldParts {
  readonly initial: Evaluate;
  readonly range: Evaluate;
  readonly condition: Evaluate;
  readonly step: Evaluate;
  readonly result: Evaluate;
}

/** The evaluation of a loop. */
export function foldEvaluation(fold: CelFold, parts: FoldParts): Evaluate {
  return (scope) => {
    const range = parts.range(scope);
    if (range instanceof CelFailure) return range;
    const entries = entriesOf(range, fold.secondVariable !== undefined);
    if (entries === undefined) return new CelFailure(`a loop goes over lists and maps, not ${typeNameOf(range)}`);
    return new FoldScope(fold, parts, scope).run(entries);
  };
}

type Entry = readonly [CelValue, CelValue];

/** The values of the variables in each round: keys and values of a map; of a list the elements, after their places if both are asked for. */
function entriesOf(range: CelValue, two: boolean): Iterable<Entry> | undefined {
  if (range instanceof CelMap) return [...range.entries()];
  return range instanceof CelList ? elementsOf(range.items, two) : undefined;
}

function* elementsOf(items: readonly CelValue[], two: boolean): Iterable<Entry> {
  // The loop may add to the list that it goes over: only what is there now counts.
  const count = items.length;
  for (let i = 0; i < count; i++) {
    const item = items[i] as CelValue;
    yield two ? [BigInt(i), item] : [item, item];
  }
}

class FoldScope implements CelScope {
  readonly meter: CelMeter;
  readonly #fold: CelFold;
  readonly #parts: FoldParts;
  readonly #outer: CelScope;
  /** Undefined until it is first looked at: a name that nobody uses is never evaluated. */
  #accumulated: CelValue | undefined;
  #first: CelValue = null;
  #second: CelValue = null;
  #ended = false;

  constructor(fold: CelFold, parts: FoldParts, outer: CelScope) {
    this.#fold = fold;
    this.#parts = parts;
    this.#outer = outer;
    this.meter = outer.meter;
  }

  run(entries: Iterable<Entry>): CelValue {
    for (const [first, second] of entries) {
      this.meter.work(1);
      this.#first = first;
      this.#second = second;
      if (this.#parts.condition(this) === false) break;
      this.#accumulated = this.#parts.step(this);
    }
    this.#ended = true;
    const result = this.#parts.result(this);
    if (result instanceof CelList && result.growing) return new CelList(result.items);
    return result;
  }

  lookup(name: string): CelValue | undefined {
    if (name === this.#fold.accumulator) {
      if (this.#accumulated === undefined) this.#accumulated = this.#begun(this.#parts.initial(this.#outer));
      return this.#accumulated;
    }
    if (!this.#ended && name === this.#fold.variable) return this.#first;
    if (!this.#ended && name === this.#fold.secondVariable) return this.#second;
    return this.#outer.lookup(name);
  }

  #begun(value: CelValue): CelValue {
    if (value instanceof CelList && value.items.length === 0) return new CelList([], true);
    if (value instanceof CelMap && value.size === 0) return new CelMap({ growing: true });
    return value;
  }
}
