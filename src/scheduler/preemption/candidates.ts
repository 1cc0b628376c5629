// Rules of DryRunPreemption, pkg/scheduler/framework/preemption, v1.36.3.
import type { PluginRejection } from '../framework/status.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { Candidate } from './candidate.ts';
import { findVictims, type VictimSearch } from './victims.ts';

/** What came of the nodes that were looked at. */
export interface CandidateSearch {
  readonly candidates: readonly Candidate[];
  /** Why the pod would not fit although pods were preempted, by the node's name. */
  readonly notHelped: ReadonlyMap<string, PluginRejection>;
}

/**
 * Looks at the nodes one after the other, from the one at `offset`, until there are enough candidates and one of them
 * violates no budget. A node where a plugin throws is no candidate; without any candidate, the first such error is thrown.
 */
export function findCandidates(
  search: VictimSearch,
  nodes: readonly NodeInfo[],
  { offset, enough }: { readonly offset: number; readonly enough: number },
): CandidateSearch {
  const candidates: Candidate[] = [];
  const notHelped = new Map<string, PluginRejection>();
  const errors: unknown[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[(offset + i) % nodes.length] as NodeInfo;
    try {
      const found = findVictims(search, node);
      if ('victims' in found) candidates.push(found);
      else notHelped.set(node.name, found);
    } catch (error) {
      errors.push(error);
    }
    if (candidates.length >= enough && candidates.some(({ budgetViolations }) => budgetViolations === 0)) break;
  }
  if (candidates.length === 0 && errors.length > 0) throw errors[0];
  return { candidates, notHelped };
}
