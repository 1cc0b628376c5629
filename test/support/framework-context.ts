import { Framework, type FrameworkContext } from '../../src/scheduler/framework/framework.ts';
import type { PluginHandle } from '../../src/scheduler/framework/plugin.ts';
import { FakeClock } from '../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from './cluster-objects.ts';
import { noSchedulerClient } from './no-scheduler-client.ts';
import { nodeSnapshotOf } from './node-snapshots.ts';

/** What plugins are given of a scheduler that has nothing but a snapshot, unless more is said. What a plugin throws is thrown on. */
export function frameworkContext(own: Pick<FrameworkContext, 'snapshot'> & Partial<FrameworkContext>): FrameworkContext {
  return {
    node: (name) => own.snapshot().get(name)?.node,
    objects: clusterObjects(),
    shared: new Map(),
    nominated: { onNode: () => [] },
    client: noSchedulerClient,
    isPreempting: () => false,
    random: () => 0,
    clock: new FakeClock(),
    onFailure: (error) => {
      throw error;
    },
    ...own,
  };
}

/** What plugins are given by a scheduler that knows of nothing. */
export function bareHandle(): PluginHandle {
  const context = frameworkContext({ snapshot: () => nodeSnapshotOf([]) });
  return new Framework(context, () => ({ schedulerName: 'none', plugins: [], weights: new Map() }));
}
