import { onTestFinished } from 'vitest';
import type { WirePod, WirePodStatus } from '../../../../src/api/json/types.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { EvictionManager } from '../../../../src/kubelet/eviction/eviction-manager.ts';
import type { EvictionManagerOptions } from '../../../../src/kubelet/eviction/eviction-options.ts';
import type { NodeUsage, PodUsage } from '../../../../src/kubelet/eviction/usage.ts';
import { nothing, type TreeSize } from '../../../../src/node/files/tree-size.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';

export const MiB = 2 ** 20;
type Spec = Partial<NonNullable<WirePod['spec']>>;
type Resources = NonNullable<NonNullable<WirePod['spec']>['containers'][number]['resources']>;

export function podNamed(name: string, resources: Resources = {}, spec: Spec = {}): WirePod {
  return buildPod({
    metadata: { name, uid: name, generation: 3 },
    spec: { containers: [{ name: 'app', image: 'i', resources }], ...spec },
  });
}

/** A pod whose container takes so many MiB of memory. */
export function using(memoryMiB: number, more: Partial<PodUsage> = {}): PodUsage {
  const containers = { app: { memory: memoryMiB * MiB } };
  return { memory: memoryMiB * MiB, containers, volumes: {}, memoryVolumes: {}, others: nothing, ...more };
}

/** So many MiB in so many files. */
export function size(mib: number, inodes = 1): TreeSize {
  return { bytes: mib * MiB, inodes };
}

export function memory(availableMiB: number): NodeUsage {
  return { memory: { available: availableMiB * MiB, capacity: 1000 * MiB }, hasDedicatedImagefs: false };
}

export interface Killed {
  readonly name: string;
  readonly status: WirePodStatus;
  readonly gracePeriodSeconds: number | undefined;
}

/** A manager over pods that end as soon as they are killed; a look is 10 s. */
export function evictionWorld(pods: WirePod[], usages: Record<string, PodUsage>, options: Partial<EvictionManagerOptions> = {}) {
  const clock = new FakeClock();
  const node: { now: NodeUsage } = { now: memory(500) };
  const killed: Killed[] = [];
  const events: string[] = [];
  const asked: string[][] = [];
  const resources: (string | undefined)[] = [];
  let changes = 0;
  const active = new Map(pods.map((pod) => [pod.metadata?.uid ?? '', pod]));
  const manager = new EvictionManager({
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' },
    readNode: async () => node.now,
    readPods: async (of, _signal, resource) => {
      asked.push(of.map(({ metadata }) => metadata?.name ?? ''));
      resources.push(resource);
      return new Map(Object.entries(usages));
    },
    activePods: () => [...active.values()],
    killPod: async (pod, { podStatusFn, gracePeriodSeconds }) => {
      const status: WirePodStatus = { phase: 'Running' };
      podStatusFn?.(status);
      killed.push({ name: pod.metadata?.name ?? '', status, gracePeriodSeconds });
      active.delete(pod.metadata?.uid ?? '');
    },
    isCleanedUp: (pod) => !active.has(pod.metadata?.uid ?? ''),
    pressureChanged: () => {
      changes += 1;
    },
    eventRecorder: { event: (pod, type, reason, message) => events.push(`${pod.metadata?.name} ${type} ${reason} ${message}`) },
    nodeEvent: (reason, message) => events.push(`node ${reason} ${message}`),
    clock,
    logger: silentLogger,
    ...options,
  });
  onTestFinished(() => manager.stop());
  return { clock, node, killed, events, asked, resources, manager, active, changes: () => changes };
}

export function namesOf(killed: readonly Killed[]): string[] {
  return killed.map(({ name }) => name);
}
