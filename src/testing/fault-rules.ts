/** How often a rule hits. */
export interface RuleLimits {
  readonly times?: number;
  readonly probability?: number;
  readonly random?: () => number;
}

interface ActiveRule<Rule> {
  readonly rule: Rule;
  remaining: number;
}

/** Rules of faults, in the order in which they were added. Each hits what fits until it is used up. */
export class FaultRules<Rule extends RuleLimits> {
  #rules: ActiveRule<Rule>[] = [];

  add(rule: Rule): { readonly remaining: number; remove(): void } {
    const times = rule.times ?? (rule.probability === undefined ? 1 : Number.POSITIVE_INFINITY);
    const active = { rule, remaining: times };
    this.#rules.push(active);
    return {
      get remaining() {
        return active.remaining;
      },
      remove: () => {
        active.remaining = 0;
      },
    };
  }

  clear(): void {
    for (const active of this.#rules) active.remaining = 0;
    this.#rules = [];
  }

  /** The rules that hit what `fits` says, one after another: whoever needs no more stops. Each that is taken counts as one hit. */
  *take(fits: (rule: Rule) => boolean): Generator<Rule, void> {
    this.#rules = this.#rules.filter(({ remaining }) => remaining > 0);
    for (const active of this.#rules) {
      const { probability, random = Math.random } = active.rule;
      if (!fits(active.rule) || (probability !== undefined && !(random() < probability))) continue;
      active.remaining -= 1;
      yield active.rule;
    }
  }
}
