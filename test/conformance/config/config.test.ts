import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { falsifyExpect } from '../kinds/falsify-expect.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { type ConfigCase, configCaseProblem } from './config-case.ts';
import { configKind } from './config-kind.ts';
import { playConfig } from './play-config.ts';

function casesOf(name: string): readonly ConfigCase[] {
  const file = fileURLToPath(new URL(`../${name}`, import.meta.url));
  return (readCases(file).byKind.get('config') ?? []) as readonly ConfigCase[];
}

const cases = casesOf('config-public.jsonl.gz');
/** Written by hand: uids and names that come twice or change, local annotations, pods that are born deleted. */
const more = casesOf('config-more.jsonl.gz');

describe('replay of what the kubelet did with the lists of its pod sources', () => {
  it.each([
    ['at random', cases, 320],
    ['with odd lists', more, 38],
  ])('finds no difference, and excuses nothing, %s', async (_, recorded, count) => {
    const result = await runKind('config', configKind, recorded);
    expect(result).toMatchObject({ cases: count, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, { play: playConfig, falsify: falsifyExpect, judge: judgeSteps });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it('finds a step that was left out', async () => {
    const [original] = cases;
    const steps = original?.steps.filter(({ op }) => op !== 'set') ?? [];
    const outcomes = await playConfig({ ...(original as ConfigCase), steps });
    expect(judgeSteps(original as ConfigCase, outcomes)).not.toEqual([]);
  });
});

describe('a line of kind config', () => {
  const whole = { kind: 'config', name: 'a', start: '2000-01-01T00:00:00Z', seenSets: [], steps: [] };
  it.each([
    [whole, undefined],
    [{ ...whole, start: undefined }, 'a config case without a start'],
    [{ ...whole, seenSets: undefined }, 'a config case without sets of sources'],
    [{ ...whole, steps: undefined }, 'a config case without steps'],
    [{ ...whole, steps: [{ op: 'unset', expect: {} }] }, 'step 0: unknown operation "unset"'],
    [{ ...whole, steps: [{ op: 'advance', seconds: 1 }] }, 'step 0: no expectation'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(configCaseProblem(value)).toBe(problem);
  });
});
