// Behaviour of pkg/scheduler/schedule_one.go numFeasibleNodesToFind, v1.36.3.

/** So many nodes are always looked for. */
const leastNodes = 100;
const leastPercentage = 5;
const mostPercentage = 50;

/**
 * How many feasible nodes are enough, of `nodes` in all. `percentage` 0: from 50 per cent down to 5, one less for every 125
 * nodes.
 */
export function nodesToFind(nodes: number, percentage: number): number {
  if (nodes < leastNodes) return nodes;
  const adaptive = Math.max(leastPercentage, mostPercentage - Math.trunc(nodes / 125));
  const asked = Math.trunc((nodes * (percentage === 0 ? adaptive : percentage)) / 100);
  return Math.min(nodes, Math.max(leastNodes, asked));
}
