import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readCases } from '../replay/read-cases.ts';
import { type VolumeHintsCase, volumeHintsCaseProblem } from './volume-hints-case.ts';
import { judgeVolumeHints } from './volume-hints-kind.ts';

const file = fileURLToPath(new URL('../volumeHints-public.jsonl.gz', import.meta.url));
const cases = (readCases(file).byKind.get('volumeHints') ?? []) as readonly VolumeHintsCase[];

describe('recordings of which changes wake a pod', () => {
  it.each([
    ['VolumeBinding', ['StorageClass', 'PersistentVolumeClaim', 'CSINode', 'CSIDriver', 'CSIStorageCapacity']],
    ['VolumeZone', ['StorageClass', 'PersistentVolumeClaim', 'PersistentVolume']],
    ['NodeVolumeLimits', ['CSINode', 'Pod', 'PersistentVolumeClaim', 'VolumeAttachment']],
    ['VolumeRestrictions', ['Pod', 'PersistentVolumeClaim']],
  ])('hold both answers of each hint of %s', (plugin, resources) => {
    const seen = new Set(
      cases.flatMap(({ events, out }) => events.map(({ resource }, index) => `${resource} ${out[index]?.[plugin] ?? ''}`)),
    );
    expect([...seen]).toEqual(expect.arrayContaining(resources.flatMap((one) => [`${one} Queue`, `${one} Skip`])));
  });
});

describe('a line of kind volumeHints', () => {
  it.each([
    [{}, 'a volumeHints case without a pod'],
    [{ pod: {} }, 'a volumeHints case without events'],
    [{ pod: {}, events: [{}], out: [] }, 'a volumeHints case without an answer for each event'],
  ])('is refused when it cannot be played: %j', (value, problem) => {
    expect(volumeHintsCaseProblem({ kind: 'volumeHints', name: 'a', ...value })).toBe(problem);
  });

  it('differs where there is another number of answers', () => {
    const [first] = cases as readonly [VolumeHintsCase];
    expect(judgeVolumeHints(first, first.out.slice(1))).toEqual(['10 answers to 9 events']);
  });
});
