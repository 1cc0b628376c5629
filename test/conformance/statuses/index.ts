import type { CaseKind } from '../kinds/case-kind.ts';
import { type StatusesCase, statusesCaseProblem } from './case.ts';
import { judgeStatuses } from './judge.ts';
import { playStatuses } from './player.ts';

/** Recordings of the kubelet's statuses from a runtime's view. */
export const statusesKind: CaseKind<StatusesCase> = {
  problem: statusesCaseProblem,
  replay: async (recorded) => ({ differences: judgeStatuses(recorded, playStatuses(recorded)), exemptions: [] }),
};
