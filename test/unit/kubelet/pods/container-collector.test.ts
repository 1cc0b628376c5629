import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { ContainerCollector } from '../../../../src/kubelet/pods/container-collector.ts';
import { container, podOf, SyncerWorld, testConfigs } from './syncer-world.ts';

const nobody = { shouldPodContentBeRemoved: () => false, sourcesReady: true };
const everybody = { shouldPodContentBeRemoved: () => true, sourcesReady: true };

async function restartedPod(world: SyncerWorld) {
  const pod = podOf({ containers: [container('app')] });
  for (let round = 0; round < 4; round += 1) {
    await world.sync(pod).catch(() => {});
    await world.clock.advance(100_000);
  }
  return pod;
}

function collectorOf(world: SyncerWorld, options = {}) {
  return new ContainerCollector({
    runtime: world.runtime,
    podLogsDirectory: undefined,
    clock: world.clock,
    logger: silentLogger,
    ...options,
  });
}

describe('containers that have ended', () => {
  it('are removed but for the newest one of each name', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000, exitCode: 1 }) });
    await restartedPod(world);
    expect((await world.runtime.listContainers()).length).toBe(4);
    await collectorOf(world).collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).map(({ metadata }) => metadata.attempt)).toEqual([3]);
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
  });

  it('stay while they are young', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000, exitCode: 1 }) });
    await restartedPod(world);
    await collectorOf(world, { minAgeMs: 1_000_000_000 }).collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).length).toBe(4);
  });

  it('go in time, though the clock was set back to before they were made', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000, exitCode: 1 }) });
    await restartedPod(world);
    world.clock.jump(-86_400_000);
    const collector = collectorOf(world, { minAgeMs: 60_000 });
    await collector.collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).length).toBe(4);
    await world.clock.advance(60_000);
    await collector.collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).map(({ metadata }) => metadata.attempt)).toEqual([3]);
  });

  it('of a pod that is gone are all removed, with its sandbox, once all pods are known', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    const collector = collectorOf(world);
    await collector.collect({ ...everybody, sourcesReady: false }, world.signal);
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
    await collector.collect(everybody, world.signal);
    expect([await world.runtime.listContainers(), await world.runtime.listPodSandboxes()]).toEqual([[], []]);
  });

  it('that run are never removed', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ containers: [container('app')] }));
    await collectorOf(world).collect(everybody, world.signal);
    expect((await world.runtime.listContainers()).length).toBe(1);
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
  });

  it('that cannot be removed hinder no other', async () => {
    await using world = new SyncerWorld({ lives: () => ({ runsMs: 1000, exitCode: 1 }) });
    await restartedPod(world);
    world.runtime.fail({ call: 'RemoveContainer', fault: { kind: 'error', error: 'failed' } });
    await collectorOf(world).collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).length).toBe(2);
  });

  it('that a runtime never removes are tried less and less often, and once a minute in the end; what comes later is not held up', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    const collector = collectorOf(world);
    const fault = { kind: 'error', error: 'failed' } as const;
    const rule = world.runtime.fail({ call: 'RemoveContainer', fault, times: Number.POSITIVE_INFINITY });
    const tries = () => world.runtime.calls.filter(({ call }) => call === 'RemoveContainer').length;
    const lookFor = async (seconds: number) => {
      const before = tries();
      for (let passed = 0; passed < seconds; passed += 2) {
        await collector.removePod(pod.metadata?.uid ?? '', () => true, world.signal);
        await world.clock.advance(2000);
      }
      return tries() - before;
    };
    expect(await lookFor(60)).toBe(5);
    expect(await lookFor(600)).toBe(10);
    rule.remove();
    expect(await lookFor(60)).toBe(1);
    expect([await world.runtime.listContainers(), await world.runtime.listPodSandboxes()]).toEqual([[], []]);
  });
});

describe('sandboxes that have ended', () => {
  it('and that a runtime does not remove are tried again later', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    await world.end(pod);
    const collector = collectorOf(world);
    world.runtime.fail({ call: 'RemovePodSandbox', fault: { kind: 'error', error: 'failed' }, times: 1 });
    await collector.collect(everybody, world.signal);
    await collector.collect(everybody, world.signal);
    expect((await world.runtime.listPodSandboxes()).length).toBe(1);
    await world.clock.advance(2000);
    await collector.collect(everybody, world.signal);
    expect(await world.runtime.listPodSandboxes()).toEqual([]);
  });

  it('are removed but for the newest one', async () => {
    await using world = new SyncerWorld();
    const pod = podOf({ containers: [container('app')] });
    await world.sync(pod);
    const [first] = await world.runtime.listPodSandboxes();
    world.runtime.killSandbox(first?.id ?? '');
    await world.clock.advance(1000);
    await world.sync(pod);
    for (const { id, state } of await world.runtime.listContainers())
      if (state === 'exited') await world.runtime.removeContainer(id);
    await collectorOf(world).collect(nobody, world.signal);
    expect((await world.runtime.listPodSandboxes()).map(({ metadata }) => metadata.attempt)).toEqual([1]);
  });
});

describe('the log files of a container that is removed', () => {
  async function setUp() {
    const logDirectory = await mkdtemp(path.join(tmpdir(), 'container-logs-'));
    const sandboxConfig: typeof testConfigs.sandboxConfig = async (...request) => ({
      ...(await testConfigs.sandboxConfig(...request)),
      logDirectory,
    });
    const world = new SyncerWorld({
      lives: () => ({ runsMs: 1000, exitCode: 1 }),
      syncer: { configs: { ...testConfigs, sandboxConfig } },
    });
    await restartedPod(world);
    const logs = path.join(logDirectory, 'app');
    await mkdir(logs);
    for (const name of ['0.log', '1.log', '1.log.20260101-000000.gz', '2.log', '3.log'])
      await writeFile(path.join(logs, name), '');
    return { world, logs, logDirectory };
  }

  it('go with it, those that were rotated, too', async () => {
    const { world, logs, logDirectory } = await setUp();
    await using _ = world;
    await collectorOf(world).collect(nobody, world.signal);
    expect(await readdir(logs)).toEqual(['3.log']);
    await rm(logDirectory, { recursive: true });
  });

  it('keep it until they are gone', async () => {
    const { world, logDirectory } = await setUp();
    await using _ = world;
    await rm(path.join(logDirectory, 'app', '1.log'));
    await mkdir(path.join(logDirectory, 'app', '1.log'));
    await collectorOf(world).collect(nobody, world.signal);
    expect((await world.runtime.listContainers()).map(({ metadata }) => metadata.attempt).sort()).toEqual([1, 3]);
    await rm(logDirectory, { recursive: true });
  });
});

describe('folders of log files', () => {
  it('of pods that are gone are removed, and no others', async () => {
    await using world = new SyncerWorld();
    const podLogsDirectory = await mkdtemp(path.join(tmpdir(), 'pod-logs-'));
    for (const name of ['default_web_1', 'default_web_2', 'lost+found', 'a_b_c_d'])
      await mkdir(path.join(podLogsDirectory, name));
    const shouldPodContentBeRemoved = (podUID: string) => podUID !== '2';
    const collector = collectorOf(world, { podLogsDirectory });
    await collector.collect({ shouldPodContentBeRemoved, sourcesReady: false }, world.signal);
    expect((await readdir(podLogsDirectory)).length).toBe(4);
    await collector.collect({ shouldPodContentBeRemoved, sourcesReady: true }, world.signal);
    expect((await readdir(podLogsDirectory)).sort()).toEqual(['a_b_c_d', 'default_web_2', 'lost+found']);
    await rm(podLogsDirectory, { recursive: true });
  });
});
