import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { playVolumes } from './play-volumes.ts';
import { type VolumesCase, volumesCaseProblem } from './volumes-case.ts';
import { judgeVolumes } from './volumes-kind.ts';

const file = fileURLToPath(new URL('../volumes-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('volumes') ?? []) as readonly VolumesCase[];

/** What must be noticed where a cluster lacks it, and in how many of the cases that have it, at least. */
const parts = [
  ['persistentVolumes', 0.3],
  ['persistentVolumeClaims', 0.9],
  ['storageClasses', 0.3],
  ['csiNodes', 0.1],
  ['csiStorageCapacities', 0.15],
] as const;

describe('replay of how the scheduler judges nodes for pods with volumes', () => {
  it.each(parts)('finds %s that were left out', (part, least) => {
    const having = cases.filter((one) => (one[part] ?? []).length > 0);
    const noticed = having.filter((one) => judgeVolumes(one, playVolumes({ ...one, [part]: [] })).length > 0);
    expect(noticed.length / having.length).toBeGreaterThan(least);
  });

  it('holds no case with two volumes of one name: which of them upstream sees is a matter of chance', () => {
    const namesIn = ({ persistentVolumes = [] }: VolumesCase) =>
      persistentVolumes.map((one) => (one as { readonly metadata?: { readonly name?: string } }).metadata?.name);
    expect(cases.filter((one) => new Set(namesIn(one)).size < namesIn(one).length)).toEqual([]);
  });

  it('holds cases of every answer', () => {
    const reasons = new Set(cases.flatMap(({ out }) => Object.values(out.judged.failed ?? {}).flatMap((one) => one.reasons)));
    expect([...reasons].toSorted()).toEqual(expect.arrayContaining(['node(s) exceed max volume count']));
    expect(cases.filter(({ out }) => out.judged.error !== undefined).length).toBeGreaterThan(5);
    const reservations = cases.flatMap(({ out }) => Object.values(out.reserved ?? {}));
    for (const part of ['allBound', 'bindings', 'provisions'] as const) {
      expect(reservations.filter((one) => one[part] !== undefined).length).toBeGreaterThan(50);
    }
  });
});

describe('a line of kind volumes', () => {
  it.each([
    [{}, 'a volumes case without nodes'],
    [{ nodes: [] }, 'a volumes case without a pod'],
    [{ nodes: [], pod: {}, out: {} }, 'a volumes case without a judgement'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(volumesCaseProblem({ kind: 'volumes', name: 'a', ...value })).toBe(problem);
  });
});
