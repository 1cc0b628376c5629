import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNodeStats } from '../../../src/kubelet-api/node-stats.ts';
import { resourceMetrics } from '../../../src/kubelet-api/resource-metrics.ts';
import { buildStatsSummary } from '../../../src/kubelet-api/stats-summary.ts';
import type { ContainerStats, PodSandboxStats } from '../../../src/runtime/runtime-stats.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import type { Pod } from '../../../src/wire/types.ts';
import { tempDir } from '../../support/temp-dir.ts';

const at = Date.UTC(2026, 0, 1);
const time = '2026-01-01T00:00:00Z';
const startTime = '2025-12-31T23:00:00Z';
const node = { nodeName: 'node-1', startTime, cpu: { time, usageCoreNanoSeconds: 5e9 }, memory: { time, workingSetBytes: 1000 } };

const samplesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

function sandbox(uid: string, name: string, own: { container?: Partial<ContainerStats>; at?: number } = {}): PodSandboxStats {
  const labels = { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.uid': uid };
  const measured = { cpuNanoseconds: 1.5e9, memoryWorkingSetBytes: 300, ...own.container };
  const container = { containerID: 'c', name: 'app', labels: {}, at: own.at ?? at, ...measured };
  return {
    ...{
      sandboxID: 's',
      labels,
      at: own.at ?? at,
      cpuNanoseconds: 2e9,
      cpuNanocores: 7,
      memoryWorkingSetBytes: 400,
      memoryRssBytes: 10,
    },
    ...{
      receivedBytes: 1,
      sentBytes: 2,
      processes: 3,
      containers: [{ ...container, writableLayerBytes: 50, writableLayerInodes: 4 }],
    },
  };
}

const running = { name: 'app', state: { running: { startedAt: startTime } } };
const pod = { metadata: { uid: 'u1', name: 'web' }, status: { startTime, containerStatuses: [running] } } as unknown as Pod;

describe('the summary of a node', () => {
  it('has what the runtime measured of each pod, and the start times of its status', () => {
    const { pods } = buildStatsSummary({ node, sandboxes: [sandbox('u1', 'web')], pods: [pod] });
    expect(pods).toEqual([
      {
        podRef: { name: 'web', namespace: 'default', uid: 'u1' },
        startTime,
        containers: [
          {
            ...{ name: 'app', startTime, cpu: { time, usageCoreNanoSeconds: 1.5e9 }, memory: { time, workingSetBytes: 300 } },
            rootfs: { time, usedBytes: 50, inodesUsed: 4 },
          },
        ],
        cpu: { time, usageCoreNanoSeconds: 2e9, usageNanoCores: 7 },
        memory: { time, workingSetBytes: 400, rssBytes: 10 },
        network: { time, name: 'eth0', rxBytes: 1, txBytes: 2 },
        'ephemeral-storage': { time, usedBytes: 50 },
        process_stats: { process_count: 3 },
      },
    ]);
  });

  it('has a pod that is not known any more, a pod with two sandboxes once, and nothing of others', () => {
    const stranger = { ...sandbox('', ''), labels: {} };
    const { pods } = buildStatsSummary({ node, sandboxes: [sandbox('u2', 'old'), sandbox('u2', 'old'), stranger], pods: [pod] });
    expect(pods.map(({ podRef, startTime: from }) => [podRef.name, from])).toEqual([['old', time]]);
  });

  it('leaves out containers that have ended', () => {
    const one = sandbox('u1', 'web');
    const ended = { containerID: 'd', name: 'dbg', labels: {}, at: 0, writableLayerBytes: 1 };
    const { pods } = buildStatsSummary({ node, sandboxes: [{ ...one, containers: [...one.containers, ended] }], pods: [pod] });
    expect(pods[0]?.containers.map(({ name }) => name)).toEqual(['app']);
  });

  it('says what is left of a limit, and never less than nothing', () => {
    const summary = (limit: number | undefined) =>
      buildStatsSummary({ node, sandboxes: [sandbox('u1', 'web')], pods: [pod], memoryLimitOf: () => limit }).pods[0]?.memory;
    expect(summary(500)).toMatchObject({ availableBytes: 100 });
    expect(summary(300)).toMatchObject({ availableBytes: 0 });
    expect(summary(undefined)).not.toHaveProperty('availableBytes');
  });

  it('has the times of measurements to the millisecond, and what all containers have swapped out', () => {
    const one = sandbox('u1', 'web', { at: at + 7, container: { swapUsageBytes: 1 } });
    const other = {
      ...sandbox('u1', 'web', { container: { swapUsageBytes: 2, swapAvailableBytes: 5 } }).containers[0],
      name: 'b',
    };
    const containers = [...one.containers, other as ContainerStats];
    const { pods } = buildStatsSummary({ node, sandboxes: [{ ...one, containers }], pods: [pod] });
    expect(pods[0]?.cpu?.time).toBe('2026-01-01T00:00:00.007Z');
    expect(pods[0]?.containers[0]?.swap).toEqual({ time: '2026-01-01T00:00:00.007Z', swapUsageBytes: 1 });
    expect(pods[0]?.swap).toEqual({ time, swapAvailableBytes: 5, swapUsageBytes: 3 });
  });

  it('leaves out what was not measured', () => {
    const labels = sandbox('u1', 'web').labels;
    const { pods } = buildStatsSummary({ node, sandboxes: [{ sandboxID: 's', labels, at, containers: [] }], pods: [pod] });
    expect(pods).toEqual([{ podRef: { name: 'web', namespace: 'default', uid: 'u1' }, startTime, containers: [] }]);
  });
});

describe('the metrics of resources', () => {
  it('are those of the summary, in seconds and bytes', () => {
    const own = { container: { swapUsageBytes: 20, swapAvailableBytes: 80 }, at: at + 123 };
    const swapping = { ...node, swap: { time, swapUsageBytes: 0, swapAvailableBytes: 9 } };
    const samples = samplesOf(
      resourceMetrics(buildStatsSummary({ node: swapping, sandboxes: [sandbox('u1', 'web', own)], pods: [pod] })),
    );
    expect(samples).toEqual([
      `container_cpu_usage_seconds_total{container="app",namespace="default",pod="web"} 1.5 ${at + 123}`,
      `container_memory_working_set_bytes{container="app",namespace="default",pod="web"} 300 ${at + 123}`,
      `container_start_time_seconds{container="app",namespace="default",pod="web"} ${Date.parse(startTime) / 1000}`,
      `container_swap_limit_bytes{container="app",namespace="default",pod="web"} 100 ${at + 123}`,
      `container_swap_usage_bytes{container="app",namespace="default",pod="web"} 20 ${at + 123}`,
      `node_cpu_usage_seconds_total 5 ${at}`,
      `node_memory_working_set_bytes 1000 ${at}`,
      `node_swap_usage_bytes 0 ${at}`,
      `pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2 ${at + 123}`,
      `pod_memory_working_set_bytes{namespace="default",pod="web"} 400 ${at + 123}`,
      `pod_swap_usage_bytes{namespace="default",pod="web"} 20 ${at + 123}`,
      'resource_scrape_error 0',
    ]);
  });

  it('have no time where the runtime says none', () => {
    const samples = samplesOf(
      resourceMetrics(buildStatsSummary({ node, sandboxes: [sandbox('u1', 'web', { at: 0 })], pods: [pod] })),
    );
    expect(samples).toContain('pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2');
  });

  it('say that nothing could be measured', () => {
    expect(samplesOf(resourceMetrics(undefined))).toEqual(['resource_scrape_error 1']);
  });

  it('leave out what was not measured', () => {
    const text = resourceMetrics({ node: { nodeName: 'n', startTime }, pods: [] });
    expect(samplesOf(text)).toEqual(['resource_scrape_error 0']);
    expect(text).not.toContain('container_start_time_seconds');
  });
});

describe('what the machine takes', () => {
  it('is read from the kernel and the file system', async () => {
    const proc = await tempDir();
    await writeFile(join(proc, 'stat'), `cpu  100 1 50 9999 8888 2 3 4 77 0\ncpu0 1 1 1 1\nbtime ${at / 1000 - 3600}\n`);
    await writeFile(
      join(proc, 'meminfo'),
      'MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\nSwapTotal:       50 kB\nSwapFree:        20 kB\n',
    );
    const stats = await readNodeStats({ nodeName: 'n', rootDirectory: proc, proc, clock: new FakeClock({ start: at }) });
    expect(stats).toMatchObject({
      ...{ nodeName: 'n', startTime, cpu: { time, usageCoreNanoSeconds: 160 * 1e7 } },
      memory: { time, availableBytes: 409_600, usageBytes: 921_600, workingSetBytes: 614_400 },
    });
    expect(stats.swap).toEqual({ time, swapAvailableBytes: 20_480, swapUsageBytes: 30_720 });
    expect(stats.fs?.capacityBytes).toBeGreaterThan(stats.fs?.usedBytes ?? Number.POSITIVE_INFINITY);
  });

  it('is nothing where nothing can be read', async () => {
    const nowhere = '/nowhere';
    const stats = await readNodeStats({
      nodeName: 'n',
      rootDirectory: nowhere,
      proc: nowhere,
      clock: new FakeClock({ start: at }),
    });
    expect(stats).toEqual({ nodeName: 'n', startTime: time });
  });
});
