// One scheduler in a process of its own, which a test can kill. It gets its options by a message, and schedules until it ends.
import { KubeConfig } from '@kubernetes/client-node';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
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
  /** What is wrong with it: it waits for no Lease (`rash`), and changes objects whatever version they have, too (`blind`). */
  readonly fault?: 'rash' | 'blind';
}

process.once('message', ({ kubeConfig, identity, schedulerName, namespace, fault }: ProcessOptions) => {
  const config = new KubeConfig();
  config.loadFromString(kubeConfig);
  const transport = new KubeTransport(config, { connections: 32, logger: null });
  if (fault === 'blind') forgetVersions(transport);
  // short times: a test waits for the Lease of a killed process to end
  const times = { leaseDurationMs: 4000, renewDeadlineMs: 3000, retryPeriodMs: 300 };
  const scheduler = new ClusterScheduler({
    transport,
    identity,
    logger: null,
    profiles: [{ schedulerName }],
    leaderElection: fault === undefined ? { name: schedulerName, namespace, ...times } : false,
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

/** Changes of objects go to whatever version there is. */
function forgetVersions(transport: KubeTransport): void {
  const request = transport.request.bind(transport);
  transport.request = (options) => {
    const { metadata, ...body } = (options.body ?? {}) as { readonly metadata?: { readonly resourceVersion?: string } };
    if (options.method !== 'PATCH' || metadata?.resourceVersion === undefined) return request(options);
    const { resourceVersion: _, ...others } = metadata;
    return request({ ...options, body: { ...body, metadata: others } });
  };
}
