import type { WrittenDefinition } from './metric-definition.ts';

/** What a sink measures of the process. */
export const processMetrics = {
  pod_status_manager_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'By how much timers of the process came too late, since the last collection.',
    unit: 's',
    labels: {
      quantile: { help: 'the share of the timers that were no later; 1 is the worst one', values: ['0.5', '0.9', '0.99', '1'] },
    },
    part: 'the sink',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
