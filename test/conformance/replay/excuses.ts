import { isDeepStrictEqual } from 'node:util';
import { comparable } from './canonical.ts';
import { type Aspect, aspects, type Pair, type View } from './pair.ts';
import type { Rule } from './replay-rules.ts';

export interface AspectDifference {
  readonly aspect: Aspect;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The aspects in which the two still differ, and the rules that have explained the rest. */
export class Differences {
  /** Every rule that has taken something out of a difference. */
  readonly used = new Set<Rule>();
  /** The aspects that differed before any rule was asked. */
  readonly differed: ReadonlySet<Aspect>;
  readonly #conditionOrder: boolean;
  readonly #left = new Map<Aspect, readonly [theirs: unknown, ours: unknown]>();

  /** With `conditionOrder` false, the order of conditions does not count: a JSON Patch leaves them where they are. */
  constructor({ theirs, ours }: Pair, conditionOrder: boolean) {
    this.#conditionOrder = conditionOrder;
    for (const aspect of aspects) this.#compare(aspect, theirs[aspect], ours[aspect]);
    this.differed = new Set(this.#left.keys());
  }

  get size(): number {
    return this.#left.size;
  }

  has(aspect: Aspect): boolean {
    return this.#left.has(aspect);
  }

  /** Takes what the rule explains out of both sides of the aspect. The rest of the aspect is still compared. */
  excuse<A extends Aspect>(rule: Rule, aspect: A, mask: (value: View[A]) => unknown): void {
    const sides = this.#left.get(aspect);
    if (sides === undefined) return;
    const [theirs, ours] = sides.map((side) => mask(side as View[A]));
    const before = sides.map((side) => comparable(side, this.#conditionOrder));
    const after = [theirs, ours].map((side) => comparable(side, this.#conditionOrder));
    if (isDeepStrictEqual(before, after)) return;
    this.used.add(rule);
    this.#left.delete(aspect);
    this.#compare(aspect, theirs, ours);
  }

  /** {@link excuse}, but only if nothing is left of the difference then. */
  excuseIfAll<A extends Aspect>(rule: Rule, aspect: A, mask: (value: View[A]) => unknown): boolean {
    const sides = this.#left.get(aspect);
    if (sides === undefined) return false;
    const [theirs, ours] = sides.map((side) => comparable(mask(side as View[A]), this.#conditionOrder));
    if (isDeepStrictEqual(theirs, ours)) this.excuse(rule, aspect, mask);
    return !this.#left.has(aspect);
  }

  list(): AspectDifference[] {
    return Array.from(this.#left, ([aspect, [theirs, ours]]) => {
      return { aspect, expected: comparable(theirs, this.#conditionOrder), got: comparable(ours, this.#conditionOrder) };
    });
  }

  #compare(aspect: Aspect, theirs: unknown, ours: unknown): void {
    if (isDeepStrictEqual(theirs, ours)) return;
    const [expected, got] = [comparable(theirs, this.#conditionOrder), comparable(ours, this.#conditionOrder)];
    if (!isDeepStrictEqual(expected, got)) this.#left.set(aspect, [theirs, ours]);
  }
}
