import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import type { ContainerStats, PodSandboxStats } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import type { FilesystemUsage } from '../../../../src/kubelet/runtime/runtime-images.ts';
import { CpuSampler, readNodeStats } from '../../../../src/kubelet/server/node-stats.ts';
import { buildStatsSummary, type StatsSources } from '../../../../src/kubelet/server/stats-summary.ts';
import { resourceMetrics } from '../../../../src/node/server/resource-metrics.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';

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
        'ephemeral-storage': { time, usedBytes: 50, inodesUsed: 4 },
        process_stats: { process_count: 3 },
      },
    ]);
  });

  it('has a pod that is not known any more, a pod with two sandboxes once, and nothing of others', () => {
    const stranger = { ...sandbox('', ''), labels: {} };
    const { pods } = buildStatsSummary({ node, sandboxes: [sandbox('u2', 'old'), sandbox('u2', 'old'), stranger], pods: [pod] });
    expect(pods.map(({ podRef, startTime: from }) => [podRef.name, from])).toEqual([['old', time]]);
  });

  it('has of each container what is left of its own limit', () => {
    const memoryLimitsOf = () => (container: string | undefined) => (container === 'app' ? 310 : undefined);
    const { pods } = buildStatsSummary({ node, sandboxes: [sandbox('u1', 'web')], pods: [pod], memoryLimitsOf });
    expect(pods[0]?.containers[0]?.memory).toMatchObject({ availableBytes: 10 });
    expect(pods[0]?.memory).not.toHaveProperty('availableBytes');
  });

  it('leaves out containers that have ended', () => {
    const one = sandbox('u1', 'web');
    const ended = { containerID: 'd', name: 'dbg', labels: {}, at: 0, writableLayerBytes: 1 };
    const { pods } = buildStatsSummary({ node, sandboxes: [{ ...one, containers: [...one.containers, ended] }], pods: [pod] });
    expect(pods[0]?.containers.map(({ name }) => name)).toEqual(['app']);
  });

  it('says what is left of a limit, and never less than nothing', () => {
    const summary = (limit: number | undefined) =>
      buildStatsSummary({ node, sandboxes: [sandbox('u1', 'web')], pods: [pod], memoryLimitsOf: () => () => limit }).pods[0]
        ?.memory;
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

describe('the storage of a pod', () => {
  const disk = { availableBytes: 600, capacityBytes: 1000, inodesFree: 60, inodes: 100 };
  const withDisk = { ...node, fs: { time, ...disk, usedBytes: 400, inodesUsed: 40 } };
  const none = { bytes: 0, inodes: 0 };
  const files = {
    at: at + 5000,
    volumes: { data: { bytes: 10, inodes: 2 }, 'not-there-yet': none },
    memoryVolumes: { shm: { bytes: 1000, inodes: 7 } },
    logs: { app: { bytes: 3, inodes: 1 }, ended: { bytes: 4, inodes: 1 } },
    others: { bytes: 5, inodes: 1 },
  };
  const counted = '2026-01-01T00:00:05Z';
  const statsWith = (filesOf: StatsSources['filesOf']) =>
    buildStatsSummary({ node: withDisk, sandboxes: [sandbox('u1', 'web')], pods: [pod], ...(filesOf && { filesOf }) }).pods[0];

  it('is that of its volumes and logs, on the disk of the node', () => {
    const stats = statsWith((uid) => (uid === 'u1' ? files : undefined));
    expect(stats?.volume).toEqual([
      { name: 'data', time: counted, ...disk, usedBytes: 10, inodesUsed: 2 },
      { name: 'shm', time: counted, usedBytes: 1000, inodesUsed: 7 },
    ]);
    expect(stats?.containers[0]?.logs).toEqual({ time: counted, ...disk, usedBytes: 3, inodesUsed: 1 });
    expect(stats?.['ephemeral-storage']).toEqual({ time: counted, ...disk, usedBytes: 50 + 22, inodesUsed: 4 + 5 });
  });

  it('does not count what the pod has claimed, which is shown with its claim', () => {
    const claimed = { name: 'disk', time, usedBytes: 70, pvcRef: { name: 'disk-0', namespace: 'default' } };
    const sources = { node: withDisk, sandboxes: [sandbox('u1', 'web')], pods: [pod] };
    const [stats] = buildStatsSummary({ ...sources, claimedOf: (uid) => (uid === 'u1' ? [claimed] : []) }).pods;
    expect(stats?.volume).toEqual([claimed]);
    expect(stats?.['ephemeral-storage']?.usedBytes).toBe(50);
  });

  it('is what its containers have written, while nothing is counted', () => {
    const stats = statsWith(() => undefined);
    expect(stats).not.toHaveProperty('volume');
    expect(stats?.containers[0]).not.toHaveProperty('logs');
    expect(stats?.['ephemeral-storage']).toEqual({ time, ...disk, usedBytes: 50, inodesUsed: 4 });
  });

  it('is told in whole numbers, and all that there is of what nobody can count', () => {
    const endless = { bytes: Number.POSITIVE_INFINITY, inodes: Number.POSITIVE_INFINITY };
    const stats = statsWith(() => ({ ...files, volumes: { part: { bytes: 10.5, inodes: 0.5 }, deep: endless } }));
    expect(stats?.volume?.map(({ name, usedBytes, inodesUsed }) => [name, usedBytes, inodesUsed])).toEqual([
      ['part', 11, 1],
      ['deep', 1000, 100],
      ['shm', 1000, 7],
    ]);
    expect(stats?.['ephemeral-storage']).toMatchObject({ usedBytes: 1000, inodesUsed: 100 });
  });
});

describe('the processor time that is taken now', () => {
  async function sampled(readings: readonly (number | undefined | Error)[]) {
    const clock = new FakeClock();
    const left = [...readings];
    const read = async () => {
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next;
    };
    const sampler = new CpuSampler({ read, clock });
    const rates: (number | undefined)[] = [sampler.nanoCores];
    sampler.start();
    for (const _ of readings) {
      await settle();
      rates.push(sampler.nanoCores);
      await clock.advance(10_000);
    }
    await sampler.stop();
    return { rates, clock };
  }

  it('is the difference of the last two readings', async () => {
    const { rates, clock } = await sampled([1e9, 6e9, 6e9]);
    expect(rates).toEqual([undefined, undefined, 5e8, 0]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not known after a reading that failed, and where the time goes back', async () => {
    const { rates } = await sampled([1e9, undefined, 2e9, new Error('no /proc'), 3e9, 1e9, 2e9]);
    expect(rates).toEqual([undefined, undefined, undefined, undefined, undefined, undefined, undefined, 1e8]);
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

  it('has its processes, and what is taken of its processors now', async () => {
    const proc = await tempDir();
    await mkdir(join(proc, 'sys/kernel'), { recursive: true });
    await writeFile(join(proc, 'stat'), 'cpu  1 0 0 0 0 0 0 0 0 0\n');
    await writeFile(join(proc, 'loadavg'), '1.36 3.49 4.53 2/3518 3715089\n');
    await writeFile(join(proc, 'sys/kernel/pid_max'), '4194304\n');
    await writeFile(join(proc, 'sys/kernel/threads-max'), '127000\n');
    const clock = new FakeClock({ start: at + 5 });
    const stats = await readNodeStats({ nodeName: 'n', rootDirectory: proc, proc, clock, nanoCores: 77 });
    const measured = '2026-01-01T00:00:00.005Z';
    expect(stats.rlimit).toEqual({ time: measured, maxpid: 127_000, curproc: 3518 });
    expect(stats.cpu).toEqual({ time: measured, usageNanoCores: 77, usageCoreNanoSeconds: 1e7 });
  });

  it('has the file system of images, as the runtime and the kernel measure it', async () => {
    const mountpoint = await tempDir();
    const clock = new FakeClock({ start: at });
    const usage = { mountpoint, usedBytes: 12, inodesUsed: 3, at: at - 1000 };
    const read = (list: () => Promise<FilesystemUsage[]>) =>
      readNodeStats({ nodeName: 'n', rootDirectory: mountpoint, proc: mountpoint, clock, imageFilesystems: list });
    const { runtime, fs } = await read(async () => [usage, { ...usage, mountpoint: '/elsewhere' }]);
    const { capacityBytes, inodes } = fs ?? {};
    expect(runtime?.imageFs).toMatchObject({ time: '2025-12-31T23:59:59Z', usedBytes: 12, inodesUsed: 3, capacityBytes, inodes });
    expect(runtime?.containerFs).toEqual(runtime?.imageFs);
    const unknown = await read(async () => [{ ...usage, mountpoint: '/nowhere', at: 0 }]);
    expect(unknown.runtime?.imageFs).toEqual({ time, usedBytes: 12, inodesUsed: 3 });
    expect(await read(async () => [])).not.toHaveProperty('runtime');
    expect(await read(() => Promise.reject(new Error('away')))).not.toHaveProperty('runtime');
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
