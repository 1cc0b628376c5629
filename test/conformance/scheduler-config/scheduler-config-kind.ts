import { readSchedulerConfiguration } from '../../../src/scheduler/config/scheduler-configuration.ts';
import { createFrameworks } from '../../../src/scheduler/profile/profile-plugins.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { nodeSnapshotOf } from '../../support/node-snapshots.ts';
import { falsifyOut } from '../kinds/falsify-out.ts';
import { memberDifferences } from '../kinds/member-differences.ts';
import { replayedKind } from '../kinds/replayed-kind.ts';
import { type SchedulerConfigCase, type SchedulerConfigOutcome, schedulerConfigProblem } from './scheduler-config-case.ts';

/** Recordings of how kube-scheduler reads configuration files. */
export const schedulerConfigKind = replayedKind({
  problem: schedulerConfigProblem,
  play: playSchedulerConfig,
  judge: ({ out }: SchedulerConfigCase, played: SchedulerConfigOutcome) => memberDifferences({ ...out }, { ...played }),
  falsify: falsifyOut,
});

/** Reads the file, and makes the frameworks of its profiles. */
function playSchedulerConfig({ text }: SchedulerConfigCase): SchedulerConfigOutcome {
  try {
    const { options, complete } = readSchedulerConfiguration(text);
    createFrameworks(frameworkContext({ snapshot: () => nodeSnapshotOf([]) }), options.profiles);
    return { taken: true, complete };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_OPTION') return { taken: false };
    throw error;
  }
}
