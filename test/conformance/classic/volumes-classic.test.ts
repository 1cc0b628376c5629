import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { playVolumesClassic } from './play-volumes-classic.ts';
import { type VolumesClassicCase, volumesClassicProblem } from './volumes-classic-case.ts';
import { judgeVolumesClassic } from './volumes-classic-kind.ts';

const file = fileURLToPath(new URL('../volumesClassic-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('volumesClassic') ?? []) as readonly VolumesClassicCase[];

/** What must be noticed where a cluster lacks it, and in how many of the cases that have it, at least. */
const parts = [
  ['persistentVolumes', 0.3],
  ['persistentVolumeClaims', 0.7],
  ['storageClasses', 0.25],
  ['csiNodes', 0.01],
  ['csiStorageCapacities', 0.03],
] as const;

describe('replay of how the classic scheduler judges nodes for pods with volumes', () => {
  it.each(parts)('finds %s that were left out', (part, least) => {
    const having = cases.filter((one) => (one[part] ?? []).length > 0);
    const noticed = having.filter((one) => judgeVolumesClassic(one, playVolumesClassic({ ...one, [part]: [] })).length > 0);
    expect(noticed.length / having.length).toBeGreaterThan(least);
  });

  it('finds a policy without its predicates', () => {
    const bare = (one: VolumesClassicCase) => ({ ...one, policy: { ...one.policy, predicates: [] } });
    const noticed = cases.filter((one) => judgeVolumesClassic(one, playVolumesClassic(bare(one))).length > 0);
    expect(noticed.length / cases.length).toBeGreaterThan(0.9);
  });

  it('holds an answer of each plugin, and reservations of each sort', () => {
    const failed = cases.flatMap(({ out }) => Object.values(out.judged.failed ?? {}).flatMap((one) => Object.keys(one)));
    const limits = ['EBSLimits', 'GCEPDLimits', 'AzureDiskLimits', 'CinderLimits', 'NodeVolumeLimits'];
    expect([...new Set(failed)]).toEqual(
      expect.arrayContaining(['VolumeBinding', 'VolumeZone', 'VolumeRestrictions', ...limits]),
    );
    expect(cases.filter(({ out }) => out.judged.preFilter !== undefined).length).toBeGreaterThan(50);
    expect(cases.filter(({ out }) => out.judged.error !== undefined).length).toBeGreaterThan(3);
    const reservations = cases.flatMap(({ out }) => Object.values(out.reserved ?? {}));
    for (const part of ['allBound', 'bindings', 'provisions'] as const) {
      expect(reservations.filter((one) => one[part] !== undefined).length).toBeGreaterThan(50);
    }
  });
});

describe('a line of kind volumesClassic', () => {
  it.each([
    [{}, 'a volumesClassic case without a policy'],
    [{ policy: {} }, 'a volumesClassic case without nodes and pods'],
    [{ policy: {}, nodes: [], pods: [] }, 'a volumesClassic case without a pod'],
    [{ policy: {}, nodes: [], pods: [], pod: {}, out: {} }, 'a volumesClassic case without a judgement'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(volumesClassicProblem({ kind: 'volumesClassic', name: 'a', ...value })).toBe(problem);
  });
});
