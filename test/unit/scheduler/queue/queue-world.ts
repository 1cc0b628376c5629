import type { Logger } from '../../../../src/base/logging/logger.ts';
import type { Plugin, ProfilePlugins } from '../../../../src/scheduler/framework/plugin.ts';
import { createPodInfo, type PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { prioritySort, schedulingGates } from '../../../../src/scheduler/plugins/one-rule-plugins.ts';
import { steadyTime } from '../../../../src/scheduler/queue/backoff-queue.ts';
import { SchedulingQueue } from '../../../../src/scheduler/queue/scheduling-queue.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

/** A plugin that is helped by nodes whose name it has been told. */
export function nodeWaiter(name: string, helps: (nodeName: string) => unknown): Plugin {
  return {
    name,
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (_pod, _before, after) => helps((after as { metadata: { name: string } }).metadata.name) as 'Queue' | 'Skip',
      },
    ],
  };
}

export function pod(uid: string, spec: BareParts['spec'] = {}, version = '1'): PodInfo {
  const metadata = { uid, name: uid, namespace: 'd', resourceVersion: version };
  return createPodInfo(barePod({ metadata, spec: { schedulerName: 's', ...spec } }));
}

export interface QueueWorld {
  readonly clock: FakeClock;
  readonly queue: SchedulingQueue;
  /** How often somebody was told that there may be a pod. */
  readonly woken: number[];
  /** The messages that were logged. */
  readonly lines: string[];
}

/** A queue whose profile has these plugins beside PrioritySort, or one of their own, and SchedulingGates. */
export function queueOf(plugins: readonly Plugin[] = [], backoff = { initialMs: 1000, maxMs: 10_000 }): QueueWorld {
  const clock = new FakeClock();
  const woken: number[] = [];
  const lines: string[] = [];
  const line = (_fields: object, message: string): void => void lines.push(message);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const sorts = plugins.some((plugin) => plugin.less !== undefined);
  const all = [...(sorts ? [] : [prioritySort()]), schedulingGates(), ...plugins];
  const profile: ProfilePlugins = { schedulerName: 's', plugins: all, weights: new Map() };
  const onReady = (): void => void woken.push(clock.now());
  const queue = new SchedulingQueue({
    profiles: [profile],
    backoff,
    maxInUnschedulableMs: 300_000,
    time: steadyTime(clock),
    logger,
    onReady,
  });
  queue.start();
  return { clock, queue, woken, lines };
}

/** The attempt of a pod was rejected by these plugins; without any it ended with an error. */
export function giveBack(queue: SchedulingQueue, uid: string, ...plugins: readonly string[]): PodInfo | undefined {
  return queue.giveBack(uid, { unschedulablePlugins: plugins, pendingPlugins: [] });
}

export function node(name: string): { readonly metadata: { readonly name: string } } {
  return { metadata: { name } };
}
