import { describe, expect, it } from 'vitest';
import { ContainerProvider, type ContainerProviderOptions } from '../../../../src/node/container-provider/container-provider.ts';
import type { NodePod } from '../../../../src/node/provider/pod-provider.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { app, ContainerWorld, init, sidecar } from './container-world.ts';

describe('the end of a pod', () => {
  it('is asked for, and forced after its grace period; the server hears how each container has ended', async () => {
    await using world = new ContainerWorld();
    const told: unknown[] = [];
    world.node.statusManager.on('podUpdated', ({ status }) =>
      told.push(status.containerStatuses?.map(({ state }) => state?.terminated?.exitCode)),
    );
    await world.node.create('web', { spec: { containers: [app, { name: 'log', image: 'log:1' }] } });
    world.took();
    await world.node.delete('web', 10);
    expect(world.took()).toEqual(['stop app', 'stop log']);
    await world.exit('app', 143);
    await world.node.clock.advance(9000);
    expect(world.took()).toEqual(['-app']);
    expect(world.node.isGone('web')).toBe(false);
    await world.node.clock.advance(1000);
    expect(world.took()).toEqual(['kill log']);
    await world.exit('log', 137);
    await world.node.clock.advance(5000);
    expect(world.node.isGone('web')).toBe(true);
    expect(told.at(-1)).toEqual([143, 137]);
    expect(world.provider.getPodStatus({ metadata: { uid: 'u' } } as NodePod)).toBeUndefined();
  });

  it('keeps its exit codes, also where all containers end at once', async () => {
    await using world = new ContainerWorld();
    const told: unknown[] = [];
    world.node.statusManager.on('podUpdated', ({ status }) =>
      told.push(status.containerStatuses?.map(({ state }) => state?.terminated?.exitCode)),
    );
    await world.node.create('web');
    const { stop, exit } = world.run('app');
    stop.addEventListener('abort', () => exit(143));
    await world.node.delete('web', 10);
    await world.node.clock.advance(5000);
    expect(world.node.isGone('web')).toBe(true);
    expect(told.at(-1)).toEqual([143]);
  });

  it('ends the wait for a restart, and begins nothing', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { initContainers: [init('one')], containers: [app] } });
    await world.exit('one', 1);
    await world.exit('one', 1);
    world.took();
    await world.node.delete('web', 600);
    await world.node.clock.advance(5000);
    expect(world.node.isGone('web')).toBe(true);
    await world.node.clock.advance(60_000);
    expect(world.took()).toEqual([]);
  });

  it('keeps the exit code of a container that waits for its next run', async () => {
    await using world = new ContainerWorld();
    const told: unknown[] = [];
    world.node.statusManager.on('podUpdated', ({ status }) => told.push(status.containerStatuses?.[0]));
    await world.node.create('web');
    await world.exit('app', 3);
    await world.exit('app', 3);
    await world.node.clock.advance(1000);
    expect(told.at(-1)).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } } });
    await world.node.delete('web', 5);
    await world.node.clock.advance(5000);
    expect(world.node.isGone('web')).toBe(true);
    expect(told.at(-1)).toMatchObject({ restartCount: 1, state: { terminated: { exitCode: 3, reason: 'Error' } } });
  });

  it('comes to the sidecars last, one by one, the last of them first', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { initContainers: [sidecar('one'), sidecar('two')], containers: [app] } });
    world.took();
    await world.node.delete('web', 10);
    expect(world.took()).toEqual(['stop app']);
    await world.exit('app', 0);
    expect(world.took()).toEqual(['-app', 'stop two']);
    await world.exit('two', 0);
    expect(world.took()).toEqual(['-two', 'stop one']);
    await world.exit('one', 0);
    await world.node.clock.advance(5000);
    expect(world.node.isGone('web')).toBe(true);
  });

  it('gives the sidecars the rest of the one grace period, and starts none of them again', async () => {
    await using world = new ContainerWorld();
    const spec = { initContainers: [sidecar('one'), sidecar('two'), init('setup')], containers: [app] };
    await world.node.create('web', { spec });
    await world.node.delete('web', 10);
    expect(world.took()).toEqual(['+one', '+two', '+setup', 'stop setup']);
    await world.exit('two', 1);
    await world.node.clock.advance(9000);
    expect(world.took()).toEqual(['-two']);
    await world.node.clock.advance(1000);
    expect(world.took().toSorted()).toEqual(['kill one', 'kill setup', 'stop one']);
    await world.exit('setup', 137);
    await world.exit('one', 137);
    await world.node.clock.advance(5000);
    expect(world.took()).toEqual(['-setup', '-one']);
    expect(world.node.isGone('web')).toBe(true);
  });

  it('comes with the shorter of two grace periods', async () => {
    const clock = new FakeClock();
    const { provider, log, pod, begin } = alone({ clock });
    await begin();
    const [long, short] = [
      provider.deletePod(pod, { gracePeriodSeconds: 600 }),
      provider.deletePod(pod, { gracePeriodSeconds: 1 }),
    ];
    await clock.advance(1000);
    expect(log).toEqual(['stop', 'kill']);
    expect(await Promise.all([long, short])).toMatchObject([[{ exitCode: 137 }], [{ exitCode: 137 }]]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not brought forward by a grace period that no timer can hold', async () => {
    const clock = new FakeClock();
    const { provider, log, pod, begin } = alone({ clock });
    await begin();
    const ended = provider.deletePod(pod, { gracePeriodSeconds: Number.MAX_SAFE_INTEGER });
    await clock.advance(86_400_000);
    expect(log).toEqual(['stop']);
    void provider.deletePod(pod, { gracePeriodSeconds: 0 });
    await clock.advance(0);
    await ended;
  });
});

/** A provider without a node, of one pod whose container ends only when it is killed. */
function alone(options: Partial<ContainerProviderOptions> = {}) {
  const log: string[] = [];
  const counts = { runs: 0 };
  const runContainer: ContainerProviderOptions['runContainer'] = (_, { stop, kill }) => {
    counts.runs += 1;
    stop.addEventListener('abort', () => log.push('stop'));
    return new Promise((resolve) => {
      kill.addEventListener('abort', () => {
        log.push('kill');
        resolve(137);
      });
    });
  };
  const pod: NodePod = { metadata: { uid: 'u', name: 'web', namespace: 'default' }, spec: { containers: [app] } };
  const provider = new ContainerProvider({ runContainer, ...options });
  const begin = async (): Promise<void> => {
    provider.createPod(pod);
    await settle();
  };
  return { log, counts, pod, provider, begin };
}

describe('ContainerProvider', () => {
  it.each([
    ['runContainer', {}],
    ['runContainer', { runContainer: 1 }],
    ['typo', { runContainer: async () => {}, typo: 1 }],
    ['backoff.typo', { runContainer: async () => {}, backoff: { typo: 1 } }],
    ['baseMs', { runContainer: async () => {}, backoff: { baseMs: -1 } }],
    ['clock', { runContainer: async () => {}, clock: {} }],
  ])('refuses a wrong option and names it: %s', (name, options) => {
    const make = () => new ContainerProvider(options as never);
    expect(make).toThrow(name);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });

  it.each([
    ['ran', { restartCount: 5, state: { running: {} } }, 6],
    ['had ended', { restartCount: 5, state: { terminated: { exitCode: 1 } } }, 6],
    ['waited for its next run', { restartCount: 5, state: { waiting: {} }, lastState: { terminated: { exitCode: 1 } } }, 6],
    [
      'had ended unseen, and was counted',
      { restartCount: 5, state: { waiting: {} }, lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } },
      5,
    ],
    ['had never run', { restartCount: 0, state: { waiting: {} } }, 0],
    ['was counted wrong', { restartCount: -1, state: { running: {} } }, 1],
  ])('counts the runs of a container on, which %s when an earlier process told of it', async (_, told, restartCount) => {
    const clock = new FakeClock();
    const { provider, pod } = alone({ clock });
    const containerStatuses = [{ name: 'app', image: '', imageID: '', ready: false, ...told }];
    provider.createPod({ ...pod, status: { containerStatuses } });
    await settle();
    expect(provider.getPodStatus(pod)).toMatchObject([{ state: 'running', restartCount }]);
    const closed = provider.close({ gracePeriodSeconds: 0 });
    await clock.advance(0);
    await closed;
  });

  it.each([
    ['rule', { restartPolicy: 'Never', restartPolicyRules: [null] }],
    ['list of rules', { restartPolicy: 'Never', restartPolicyRules: { no: 'list' } }],
    ['list of exit codes', { restartPolicy: 'Never', restartPolicyRules: [{ exitCodes: { operator: 'In', values: 1 } }] }],
  ])('goes on after a container with a %s that is none', async (_, policy) => {
    const { provider, pod } = alone({ runContainer: async () => 1 });
    provider.createPod({ ...pod, spec: { containers: [{ ...app, ...policy } as never] } });
    await settle();
    expect(provider.getPodStatus(pod)).toMatchObject([{ state: 'exited', exitCode: 1 }]);
    expect(await provider.deletePod(pod, { gracePeriodSeconds: 0 })).toMatchObject([{ exitCode: 1 }]);
  });

  it('ends the life of a container of which nobody can say whether it runs again', async () => {
    const { provider } = alone({ runContainer: async () => 1 });
    const nameless = { metadata: { uid: 'u' }, spec: { containers: [app] } } as never as NodePod;
    provider.createPod(nameless);
    await settle();
    expect(await provider.deletePod(nameless, { gracePeriodSeconds: 0 })).toMatchObject([{ exitCode: 1 }]);
  });

  it('lets others run between the runs of a container that need not wait', async () => {
    let runs = 0;
    const { provider, pod, begin } = alone({
      backoff: { baseMs: 0, maxMs: 0 },
      runContainer: async () => {
        runs += 1;
        // stands in for a process that hangs
        if (runs > 1000) return new Promise<never>(() => {});
        return 1;
      },
    });
    await begin();
    expect(runs).toBeLessThan(20);
    await provider.deletePod(pod, { gracePeriodSeconds: 0 });
  });

  it('runs a pod once, however often it is created', async () => {
    const clock = new FakeClock();
    const { provider, log, begin, counts } = alone({ clock });
    await begin();
    await begin();
    expect(counts.runs).toBe(1);
    const closed = provider.close({ gracePeriodSeconds: 0 });
    await clock.advance(0);
    await closed;
    expect(log).toEqual(['stop', 'kill']);
  });

  it('ends all pods when it is closed, leaves no timer, and begins no other', async () => {
    const clock = new FakeClock();
    const { provider, log, pod, begin } = alone({ clock });
    await begin();
    const closed = provider.close();
    await clock.advance(9999);
    expect(log).toEqual(['stop']);
    await clock.advance(1);
    await closed;
    expect([log, clock.pendingTimers]).toEqual([['stop', 'kill'], 0]);
    expect(() => provider.createPod(pod)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
    await expect(provider.close({ gracePeriodSeconds: -1 })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION' });
    await provider.close();
  });

  it('ends a pod with the timers of the machine where its clock sets none', async () => {
    const clock = {
      now: () => 0,
      setTimer: () => {
        throw new Error('no timer');
      },
    };
    const { provider, log, pod, begin } = alone({ clock });
    await begin();
    await provider.deletePod(pod, { gracePeriodSeconds: 0 });
    expect(log).toEqual(['stop', 'kill']);
  });

  it('goes on where what it tells throws', async () => {
    const { provider, log, pod, begin } = alone();
    provider.notifyPods(() => {
      throw new Error('not now');
    });
    await begin();
    await provider.deletePod(pod, { gracePeriodSeconds: 0 });
    expect(log).toEqual(['stop', 'kill']);
  });
});
