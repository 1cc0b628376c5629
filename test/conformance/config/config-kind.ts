import type { CaseKind } from '../kinds/case-kind.ts';
import { judgeSteps } from '../kinds/judge-steps.ts';
import { type ConfigCase, configCaseProblem } from './config-case.ts';
import { playConfig } from './play-config.ts';

/** Recordings of the kubelet's pod config. */
export const configKind: CaseKind<ConfigCase> = {
  problem: configCaseProblem,
  replay: async (recorded) => ({ differences: judgeSteps(recorded, await playConfig(recorded)), exemptions: [] }),
};
