// Behaviour of pkg/kubelet/kuberuntime GetHugepageLimitsFromResources and pkg/apis/core/v1/helper, v1.36.3.
import { readdir } from 'node:fs/promises';
import { wholeUnits } from '../../api/quantity/quantity-arithmetic.ts';
import type { HugepageLimit } from '../runtime/linux-resources.ts';

type Quantities = Readonly<Record<string, string>> | null | undefined;

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const prefix = 'hugepages-';

/** A page size as the kernel names it: 2097152 is `2MB`. Undefined for a size that no unit fits. */
export function pageSizeName(bytes: number): string | undefined {
  let [size, unit] = [bytes, 0];
  for (; size > 0 && size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
  return size <= 0 || (size > 1024 && unit < units.length - 1) ? undefined : `${size}${units[unit]}`;
}

/**
 * The limit of each page size that the node has: what the first list that names the size says, or else 0. `lists` begins with
 * the one that counts most.
 */
export function hugepageLimits(pageSizes: readonly string[], ...lists: readonly Quantities[]): readonly HugepageLimit[] {
  const asked = new Map<string, number>();
  for (const quantities of [...lists].reverse()) {
    for (const [name, quantity] of Object.entries(quantities ?? {})) {
      const pageSize = name.startsWith(prefix) ? pageSizeName(wholeUnits(name.slice(prefix.length))) : undefined;
      if (pageSize !== undefined) asked.set(pageSize, wholeUnits(quantity));
    }
  }
  return pageSizes.map((pageSize) => ({ pageSize, limit: asked.get(pageSize) ?? 0 }));
}

/** The sizes of huge pages that the kernel has, as it names them; none where it does not say. */
export async function nodePageSizes(folder = '/sys/kernel/mm/hugepages'): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.flatMap((name) => {
    const kilobytes = /^hugepages-([1-9]\d*)kB$/.exec(name)?.[1];
    return pageSizeName(Number(kilobytes ?? 0) * 1024) ?? [];
  });
}
