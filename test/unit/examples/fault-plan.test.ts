import { describe, expect, it } from 'vitest';
import { faultPlan, faults, type PlanOptions } from '../../../examples/virtual-node/faults/fault-plan.ts';
import type { RunKind } from '../../../examples/virtual-node/options.ts';

const kinds: readonly RunKind[] = ['virtual', 'node', 'schedule'];
const seeds = Array.from({ length: 30 }, (_, seed) => seed);
const plan = (options: Partial<PlanOptions> = {}) => {
  return faultPlan({ kind: 'virtual', seed: 1, isInMemory: true, seconds: 15, ...options });
};
/** "A third of the situations": there are at least forty on the page of what can go wrong. */
const aThird = 14;

describe('the plan of faults', () => {
  it.each(kinds)('has at least a third of the situations in every run of the kind %s, each once and by its name', (kind) => {
    for (const seed of seeds) {
      const names = plan({ kind, seed }).map(({ name }) => name);
      expect(names.length).toBeGreaterThanOrEqual(aThird);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(faults[name]?.kinds).toContain(kind);
    }
  });

  it('is the same for the same seed, and another one for another seed and for another round', () => {
    expect(plan()).toEqual(plan());
    expect(plan({ seed: 2 })).not.toEqual(plan());
    expect(plan({ seconds: undefined, round: 1 })).not.toEqual(plan({ seconds: undefined, round: 0 }));
  });

  it('has each fault of a kind for some seed', () => {
    const planned = new Set(kinds.flatMap((kind) => seeds.flatMap((seed) => plan({ kind, seed }).map(({ name }) => name))));
    expect([...planned].sort()).toEqual(Object.keys(faults).sort());
  });

  it.each([2, 15, 3600])('ends every fault before a run of %d seconds ends, and has at most three at a time', (seconds) => {
    for (const seed of seeds) {
      const planned = plan({ seed, seconds });
      for (const { atMs, forMs } of planned) {
        expect(atMs + forMs).toBeLessThanOrEqual(seconds * 1000);
        const atOnce = planned.filter((other) => other.atMs <= atMs && atMs < other.atMs + other.forMs);
        expect(atOnce.length).toBeLessThanOrEqual(3);
      }
    }
  });

  it('has the faults of the provider alone where the server is real', () => {
    const names = plan({ isInMemory: false }).map(({ name }) => name);
    expect(names.sort()).toEqual(['delete-fails', 'forgets', 'hangs', 'no-status', 'nonsense', 'quota']);
  });
});
