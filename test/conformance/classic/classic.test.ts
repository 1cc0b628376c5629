import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type ClassicCase, classicCaseProblem } from './classic-case.ts';
import { judgeClassic } from './classic-kind.ts';
import { playClassic } from './play-classic.ts';

const file = fileURLToPath(new URL('../classic-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('classic') ?? []) as readonly ClassicCase[];

describe('replay of the classic scheduler, which reads a policy file', () => {
  it('finds a service and a priority that were left out', () => {
    const different = (change: (recorded: ClassicCase) => ClassicCase) =>
      cases.filter((recorded) => judgeClassic(recorded, playClassic(change(recorded))).length > 0).length;
    expect(different((recorded) => ({ ...recorded, services: [] }))).toBeGreaterThan(100);
    expect(different((recorded) => ({ ...recorded, policy: { ...recorded.policy, priorities: [] } }))).toBeGreaterThan(600);
  });
});

describe('a line of kind classic', () => {
  it.each([
    [{ kind: 'classic', name: 'a' }, 'a classic case without a policy'],
    [{ kind: 'classic', name: 'a', policy: {} }, 'a classic case without nodes and pods'],
    [{ kind: 'classic', name: 'a', policy: {}, nodes: [], pods: [] }, 'a classic case without a pod'],
    [{ kind: 'classic', name: 'a', policy: {}, nodes: [], pods: [], pod: {} }, 'a classic case without an outcome'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(classicCaseProblem(value)).toBe(problem);
  });
});
