import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agrees, runKind } from '../kinds/run-kind.ts';
import { leastShare, liesOfACase, tellLies } from '../kinds/tell-lies.ts';
import { readCases } from '../replay/read-cases.ts';
import { falsifyStatuses } from './falsify-statuses.ts';
import { judgeStatuses } from './judge-statuses.ts';
import { playStatuses } from './play-statuses.ts';
import { type StatusesCase, statusesCaseProblem } from './statuses-case.ts';
import { statusesKind } from './statuses-kind.ts';

const file = fileURLToPath(new URL('../statuses-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('statuses') ?? []) as readonly StatusesCase[];

describe('replay of the statuses that the kubelet made of what its runtime said', () => {
  it('finds no difference, and excuses nothing', async () => {
    const result = await runKind('statuses', statusesKind, cases);
    expect(result).toMatchObject({ cases: 1000, differences: [], exemptCases: 0 });
    expect(agrees(result)).toBe(true);
  });

  it('finds a recording that is falsified in one place', async () => {
    const { told, shareFound, missed } = await tellLies(cases, {
      play: playStatuses,
      falsify: falsifyStatuses,
      judge: judgeStatuses,
    });
    expect(told).toBe(cases.length * liesOfACase);
    expect(shareFound, missed.slice(0, 20).join('; ')).toBeGreaterThanOrEqual(leastShare);
  });

  it.each(['previous', 'reasons', 'startup', 'readiness'] as const)('notices when %s is not heeded', (member) => {
    const without = cases.filter((one) => one[member] !== undefined).map((one) => ({ ...one, [member]: undefined }));
    const noticed = without.filter((one) => judgeStatuses(one, playStatuses(one as StatusesCase)).length > 0);
    expect(noticed.length).toBeGreaterThan(0);
  });

  it('says where a status differs', () => {
    const [original] = cases;
    const expected = { ...(original as StatusesCase), out: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } };
    expect(judgeStatuses(expected, { conditions: [{ type: 'Ready', status: 'False' }] })).toEqual([
      'status.conditions.0.status: expected "True", got "False"',
    ]);
  });
});

describe('a line of kind statuses', () => {
  const whole = {
    kind: 'statuses',
    name: 'a',
    pod: {},
    runtime: {},
    podIsTerminal: false,
    nodeIP: '192.0.2.1',
    out: { status: {} },
  };

  it('can be played when nothing is missing', () => {
    expect(statusesCaseProblem(whole)).toBeUndefined();
  });

  it.each([
    ['pod', 'a statuses case without a pod'],
    ['runtime', 'a statuses case without a view of the runtime'],
    ['podIsTerminal', 'a statuses case without its circumstances'],
    ['nodeIP', 'a statuses case without its circumstances'],
    ['out', 'a statuses case without an outcome'],
  ])('is refused without %s', (member, problem) => {
    expect(statusesCaseProblem({ ...whole, [member]: undefined })).toBe(problem);
  });
});
