import type { SchedulerClient } from '../../src/scheduler/framework/scheduler-client.ts';

const unexpected = (): never => {
  throw new Error('nothing is written in this test');
};

/** For tests of what writes nothing to a cluster: every call throws. */
export const noSchedulerClient: SchedulerClient = {
  bind: async () => unexpected(),
  patchStatus: async () => unexpected(),
  deletePod: async () => unexpected(),
  patchObject: async () => unexpected(),
  event: unexpected,
};
