import type { CaseKind } from '../kinds/case-kind.ts';
import { judgeStatuses } from './judge-statuses.ts';
import { playStatuses } from './play-statuses.ts';
import { type StatusesCase, statusesCaseProblem } from './statuses-case.ts';

/** Recordings of the kubelet's statuses from a runtime's view. */
export const statusesKind: CaseKind<StatusesCase> = {
  problem: statusesCaseProblem,
  replay: async (recorded) => ({ differences: judgeStatuses(recorded, playStatuses(recorded)), exemptions: [] }),
};
