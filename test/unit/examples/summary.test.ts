import { describe, expect, it } from 'vitest';
import { countMismatches, type Judgement, refusalsText, summarize } from '../../../examples/virtual-node/summary.ts';
import { aPicture, plain } from './pictures.ts';

const summaryOf = (changes: Partial<Judgement> = {}) => {
  const judgement = { podsCompared: 10, differences: [], problems: [], facts: [], claim: '', ...changes };
  const { lines, ok } = summarize(aPicture({ stage: 'done' }), judgement, plain);
  return { text: lines.join('\n'), ok };
};

describe('summarize', () => {
  it('is ok when nothing differs, and prints the totals without what is for the eye', () => {
    const { text, ok } = summaryOf({ facts: [['refused', 'nothing']], claim: ', and nothing is left' });
    expect(ok).toBe(true);
    expect(text).toContain('pods         10, 7 Running, 3 Pending\n');
    expect(text).not.toContain('node-a');
    expect(text).toContain('refused      nothing\n');
    expect(text).toContain('compared     10 pods on the server with the managers\ndifferences  0\n');
    expect(text).toContain('The server says what the managers say, and nothing is left.');
  });

  it('is not ok with a single difference, and lists at most 20', () => {
    expect(summaryOf({ differences: ['web: the server differs in phase'] }).ok).toBe(false);
    const { text } = summaryOf({ differences: Array.from({ length: 22 }, (_, index) => `pod-${index}: differs`) });
    expect(text).toContain('pod-19: differs');
    expect(text).not.toContain('pod-20: differs');
    expect(text).toContain('and 2 more');
  });

  it('is not ok with a problem', () => {
    const { text, ok } = summaryOf({ problems: ['no pod was created'] });
    expect(ok).toBe(false);
    expect(text).toContain('  no pod was created\nNot all is well.');
  });
});

describe('what the server has refused', () => {
  it('is explained where it is normal', () => {
    const refusals = new Map<number | string, number>([
      [409, 3],
      ['Timeout', 1],
    ]);
    expect(refusalsText(refusals)).toBe('3 × 409 (another client wrote first), 1 × Timeout');
    expect(refusalsText(new Map())).toBeUndefined();
  });
});

describe('the counts of both sides', () => {
  it('are named where they differ', () => {
    const sent = { get: 1, patch: 5, delete: 2 };
    expect(countMismatches(sent, (verb) => sent[verb])).toEqual([]);
    expect(countMismatches(sent, (verb) => (verb === 'patch' ? 6 : sent[verb]))).toEqual([
      '5 patch requests were sent, the server counted 6',
    ]);
  });
});
