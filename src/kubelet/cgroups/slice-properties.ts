// Behaviour of systemd/common.go, v1.go and v2.go of github.com/opencontainers/cgroups v0.0.6, which the kubelet v1.36.3 uses.

import type { UnitProperty } from '../systemd/systemd-units.ts';
import { CgroupError, weightOf } from './cgroup-files.ts';
import type { GroupResources } from './cgroup-names.ts';

/** What systemd takes for no limit. */
const infinity = 2n ** 64n - 1n;
const usOfASecond = 1_000_000;
/** systemd counts quotas in hundredths of a processor. */
const quotaStepUs = 10_000;
const defaultPeriodUs = 100_000;
/** From this version on a quota's period can be chosen. */
const firstWithPeriods = 242;

/** What decides over the properties beside the limits themselves. */
export interface SliceKind {
  readonly cgroupVersion: 1 | 2;
  /** Undefined: one that has all properties. */
  readonly systemdVersion: number | undefined;
}

/** What a slice is made with, beside its limits: everything in it is counted from the start. */
export function newSliceProperties(unit: string, parent: string, { cgroupVersion }: SliceKind): readonly UnitProperty[] {
  const on = ['b', true] as const;
  return [
    ['Description', ['s', `libcontainer container ${unit}`]],
    ['Wants', ['as', [parent]]],
    ['MemoryAccounting', on],
    ['CPUAccounting', on],
    [cgroupVersion === 2 ? 'IOAccounting' : 'BlockIOAccounting', on],
    ['TasksAccounting', on],
    ['DefaultDependencies', ['b', false]],
  ];
}

/** The limits as properties of a unit. What has no property, such as huge pages, is only in the files of the group. */
export function limitProperties(resources: GroupResources, kind: SliceKind): readonly UnitProperty[] {
  const { memoryLimitInBytes, cpuShares, pidsLimit, unified } = resources;
  const isVersion2 = kind.cgroupVersion === 2;
  const properties: UnitProperty[] = [];
  if (memoryLimitInBytes !== undefined) {
    properties.push([isVersion2 ? 'MemoryMax' : 'MemoryLimit', limitOf(memoryLimitInBytes)]);
  }
  if (cpuShares) {
    properties.push(isVersion2 ? ['CPUWeight', ['t', BigInt(weightOf(cpuShares))]] : ['CPUShares', ['t', BigInt(cpuShares)]]);
  }
  properties.push(...quotaProperties(resources, kind));
  // 0 is none of systemd's numbers
  if (pidsLimit !== undefined) properties.push(['TasksMax', pidsLimit === 0 ? ['t', 1n] : limitOf(pidsLimit)]);
  for (const [file, value] of isVersion2 ? Object.entries(unified ?? {}) : []) {
    const name = propertyOfFile[file];
    if (name !== undefined) properties.push([name, ['t', numberIn(file, value)]]);
  }
  return properties;
}

/** The same limits with the quota that systemd makes of theirs, so that the files say what it has. */
export function asSystemdRounds(resources: GroupResources): GroupResources {
  const { cpuQuota, cpuPeriod = defaultPeriodUs } = resources;
  if (cpuQuota === undefined || cpuQuota <= 0 || exactPerSecondUs(cpuQuota, cpuPeriod) % quotaStepUs === 0) return resources;
  return { ...resources, cpuQuota: Math.trunc((perSecondUs(cpuQuota, cpuPeriod) * cpuPeriod) / usOfASecond) };
}

function quotaProperties({ cpuQuota, cpuPeriod }: GroupResources, { systemdVersion }: SliceKind): readonly UnitProperty[] {
  if (cpuQuota === undefined) return [];
  const period = cpuPeriod ?? defaultPeriodUs;
  const hasPeriods = systemdVersion === undefined || systemdVersion >= firstWithPeriods;
  const perSecond = cpuQuota > 0 ? BigInt(perSecondUs(cpuQuota, period)) : infinity;
  const quota: UnitProperty = ['CPUQuotaPerSecUSec', ['t', perSecond]];
  return cpuPeriod !== undefined && hasPeriods ? [['CPUQuotaPeriodUSec', ['t', BigInt(cpuPeriod)]], quota] : [quota];
}

/** Microseconds of processor time in a second, up to the next hundredth of a processor. */
function perSecondUs(quotaUs: number, periodUs: number): number {
  return Math.ceil(exactPerSecondUs(quotaUs, periodUs) / quotaStepUs) * quotaStepUs;
}

function exactPerSecondUs(quotaUs: number, periodUs: number): number {
  return Math.trunc((quotaUs * usOfASecond) / periodUs);
}

function limitOf(limit: number): UnitProperty[1] {
  return ['t', limit > 0 ? BigInt(limit) : infinity];
}

const propertyOfFile: Readonly<Record<string, string>> = {
  'memory.min': 'MemoryMin',
  'memory.low': 'MemoryLow',
  'memory.high': 'MemoryHigh',
  'memory.max': 'MemoryMax',
  'memory.swap.max': 'MemorySwapMax',
  'cpu.weight': 'CPUWeight',
  'pids.max': 'TasksMax',
};

function numberIn(file: string, value: string): bigint {
  if (value === 'max') return infinity;
  if (!/^\d+$/.test(value)) throw new CgroupError(`${file} cannot be ${value}: it takes a number or "max"`);
  return BigInt(value);
}
