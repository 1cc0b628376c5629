import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { AgentCleanup, type AgentCleanupOptions } from '../../../../src/kubelet/agent/agent-cleanup.ts';
import { ContainerCollector } from '../../../../src/kubelet/pods/container-collector.ts';
import { FakeClock } from '../../../../src/testing.ts';
import type { LogLine } from '../pleg/lifecycle-setup.ts';
import { container, podOf, SyncerWorld } from '../pods/syncer-world.ts';

const nothingKnown: ReadonlySet<string> = new Set();
let logs: string;

beforeEach(async () => {
  logs = await mkdtemp(path.join(tmpdir(), 'cleanup-'));
});

afterEach(() => rm(logs, { recursive: true }));

/** A cleanup over a runtime, with volumes and cgroups that only say what is asked of them. */
function setUp(world: SyncerWorld, options: Partial<AgentCleanupOptions> = {}) {
  const removed: string[] = [];
  const lines: LogLine[] = [];
  const note = (fields: object, message: string) => void lines.push({ level: 'warn', message, fields });
  const left = { volumes: [] as string[], cgroups: [] as string[], userNamespaces: [] as string[], known: new Set<string>() };
  const cleanup = new AgentCleanup({
    clock: new FakeClock(),
    lifecycle: world.lifecycle,
    containers: new ContainerCollector({
      ...{ runtime: world.runtime, clock: world.clock, podLogsDirectory: logs, logger: silentLogger },
    }),
    volumes: {
      orphans: async (known) => left.volumes.filter((podUID) => !known.has(podUID)),
      unmountVolumes: async (podUID) => void removed.push(`volumes of ${podUID}`),
    },
    cgroups: {
      listPods: async () => left.cgroups,
      removePod: async (pod) => void removed.push(`cgroup of ${pod}`),
    },
    userNamespaces: {
      get podUIDs() {
        return left.userNamespaces;
      },
      release: async (podUID) => void removed.push(`ids of ${podUID}`),
    },
    isKnown: (podUID) => left.known.has(podUID),
    logger: { debug: note, info: note, warn: note, error: note },
    ...options,
  });
  /** One whole look. */
  const look = async (desired = nothingKnown): Promise<void> => {
    cleanup.look(desired);
    await cleanup.settled();
  };
  return { cleanup, look, left, removed, lines };
}

async function endedPod(world: SyncerWorld) {
  const pod = podOf({ containers: [container('app')] });
  await world.sync(pod);
  await world.end(pod);
  await mkdir(path.join(logs, 'default_web_web', 'app'), { recursive: true });
  return pod;
}

async function leftInRuntime({ runtime }: SyncerWorld): Promise<number> {
  return (await runtime.listContainers()).length + (await runtime.listPodSandboxes()).length;
}

describe('a look at what pods have left', () => {
  it('removes containers, sandbox and logs of a pod that nobody knows', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    const { look, lines } = setUp(world);
    await look();
    expect(await leftInRuntime(world)).toBe(0);
    expect(world.lifecycle.podUIDs()).toEqual([]);
    expect(await readdir(logs)).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('asks the runtime nothing when no pod has left anything', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    const { look } = setUp(world);
    await look();
    world.runtime.clearCalls();
    await look();
    expect(world.runtime.calls).toEqual([]);
  });

  it.each([
    'the report',
    'the agent',
  ])('leaves a pod that %s knows, though it has ended: its logs can still be read', async (who) => {
    await using world = new SyncerWorld();
    const pod = await endedPod(world);
    const { look, left } = setUp(world);
    if (who === 'the agent') left.known.add('web');
    await look(new Set(who === 'the report' ? [pod.metadata?.uid ?? ''] : []));
    expect(await leftInRuntime(world)).toBe(2);
    expect(await readdir(logs)).toEqual(['default_web_web']);
  });

  it('leaves what runs, with its logs, its volumes and its cgroup, for the sync loop to end first', async () => {
    await using world = new SyncerWorld();
    await world.sync(podOf({ containers: [container('app')] }));
    await mkdir(path.join(logs, 'default_web_web'));
    const { look, left, removed } = setUp(world);
    left.volumes.push('web');
    left.cgroups.push('web');
    await look();
    expect([await leftInRuntime(world), await readdir(logs), removed]).toEqual([2, ['default_web_web'], []]);
  });

  it('removes volumes and cgroups of a pod that nobody knows', async () => {
    await using world = new SyncerWorld();
    const { look, left, removed } = setUp(world);
    left.volumes.push('gone');
    left.cgroups.push('gone');
    await look();
    expect(removed).toEqual(['volumes of gone', 'cgroup of gone']);
  });

  it('gives back the ids of a pod only once nothing of it is left, whatever is left of others', async () => {
    await using world = new SyncerWorld();
    const { look, left, removed } = setUp(world, {
      volumes: {
        orphans: async () => left.volumes,
        unmountVolumes: async (podUID) => {
          if (podUID === 'busy') throw new Error('busy');
        },
      },
    });
    left.userNamespaces.push('gone', 'busy', 'kept');
    left.known.add('kept');
    left.volumes.push('busy');
    await look();
    expect(removed).toEqual(['ids of gone']);
    left.volumes.length = 0;
    await look();
    expect(removed).toEqual(['ids of gone', 'ids of gone', 'ids of busy']);
  });

  it('keeps the ids of a pod whose volumes wait for those of others', async () => {
    await using world = new SyncerWorld();
    const clock = new FakeClock();
    const { cleanup, left, removed } = setUp(world, {
      clock,
      volumes: { orphans: async () => left.volumes, unmountVolumes: () => new Promise(() => {}) },
    });
    left.volumes.push(...Array.from({ length: 17 }, (_, index) => `hanging-${index}`));
    left.userNamespaces.push('hanging-16', 'gone');
    cleanup.look(nothingKnown);
    await clock.advance(10_000);
    await cleanup.settled();
    expect(removed).toEqual(['ids of gone']);
    await cleanup.stop();
  });

  it('gives back no ids where it does not know whose things are left', async () => {
    await using world = new SyncerWorld();
    const { look, left, removed } = setUp(world, {
      containers: { removePod: async () => {}, removeLogs: () => Promise.reject(new Error('EIO')) },
    });
    left.userNamespaces.push('gone');
    await look();
    expect(removed).toEqual([]);
  });

  it('leaves a pod all it has that comes between the listing and the removing', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    const { look, left, removed } = setUp(world, {
      lifecycle: {
        podUIDs: () => world.lifecycle.podUIDs(),
        refresh: (podUID, signal) => world.lifecycle.refresh(podUID, signal),
        getPods: async () => {
          left.known.add('web');
          return [];
        },
      },
    });
    left.volumes.push('web');
    left.cgroups.push('web');
    await look();
    expect(removed).toEqual([]);
    expect([await leftInRuntime(world), await readdir(logs)]).toEqual([2, ['default_web_web']]);
  });

  it('leaves the containers of a pod that comes while they are being removed', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    const collector = new ContainerCollector({
      runtime: world.runtime,
      podLogsDirectory: undefined,
      clock: world.clock,
      logger: silentLogger,
    });
    const { look, left } = setUp(world, {
      containers: {
        removePod: (podUID, isGone, signal) => {
          left.known.add('web');
          return collector.removePod(podUID, isGone, signal);
        },
        removeLogs: async () => undefined,
      },
    });
    await look();
    expect(await leftInRuntime(world)).toBe(2);
  });

  it('asks the runtime nothing of a pod that has come before its turn', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    const asked: string[] = [];
    const { look, left } = setUp(world, {
      volumes: { orphans: async () => ['gone'], unmountVolumes: async () => void left.known.add('web') },
      containers: { removePod: async (podUID) => void asked.push(podUID), removeLogs: async () => undefined },
    });
    await look();
    expect(asked).toEqual([]);
  });

  it('goes on with other pods after one that fails, and says so', async () => {
    await using world = new SyncerWorld();
    await endedPod(world);
    let isBusy = true;
    const { look, left, lines } = setUp(world, {
      cgroups: {
        listPods: async () => ['one'],
        removePod: async () => {
          if (isBusy) throw new Error('busy');
        },
      },
    });
    left.cgroups.push('one');
    await look();
    expect(lines.map(({ message }) => message)).toEqual(['what a pod has left could not be removed; it is tried again']);
    expect(await leftInRuntime(world)).toBe(0);
    await look();
    isBusy = false;
    await look();
    await look();
    expect(lines.slice(2)).toMatchObject([
      { message: 'what pods have left can be removed again', fields: { attempt: 2, failingForMs: 0 } },
    ]);
  });

  it('is made by one at a time, and by none after stop', async () => {
    await using world = new SyncerWorld();
    let looks = 0;
    const listPods = async (): Promise<string[]> => {
      looks += 1;
      return [];
    };
    const { cleanup } = setUp(world, { cgroups: { listPods, removePod: async () => {} } });
    cleanup.look(nothingKnown);
    cleanup.look(nothingKnown);
    await cleanup.settled();
    await cleanup.stop();
    cleanup.look(nothingKnown);
    await cleanup.settled();
    expect(looks).toBe(1);
  });
});
