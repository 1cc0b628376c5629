// One scheduler in a process of its own, which a test can kill. It gets its options by a message, and schedules until it ends.
import { KubeConfig } from '@kubernetes/client-node';
import { ClusterScheduler } from '../../../src/scheduler.ts';

/** Which scheduler it is. */
export interface ProcessOptions {
  /** A kubeconfig as JSON. */
  readonly kubeConfig: string;
  /** Names it in the Lease. */
  readonly identity: string;
  /** The name that pods have in `schedulerName`; also the Lease's name. */
  readonly schedulerName: string;
  /** The namespace of the Lease. */
  readonly namespace: string;
}

process.once('message', ({ kubeConfig, identity, schedulerName, namespace }: ProcessOptions) => {
  const config = new KubeConfig();
  config.loadFromString(kubeConfig);
  const scheduler = new ClusterScheduler({
    kubeConfig: config,
    identity,
    logger: null,
    profiles: [{ schedulerName }],
    // short times: a test waits for the Lease of a killed process to end
    leaderElection: { name: schedulerName, namespace, leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 300 },
  });
  process.once('disconnect', () => scheduler.stop());
  scheduler.start().then(
    () => process.send?.('started'),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
