import type { CaseKind } from '../kinds/case-kind.ts';
import { type StatusesCase, statusesCaseProblem } from './statuses-case.ts';
import { judgeStatuses } from './statuses-judge.ts';
import { playStatuses } from './statuses-player.ts';

/** Recordings of the kubelet's statuses from a runtime's view. */
export const statusesKind: CaseKind<StatusesCase> = {
  problem: statusesCaseProblem,
  replay: async (recorded) => ({ differences: judgeStatuses(recorded, playStatuses(recorded)), exemptions: [] }),
};
