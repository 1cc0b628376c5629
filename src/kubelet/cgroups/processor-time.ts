// Behaviour of pkg/kubelet/cm/helpers_linux.go and cgroup_v2_manager_linux.go, v1.36.3. The kernel's smallest and largest
// numbers stand in its kernel/sched.

/** The fewest shares of processor time. */
export const minShares = 2;
const maxShares = 262_144;
const sharesOfOneProcessor = 1024;
const minQuotaUs = 1000;

/** The relative weight of so many thousandths of a processor, as cgroup v1 counts it. */
export function sharesOf(milliCPU: number): number {
  return Math.min(maxShares, Math.max(minShares, Math.trunc((milliCPU * sharesOfOneProcessor) / 1000)));
}

/** Microseconds of processor time in a period, for so many thousandths of a processor. 0, for no limit, stays 0. */
export function quotaOf(milliCPU: number, periodUs: number): number {
  return milliCPU === 0 ? 0 : Math.max(minQuotaUs, Math.trunc((milliCPU * periodUs) / 1000));
}

/** Thousandths of a processor behind so many shares, rounded up; 0 for fewer than the kernel takes. */
export function milliCPUOfShares(shares: number): number {
  return shares < minShares ? 0 : Math.ceil((shares * 1000) / sharesOfOneProcessor);
}

/** Thousandths of a processor behind a quota; 0 for no limit. */
export function milliCPUOfQuota(quotaUs: number, periodUs: number): number {
  return quotaUs < 0 || periodUs <= 0 ? 0 : Math.trunc((quotaUs * 1000) / periodUs);
}

/** Shares as cgroup v2 counts them: from 1 to 10,000. */
export function weightOf(shares: number): number {
  return shares >= maxShares ? 10_000 : 1 + Math.trunc((Math.max(0, shares - minShares) * 9999) / 262_142);
}

/** The shares behind a weight of cgroup v2. */
export function sharesOfWeight(weight: number): number {
  return Math.trunc(((weight - 1) * 262_142) / 9999) + minShares;
}
