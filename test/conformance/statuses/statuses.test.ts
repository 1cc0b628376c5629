import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { judgeStatuses } from './judge-statuses.ts';
import { playStatuses } from './play-statuses.ts';
import { type StatusesCase, statusesCaseProblem } from './statuses-case.ts';

const file = fileURLToPath(new URL('../statuses-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('statuses') ?? []) as readonly StatusesCase[];

describe('replay of the statuses that the kubelet made of what its runtime said', () => {
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
