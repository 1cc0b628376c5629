import { describe, expect, it } from 'vitest';
import { type SummaryFacts, summarize } from '../../../examples/virtual-node/summary.ts';
import { aSnapshot } from './snapshots.ts';

function someFacts(changes: Partial<SummaryFacts> = {}): SummaryFacts {
  return {
    snapshot: aSnapshot({ stage: 'done' }),
    podsCompared: 10,
    differences: [],
    problems: [],
    notes: [],
    forced: 1,
    foreignWrites: 20,
    foreignChecked: 8,
    refusals: new Map(),
    serverCounts: undefined,
    ...changes,
  };
}

const summaryOf = (changes: Partial<SummaryFacts> = {}) => {
  const { lines, ok } = summarize(someFacts(changes), (_, text) => text);
  return { text: lines.join('\n'), ok };
};

describe('summarize', () => {
  it('is ok when nothing differs, and prints the totals', () => {
    const { text, ok } = summaryOf();
    expect(ok).toBe(true);
    expect(text).toContain('statuses     250 told, 200 changes');
    expect(text).toContain('requests     190 = patch 185 + get 3 + delete 2');
    expect(text).toContain('differences  0');
    expect(text).toContain('The server says what the manager says.');
  });

  it('is not ok with a single difference, and lists at most 20', () => {
    expect(summaryOf({ differences: ['web: the server differs in phase'] }).ok).toBe(false);
    const { text } = summaryOf({ differences: Array.from({ length: 22 }, (_, index) => `pod-${index}: differs`) });
    expect(text).toContain('pod-19: differs');
    expect(text).not.toContain('pod-20: differs');
    expect(text).toContain('and 2 more');
  });

  it('is not ok with a problem, and ok with a note', () => {
    expect(summaryOf({ problems: ['no pod was created'] })).toMatchObject({ ok: false });
    expect(summaryOf({ notes: ['one request was made again'] })).toMatchObject({ ok: true });
  });

  it('explains the refusals', () => {
    const { text } = summaryOf({
      refusals: new Map<number | string, number>([
        [409, 3],
        ['Timeout', 1],
      ]),
    });
    expect(text).toContain('refused 3 × 409 (another client wrote first), 1 × Timeout');
  });

  it('compares the requests sent with those the server counted', () => {
    const same = { sent: 5, seen: 5 };
    expect(summaryOf({ serverCounts: { get: same, patch: same, delete: same } })).toMatchObject({ ok: true });
    const { text, ok } = summaryOf({ serverCounts: { get: same, patch: { sent: 5, seen: 6 }, delete: same } });
    expect(ok).toBe(false);
    expect(text).toContain('5 patch requests were sent, the server counted 6');
  });
});
