/**
 * Says in one line why a pod fits on none of the nodes: `0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.`
 * `reasons` holds those of each node that has some; equal ones are counted together.
 */
export function fitMessage(nodeCount: number, reasons: Iterable<readonly string[]>): string {
  const counts = new Map<string, number>();
  for (const ofNode of reasons) {
    for (const reason of ofNode) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  // sorted as texts, as kube-scheduler does: "10 x" stands before "2 x"
  const counted = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available:${counted.length > 0 ? ` ${counted.join(', ')}.` : ''}`;
}
