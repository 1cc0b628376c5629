import { describe, expect, it } from 'vitest';
import { type Ceilings, excesses, pairsAllowed } from './replay/ceilings.ts';
import { variants } from './replay/variants.ts';

describe('ceilings', () => {
  const ceilings: Ceilings = {
    ...(variants[0] as { ceilings: Ceilings }).ceilings,
    'D1 retry': 0.02,
    'D3 unobserved': 0,
    all: 0.03,
  };

  it('are shares of the pairs, and leave a small file room for one scenario', () => {
    expect([pairsAllowed(0.02, 10_000), pairsAllowed(0.02, 100), pairsAllowed(0, 10_000)]).toEqual([200, 50, 0]);
  });

  it('are kept for each rule', () => {
    const exempt = new Map([['D1 retry', 201] as const]);
    expect(excesses(ceilings, { pairs: 10_000, exempt, exemptPairs: 201 })).toEqual([
      { rule: 'D1 retry', pairs: 201, atMost: 200 },
    ]);
  });

  it('are kept for all rules together', () => {
    const exempt = new Map([['D1 retry', 200] as const]);
    expect(excesses(ceilings, { pairs: 10_000, exempt, exemptPairs: 301 })).toEqual([{ rule: 'all', pairs: 301, atMost: 300 }]);
  });

  it('of 0 switch a rule off', () => {
    const exempt = new Map([['D3 unobserved', 1] as const]);
    expect(excesses(ceilings, { pairs: 10_000, exempt, exemptPairs: 1 })).toEqual([
      { rule: 'D3 unobserved', pairs: 1, atMost: 0 },
    ]);
  });

  it('leave D3 nothing to explain where every pod is read before it is written', () => {
    const withReads = variants.filter(({ fetchBeforePatch }) => fetchBeforePatch === 'always');
    expect(withReads.map(({ ceilings: own }) => own['D3 unobserved'])).toEqual([0, 0]);
  });
});
