import { join } from 'node:path';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { RunState } from '../../../../src/base/concurrency/run-state.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { metricsOption } from '../../../../src/base/metrics/metrics.ts';
import { PodAllocations, type PodAllocationsOptions } from '../../../../src/kubelet/resize/pod-allocations.ts';
import { PodResizer } from '../../../../src/kubelet/resize/pod-resizer.ts';
import type { ContainerDetails, LinuxContainerResources } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import type { GivenResources } from '../../../../src/node/pod-status/pod-resources.ts';
import { PodResizeConditions, PodResizes } from '../../../../src/status/resize/pod-resizes.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

export type Resources = NonNullable<NonNullable<WirePod['spec']>['containers'][number]['resources']>;
type Container = NonNullable<WirePod['spec']>['containers'][number];

/** `cpu` in thousandths, `memory` in MiB: request and limit alike. */
export function both(cpu: number, memory: number): Resources {
  const amounts = { cpu: `${cpu}m`, memory: `${memory}Mi` };
  return { requests: amounts, limits: amounts };
}

export function container(name: string, resources: Resources, more: Partial<Container> = {}): Container {
  return { name, image: 'image', resources, ...more };
}

export function podOf(generation: number, ...containers: Container[]): WirePod {
  return buildPod({ metadata: { name: 'web', generation }, spec: { containers } });
}

/** A running container as the runtime has it. */
export function running(name: string, more: Partial<ContainerDetails> = {}): ContainerDetails {
  return {
    ...{ id: `id-of-${name}`, sandboxID: 'sandbox', metadata: { name, attempt: 0 }, image: 'image', imageRef: 'image' },
    ...{ state: 'running', createdAt: 1, labels: {}, annotations: {}, startedAt: 2, finishedAt: 0, exitCode: 0 },
    ...{ reason: '', message: '', imageID: 'image', logPath: '', mounts: [] },
    ...more,
  };
}

/** Allocations and a resizer over a runtime and cgroups that write down what they are told. */
export async function resizeWorld(options: Partial<PodAllocationsOptions> & { readonly pods?: WirePod[] } = {}) {
  const clock = new FakeClock();
  const resizes = new PodResizes(new PodResizeConditions({ clock, metrics: metricsOption(undefined) }), new RunState('manager'));
  const pods = new Map((options.pods ?? []).map((pod) => [pod.metadata?.uid ?? '', pod]));
  const events: string[] = [];
  const synced: string[] = [];
  const said: string[] = [];
  const usage = new Map<string, number>();
  const cgroup: { current: LinuxContainerResources } = { current: {} };
  const broken = { update: false };
  const { pods: _pods, ...given } = options;
  const base: PodAllocationsOptions = {
    folder: join(await tempDir(), 'allocations'),
    resizes,
    getPodByUID: (podUID) => pods.get(podUID),
    activePods: () => [...pods.values()],
    requestSync: (pod) => synced.push(pod.metadata?.name ?? ''),
    eventRecorder: { event: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    logger: silentLogger,
    ...given,
  };
  const allocations = new PodAllocations(base);
  const resizer = new PodResizer({
    allocations,
    resizes,
    eventRecorder: base.eventRecorder ?? { event: () => undefined },
    runtime: {
      updateContainerResources: async (id, { memoryLimitInBytes = 0, cpuQuota = 0 }) => {
        if (broken.update) throw new Error('runtime says no');
        said.push(`${id} ${cpuQuota} ${memoryLimitInBytes / 2 ** 20}Mi`);
      },
      listContainerStats: async () =>
        [...usage].map(([name, bytes]) => ({ containerID: `id-of-${name}`, name, labels: {}, at: 1, memoryUsageBytes: bytes })),
    },
    cgroups: {
      podResources: async () => cgroup.current,
      updatePod: async (_pod, resources = {}) => {
        cgroup.current = { ...cgroup.current, ...resources };
        said.push(`pod ${JSON.stringify(resources)}`);
      },
    },
    podResources: (pod) => summed(pod.spec?.containers ?? []),
    containerResources: (_pod, one) => summed([one]),
  });
  return { clock, resizes, pods, events, synced, said, usage, cgroup, broken, allocations, resizer, options: base };
}

/** In place of the node's own arithmetic: a thousandth of a core is 100 microseconds of quota; shares are the thousandths. */
function summed(containers: readonly { readonly resources?: GivenResources }[]): LinuxContainerResources {
  const sum = (value: (resources: NonNullable<GivenResources>) => string | undefined): number =>
    containers.reduce((total, { resources }) => total + numberOf(value(resources ?? {})), 0);
  return {
    cpuQuota: sum(({ limits }) => limits?.cpu) * 100,
    cpuShares: sum(({ requests }) => requests?.cpu),
    memoryLimitInBytes: sum(({ limits }) => limits?.memory),
  };
}

function numberOf(quantity = '0'): number {
  return Number.parseInt(quantity, 10) * (quantity.endsWith('Mi') ? 2 ** 20 : 1);
}
