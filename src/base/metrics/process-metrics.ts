import type { WrittenDefinition } from './metric-definition.ts';

/** What a sink measures of the process. */
export const processMetrics = {
  pod_status_manager_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'By how much timers of the process came too late, since the last collection.',
    unit: 's',
    labels: {
      percentile: {
        help: 'so many percent of the timers were no later; 100 is the worst one',
        values: ['50', '90', '99', '100'],
      },
    },
    part: 'the sink',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
