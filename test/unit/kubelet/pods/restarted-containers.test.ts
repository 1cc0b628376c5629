import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Pod, WireContainerStatus, WirePodStatus } from '../../../../src/api/json/types.ts';
import { checkContainerStateTransition } from '../../../../src/status/rules/container-state-transition.ts';
import type { LifeRequest } from '../../../../src/testing/runtime/fake-container.ts';
import { NodeWorld } from '../agent/node-world.ts';
import { container, podOf, SyncerWorld, testConfigs } from './syncer-world.ts';

const slowPull = (pullMs: number) => (image: string) => (image === 'app:2' ? { pullMs } : {});

/** What a status manager would refuse of the statuses that were told one after another. */
function refusals(told: readonly WirePodStatus[], { spec }: Pod): (string | undefined)[] {
  const pairs = told.slice(1).map((status, index) => checkContainerStateTransition(told[index] ?? {}, status, spec)?.detail);
  return pairs.filter((detail) => detail !== undefined);
}

/** The different statuses of the container that were told, in order. */
function toldOf(told: readonly WirePodStatus[], name: string): WireContainerStatus[] {
  const all = told.flatMap(({ containerStatuses = [] }) => containerStatuses.filter((each) => each.name === name));
  return all.filter((one, index) => index === 0 || !isDeepStrictEqual(one, all[index - 1]));
}

describe('a container whose image has changed', () => {
  it.each(['Never', 'OnFailure', 'Always'])('waits until it runs again, in a pod that restarts %s', async (restartPolicy) => {
    await using world = new SyncerWorld({ registry: slowPull(5000) });
    const before = podOf({ restartPolicy, containers: [container('app'), container('web')] });
    const after = podOf({ restartPolicy, containers: [container('app', { image: 'app:2' }), container('web')] });
    await world.sync(before);
    await world.sync(after);
    expect(refusals(world.told, after)).toEqual([]);
    const [first, meanwhile, last, ...more] = toldOf(world.told, 'app');
    const end = { terminated: expect.objectContaining({ exitCode: 0, containerID: first?.containerID }) };
    expect(first).toMatchObject({ state: { running: {} }, ready: true, restartCount: 0 });
    const waiting = { reason: 'ContainerCreating' };
    expect(meanwhile).toMatchObject({ state: { waiting }, lastState: end, ready: false, restartCount: 0 });
    expect(last).toMatchObject({ state: { running: {} }, lastState: end, ready: true, restartCount: 1 });
    expect(more).toEqual([]);
    expect(world.told.map(({ phase }) => phase)).not.toContain('Pending');
  });

  it('that is the only one of a pod that is never restarted does not end the pod', async () => {
    await using world = new SyncerWorld({ registry: slowPull(5000) });
    const after = podOf({ restartPolicy: 'Never', containers: [container('app', { image: 'app:2' })] });
    await world.sync(podOf({ restartPolicy: 'Never', containers: [container('app')] }));
    expect(await world.sync(after)).toEqual({ isTerminal: false, isStatusKnown: true });
    expect(world.told.map(({ phase }) => phase)).toEqual(world.told.map(() => 'Running'));
    expect(refusals(world.told, after)).toEqual([]);
  });

  it('says why it waits where its new image cannot be had, and has ended for good once the sync is over', async () => {
    const registry = (image: string) => (image === 'app:2' ? undefined : { pullMs: image === 'web:2' ? 5000 : 0 });
    await using world = new SyncerWorld({ registry });
    const changed = [container('app', { image: 'app:2' }), container('web', { image: 'web:2' }), container('other')];
    const after = podOf({ restartPolicy: 'Never', containers: changed });
    await world.sync(podOf({ restartPolicy: 'Never', containers: [container('app'), container('web'), container('other')] }));
    await expect(world.sync(after)).rejects.toThrow('ErrImagePull');
    expect(refusals(world.told, after)).toEqual([]);
    const [, meanwhile, last] = toldOf(world.told, 'app');
    expect(meanwhile?.state?.waiting?.reason).toBe('ErrImagePull');
    expect(last?.state).toMatchObject({ terminated: { exitCode: 0 } });
    await world.sync(after);
    expect(world.happened().filter((one) => one.includes('app'))).toEqual(['started app#0', 'stopped app#0']);
    expect(refusals(world.told, after)).toEqual([]);
  });

  it('tells of its new run as it is, also where that ends while others are still started', async () => {
    const lives = ({ attempt }: { attempt: number }) => (attempt === 1 ? { runsMs: 100, exitCode: 3 } : {});
    await using world = new SyncerWorld({ lives, registry: (image) => (image === 'web:2' ? { pullMs: 5000 } : {}) });
    const changed = [container('app', { image: 'app:2' }), container('web', { image: 'web:2' }), container('other')];
    const after = podOf({ restartPolicy: 'Never', containers: changed });
    await world.sync(podOf({ restartPolicy: 'Never', containers: [container('app'), container('web'), container('other')] }));
    await world.sync(after);
    expect(refusals(world.told, after)).toEqual([]);
    const [, second] = toldOf(world.told, 'app');
    expect(second).toMatchObject({ state: { terminated: { exitCode: 3 } }, lastState: { terminated: { exitCode: 0 } } });
    expect(toldOf(world.told, 'web').map(({ state }) => Object.keys(state ?? {})[0])).toEqual(['running', 'waiting', 'running']);
  });

  it('is as the server has it, and as it runs, once it runs again', async () => {
    await using world = await NodeWorld.make({ registry: slowPull(20_000), lives: () => ({ stopTakesMs: 3000 }) });
    const web = { name: 'web', image: 'web:1', imagePullPolicy: 'IfNotPresent' };
    world.create('pair', { restartPolicy: 'Never', containers: [{ ...web, name: 'app' }, web] });
    let drawn = 0;
    // each run has a file with a drawn name
    const agent = world.agent({ random: () => (drawn += 0.001) });
    await world.through(agent.start());
    await world.pass(5000);
    const app = () => world.pod('pair')?.status?.containerStatuses?.[0];
    world.changeImage('pair', 'app:2');
    await world.pass(15_000);
    expect(app()).toMatchObject({ state: { waiting: { reason: 'ContainerCreating' } }, ready: false });
    await world.pass(20_000);
    expect(app()).toMatchObject({ state: { running: {} }, ready: true, restartCount: 1 });
    await world.through(agent.stop());
    expect(world.warnings).toEqual([]);
  });

  it('has ended for good where the agent went between its end and its new start', async () => {
    await using world = await NodeWorld.make({ registry: slowPull(3_600_000) });
    const web = { name: 'web', image: 'web:1', imagePullPolicy: 'IfNotPresent' };
    world.create('pair', { restartPolicy: 'Never', containers: [{ ...web, name: 'app' }, web] });
    const first = world.agent();
    await world.through(first.start());
    await world.pass(5000);
    world.changeImage('pair', 'app:2');
    await world.pass(15_000);
    await world.through(first.stop());
    const second = world.agent();
    await world.through(second.start());
    await world.pass(5000);
    const [app] = world.pod('pair')?.status?.containerStatuses ?? [];
    expect(app).toMatchObject({ state: { terminated: { exitCode: 0 } }, restartCount: 0 });
    expect(world.pod('pair')?.status?.phase).toBe('Running');
    await world.through(second.stop());
    expect(world.warnings).toEqual([]);
  });
});

describe('a container that is ended so that it starts again', () => {
  it('after its liveness probe failed waits, also where it ends with exit code 0 in a pod that restarts on failure', async () => {
    await using world = new SyncerWorld({ lives: ({ attempt }) => ({ startTakesMs: attempt * 3000 }) });
    const livenessProbe = { exec: { command: ['alive'] } };
    const containers = [container('app', { livenessProbe }), container('web')];
    const pod = podOf({ restartPolicy: 'OnFailure', containers });
    await world.sync(pod);
    world.probeResults.set(`liveness ${toldOf(world.told, 'app')[0]?.containerID}`, 'Failure');
    await world.sync(pod);
    expect(refusals(world.told, pod)).toEqual([]);
    expect(toldOf(world.told, 'app').map(({ state }) => Object.keys(state ?? {})[0])).toEqual(['running', 'waiting', 'running']);
  });

  it('with its sandbox waits as well', async () => {
    const lives = ({ config, attempt }: LifeRequest) => ({
      startTakesMs: attempt * 3000,
      exitCode: config.metadata.name === 'web' ? 1 : 0,
    });
    await using world = new SyncerWorld({ lives });
    const pod = podOf({ restartPolicy: 'OnFailure', containers: [container('app'), container('web')] });
    await world.sync(pod);
    // of two sandboxes that are ready neither is used on
    const second = await testConfigs.sandboxConfig({ pod, attempt: 1, runtimeHandler: '' }, world.signal);
    await world.runtime.runPodSandbox(second, '');
    await world.sync(pod);
    expect(refusals(world.told, pod)).toEqual([]);
    expect(toldOf(world.told, 'app').map(({ state }) => Object.keys(state ?? {})[0])).toEqual(['running', 'waiting', 'running']);
  });
});
