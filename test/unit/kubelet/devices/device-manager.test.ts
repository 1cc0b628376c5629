import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { DeviceWorld, idsOf, podWith, resource, wordsOf } from './device-world.ts';

const refused = (why: string): string => `UnexpectedAdmissionError: Allocate failed due to ${why}, which is unexpected`;

it('gives what an init container had to those after it, and keeps what a restartable one has', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  await world.plugin(manager);
  const pod = podWith('a', { init1: 2, initr: 1, app: 1 });
  expect(wordsOf(await world.admit(manager, pod))).toBe('given');
  const [initr, app] = [idsOf(manager, 'a', 'initr'), idsOf(manager, 'a', 'app')];
  expect(idsOf(manager, 'a', 'init1').toSorted()).toEqual(['Dev-1', 'Dev-2']);
  expect([...initr, ...app].toSorted()).toEqual(['Dev-1', 'Dev-2']);
});

it('takes back what a pod got that cannot have all', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  await world.plugin(manager);
  const answer = await world.admit(manager, podWith('a', { one: 1, two: 2 }));
  const why = `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`;
  expect(wordsOf(answer)).toBe(refused(why));
  expect(manager.devicesOf('a', 'one').size).toBe(0);
  expect(wordsOf(await world.admit(manager, podWith('b', { app: 2 })))).toBe('given');
});

it('gives the devices that the plugin prefers, of those alone that it was asked about', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const devices = ['a', 'b', 'c', 'd'].map((ID) => ({ ID, health: ID === 'c' ? 'Unhealthy' : 'Healthy' }));
  const plugin = await world.plugin(manager, {}, { devices, options: { getPreferredAllocationAvailable: true } });
  plugin.answers.GetPreferredAllocation = () => ({ containerResponses: [{ deviceIDs: ['nobody', 'c', 'd', 'd'] }] });
  expect(wordsOf(await world.admit(manager, podWith('a', { app: 2 })))).toBe('given');
  expect(idsOf(manager, 'a', 'app')).toEqual(['d', 'a']);
  expect(plugin.callsOf('GetPreferredAllocation')[0]?.request.containerRequests[0]).toMatchObject({
    availableDeviceIDs: ['a', 'b', 'd'],
    mustIncludeDeviceIDs: [],
    allocationSize: 2,
  });
  expect(plugin.callsOf('Allocate')[0]?.request.containerRequests[0].devicesIds).toEqual(['d', 'a']);
});

it('asks before each start where the plugin wants that, and gives all that it has said', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager, {}, { options: { preStartRequired: true } });
  const container = {
    envs: { DEVICE: '1' },
    annotations: { 'a.example/b': 'c' },
    devices: [{ containerPath: '/dev/x', hostPath: '/dev/null', permissions: 'rw' }],
    mounts: [{ containerPath: '/lib/x', hostPath: '/usr/lib', readOnly: true }],
    cdiDevices: [{ name: 'a.example/class=x' }],
  };
  plugin.answers.Allocate = () => ({ containerResponses: [container] });
  const pod = podWith('a', { app: 1 });
  expect(wordsOf(await world.admit(manager, pod))).toBe('given');
  const [app] = pod.spec?.containers ?? [];
  if (app === undefined) throw new Error('the pod has no container');
  const { signal } = new AbortController();
  expect(await manager.prepareContainer(pod, app, signal)).toEqual({ ...container, cdiDevices: ['a.example/class=x'] });
  expect(plugin.callsOf('PreStartContainer').map(({ request }) => request.devicesIds)).toEqual([['Dev-1']]);
  plugin.answers.PreStartContainer = () => ({ code: 13, details: 'the device is hot' });
  const words = 'device plugin PreStartContainer rpc failed with err: rpc error: code = Internal desc = the device is hot';
  await expect(manager.prepareContainer(pod, app, signal)).rejects.toThrow(words);
});

it('starts no container while the plugin is gone that wants to be asked before', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager, {}, { options: { preStartRequired: true } });
  const pod = podWith('a', { app: 1 });
  expect(wordsOf(await world.admit(manager, pod))).toBe('given');
  const [app] = pod.spec?.containers ?? [];
  if (app === undefined) throw new Error('the pod has no container');
  const { signal } = new AbortController();
  await plugin.stop();
  await until(async () => {
    await world.clock.advance(1000);
    return manager.counts().allocatable[resource] === '0';
  });
  const words = `device plugin PreStartContainer rpc failed with err: endpoint ${resource} has been stopped`;
  await expect(manager.prepareContainer(pod, app, signal)).rejects.toThrow(words);
  await plugin.start();
  await until(() => manager.counts().allocatable[resource] === '2');
  expect(await manager.prepareContainer(pod, app, signal)).toBeDefined();
  expect(plugin.callsOf('PreStartContainer')).toHaveLength(1);
});

it('tells of a device whose health has changed the pod that has it, and gives it to no other', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 1 }));
  plugin.list([
    { ID: 'Dev-1', health: 'Unhealthy' },
    { ID: 'Dev-2', health: 'Healthy' },
  ]);
  await until(async () => {
    await world.clock.advance(1000);
    return world.changedPods.includes('a');
  });
  expect(manager.counts()).toMatchObject({ capacity: { [resource]: '2' }, allocatable: { [resource]: '1' } });
  expect(manager.resourceStatuses('a', 'app')).toEqual([
    { name: resource, resources: [{ resourceID: 'Dev-1', health: 'Unhealthy' }] },
  ]);
  const short = `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`;
  expect(wordsOf(await world.admit(manager, podWith('b', { app: 2 })))).toBe(refused(short));
});

it('counts a plugin that is gone for five minutes, and then as none', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 2 }));
  await plugin.stop();
  await until(async () => {
    await world.clock.advance(1000);
    return manager.counts().allocatable[resource] === '0';
  });
  expect(manager.counts().capacity[resource]).toBe('2');
  // a pod that has its devices is not refused for that
  expect(manager.allocatableFor('a')[resource]).toBe('2');
  expect(manager.allocatableFor('b')[resource]).toBe('0');
  await world.clock.advance(300_001);
  expect(manager.counts()).toEqual({ capacity: { [resource]: '0' }, allocatable: { [resource]: '0' } });
  expect(manager.plugins.troubles()).toMatchObject([{ resource }]);
});

it('keeps what pods have over a restart, and waits a minute for the plugin where a pod does not run', async () => {
  await using world = await DeviceWorld.make();
  const first = await world.start();
  const plugin = await world.plugin(first);
  for (const uid of ['runs', 'rests']) expect(wordsOf(await world.admit(first, podWith(uid, { app: 1 })))).toBe('given');
  await first.stop();
  await plugin.stop();
  world.sourcesReady = false;
  world.running.add('runs');
  const second = await world.start();
  expect(second.counts().capacity[resource]).toBe('0');
  expect(wordsOf(await world.admit(second, podWith('runs', { app: 1 })))).toBe('given');
  const rests = world.admit(second, podWith('rests', { app: 1 }));
  const late = world.admit(second, podWith('late', { app: 1 }));
  await plugin.start();
  expect(wordsOf(await rests)).toBe('given');
  const none = `requested number of devices unavailable for ${resource}. Requested: 1, Available: 0`;
  expect(wordsOf(await late)).toBe(refused(none));
  expect([...idsOf(second, 'runs', 'app'), ...idsOf(second, 'rests', 'app')]).toEqual(['Dev-1', 'Dev-2']);
  expect(plugin.callsOf('Allocate')).toHaveLength(2);
  await second.stop();
  await plugin.stop();
  const third = await world.start();
  const waits = world.admit(third, podWith('rests', { app: 1 }));
  await until(() => world.clock.pendingTimers > 0);
  await world.clock.advance(60_000);
  expect(wordsOf(await waits)).toBe(refused(`no healthy devices present; cannot allocate unhealthy devices ${resource}`));
});

it('frees the devices of pods that are over, and writes that down', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 2 }));
  world.active.delete('a');
  expect(wordsOf(await world.admit(manager, podWith('b', { app: 2 })))).toBe('given');
  const text = await readFile(join(world.folder, 'kubelet_internal_checkpoint'), 'utf8');
  expect(JSON.parse(text).Data.PodDeviceEntries.map(({ PodUID }: { PodUID: string }) => PodUID)).toEqual(['b']);
});

it('gives no devices while nobody can read what pods have, and writes nothing over it', async () => {
  await using world = await DeviceWorld.make();
  const first = await world.start();
  const plugin = await world.plugin(first);
  await world.admit(first, podWith('a', { app: 1 }));
  await first.stop();
  await plugin.stop();
  const path = join(world.folder, 'kubelet_internal_checkpoint');
  const broken = (await readFile(path, 'utf8')).replace('Dev-1', 'Dev-2');
  await writeFile(path, broken);
  const second = await world.start();
  await world.plugin(second, { name: 'again.sock' });
  const answer = wordsOf(await world.admit(second, podWith('b', { app: 1 })));
  expect(answer).toContain('which says what devices pods have, cannot be read: checkpoint is corrupted');
  expect(second.failing?.message).toContain(path);
  expect(await readFile(path, 'utf8')).toBe(broken);
});

it('has a pod wait for the devices of one that is over and runs still', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 2 }));
  world.active.delete('a');
  world.running.add('a');
  const next = world.admit(manager, podWith('b', { app: 1 }));
  await world.clock.advance(10_000);
  expect(idsOf(manager, 'a', 'app')).toHaveLength(2);
  expect(idsOf(manager, 'b', 'app')).toEqual([]);
  world.running.delete('a');
  await world.clock.advance(1000);
  expect(wordsOf(await next)).toBe('given');
  world.active.delete('b');
  world.running.add('b');
  const late = world.admit(manager, podWith('c', { app: 2 }));
  await world.clock.advance(40_000);
  const why = `requested number of devices unavailable for ${resource}. Requested: 2, Available: 1`;
  expect(wordsOf(await late)).toBe(refused(why));
});
