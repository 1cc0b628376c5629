import { describe, expect, it } from 'vitest';
import {
  diskPartsOf,
  metThresholds,
  reclaimablesOf,
  type Signal,
  thresholdsOf,
  thresholdText,
} from '../../../../src/kubelet/eviction/thresholds.ts';
import type { DiskLayout } from '../../../../src/kubelet/eviction/usage.ts';

const oneDisk: DiskLayout = { hasDedicatedImagefs: false };
const dedicated: DiskLayout = { hasDedicatedImagefs: true };
const split: DiskLayout = { hasDedicatedImagefs: true, hasSplitContainerfs: true };

function named(settings: Parameters<typeof thresholdsOf>[0], layout?: DiskLayout): string[] {
  return thresholdsOf(settings, layout).map(({ signal, value, graceMs }) => `${signal} ${value} ${graceMs}`);
}

describe('the thresholds of the settings', () => {
  it('hold for what all pods may have as well where they are hard ones of memory', () => {
    const settings = {
      evictionHard: { 'memory.available': '100Mi' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriodMs: { 'memory.available': 5000 },
      evictionMinimumReclaim: { 'memory.available': '7Mi' },
    };
    expect(named(settings)).toEqual([
      'memory.available 100Mi 0',
      'memory.available 1Gi 5000',
      'allocatableMemory.available 100Mi 0',
    ]);
    expect(thresholdsOf(settings).map(({ minimumReclaim }) => minimumReclaim)).toEqual(['7Mi', '7Mi', '7Mi']);
  });

  it.each([
    ['one disk', oneDisk, 'containerfs.available 10% 0', 'containerfs.inodesFree 1% 0'],
    ['images and layers on a disk of their own', dedicated, 'containerfs.available 15% 0', 'containerfs.inodesFree 2% 0'],
    ['images alone on a disk of their own', split, 'containerfs.available 10% 0', 'containerfs.inodesFree 1% 0'],
  ])('follow the disk that containers write to: %s', (_name, layout, ...expected) => {
    const disks = {
      'nodefs.available': '10%',
      'nodefs.inodesFree': '1%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '2%',
    };
    const settings = { evictionHard: { ...disks, 'containerfs.available': '99%' } };
    expect(
      named(settings, layout)
        .filter((each) => each.startsWith('containerfs'))
        .toSorted(),
    ).toEqual(expected);
  });

  it('are none where they are 0% or 100%', () => {
    expect(named({ evictionHard: { 'memory.available': '0%', 'pid.available': '100%' } })).toEqual([]);
  });
});

describe('a threshold in words', () => {
  const words = (signal: Signal, value: string, available: number, capacity: number): string | undefined => {
    const supply = { available, capacity };
    const supplies = { memory: supply, nodefsInodes: supply, pids: supply };
    const [met] = metThresholds([{ signal, value, graceMs: 0 }], { ...supplies, hasDedicatedImagefs: false });
    return met && thresholdText(met);
  };

  it('writes bytes by powers of 1,024, pieces by powers of ten, and an amount as it is set', () => {
    expect(words('memory.available', '0.1Gi', 5000, 2 ** 30)).toBe('Threshold quantity: 107374182400m, available: 5000. ');
    expect(words('memory.available', '200M', 2 ** 20, 2 ** 30)).toBe('Threshold quantity: 200M, available: 1Mi. ');
    expect(words('nodefs.inodesFree', '50%', 5000, 20_480)).toBe('Threshold quantity: 10Ki, available: 5k. ');
    expect(words('pid.available', '3000', 2048, 32_000)).toBe('Threshold quantity: 3k, available: 2048. ');
  });

  it('takes a share as a number of single precision', () => {
    expect(words('memory.available', '10%', 1, 1000 * 2 ** 20)).toContain('quantity: 104857601,');
  });
});

describe('what goes first on a full disk, and what of a pod counts there', () => {
  it.each([
    ['nodefs.available', oneDisk, ['containers', 'images'], [true, true]],
    ['imagefs.inodesFree', oneDisk, ['containers', 'images'], [true, true]],
    ['nodefs.available', dedicated, [], [false, true]],
    ['imagefs.available', dedicated, ['containers', 'images'], [true, false]],
    ['containerfs.inodesFree', dedicated, ['containers', 'images'], [true, false]],
    ['nodefs.inodesFree', split, ['containers'], [true, true]],
    ['containerfs.available', split, ['containers'], [true, true]],
    ['imagefs.available', split, ['images'], [false, false]],
    ['memory.available', oneDisk, [], [true, true]],
    ['pid.available', split, [], [true, true]],
  ] as const)('for %s, layout %j: %j', (signal, layout, first, [layers, nodeFiles]) => {
    expect(reclaimablesOf(signal, layout)).toEqual(first);
    expect(diskPartsOf(signal, layout)).toEqual({ layers, nodeFiles });
  });
});
