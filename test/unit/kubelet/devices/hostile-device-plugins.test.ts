import { expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { DeviceWorld, idsOf, podWith, resource, wordsOf } from './device-world.ts';

const other = 'other.example/thing';

it('a plugin that hangs keeps nobody waiting but the pods that want its devices, for a minute', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  await world.plugin(manager, { resource: other, name: 'other.sock' });
  plugin.answers.Allocate = () => 'nothing';
  const asked = manager.admit(podWith('a', { app: 1 }));
  expect(asked).toMatchObject({ state: 'asked', message: `the device plugin of ${resource} has not given its devices yet` });
  const second = manager.admit(podWith('b', { app: 1 }));
  await until(() => plugin.callsOf('Allocate').length === 1);
  expect(wordsOf(await world.admit(manager, podWith('c', { app: 1 }, {}, other)))).toBe('given');
  expect(manager.admit(podWith('plain', {}))).toEqual({ state: 'given' });
  // a pod that is gone asks for nothing any more, and the next one has its turn
  manager.free(new Set(['b']));
  await until(() => plugin.callsOf('Allocate').length === 2);
  expect(second.state).toBe('asked');
  await manager.stop();
});

it('a plugin that fails, or crashes, within Allocate has given nothing', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  plugin.answers.Allocate = () => ({ code: 13, details: 'no firmware' });
  const failed = wordsOf(await world.admit(manager, podWith('a', { app: 1 })));
  expect(failed).toContain('Allocate failed due to rpc error: code = Internal desc = no firmware, which is unexpected');
  plugin.answers.Allocate = () => {
    void plugin.stop();
    return 'nothing';
  };
  const crashed = wordsOf(await world.admit(manager, podWith('b', { app: 1 })));
  expect(crashed).toContain('Allocate failed due to rpc error: code = ');
  plugin.answers.Allocate = () => ({ containerResponses: [] });
  await plugin.start();
  await until(() => manager.counts().allocatable[resource] === '2');
  const empty = wordsOf(await world.admit(manager, podWith('c', { app: 1 })));
  expect(empty).toContain('no containers return in allocation response');
  delete plugin.answers.Allocate;
  expect(wordsOf(await world.admit(manager, podWith('d', { app: 2 })))).toBe('given');
});

it('a plugin cannot make a container larger than Linux could start it', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  plugin.answers.Allocate = () => ({ containerResponses: [{ envs: { BIG: 'x'.repeat(66_000) } }] });
  const words = wordsOf(await world.admit(manager, podWith('a', { app: 1 })));
  expect(words).toContain('the device plugin answered with 66005 bytes for one container, and 65536 are the most');
});

it.each([
  [
    '100,000 devices',
    () => Array.from({ length: 100_000 }, (_, index) => ({ ID: `${index}`, health: 'Healthy' })),
    'the plugin lists 100000 devices',
  ],
  ['an id of 16 MiB', () => [{ ID: 'x'.repeat(16 * 1024 * 1024), health: 'Healthy' }], 'code = ResourceExhausted'],
  [
    'an id of 300 characters',
    () => [{ ID: 'x'.repeat(300), health: 'Healthy' }],
    'whose id has 300 characters, and 256 are the most',
  ],
  ['a device without an id', () => [{ ID: '', health: 'Healthy' }], 'a device without an id'],
])('a plugin that lists %s is gone, and the node says so', async (_name, devices, words) => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 1 }));
  plugin.list(devices());
  await until(async () => {
    await world.clock.advance(1000);
    return manager.plugins.troubles().length > 0;
  });
  expect(manager.plugins.troubles()[0]?.message).toContain(words);
  expect(manager.counts()).toEqual({ capacity: { [resource]: '2' }, allocatable: { [resource]: '0' } });
  expect(idsOf(manager, 'a', 'app')).toEqual(['Dev-1']);
  expect(world.logs.join('\n').length).toBeLessThan(20_000);
});

it('who registers last has the resource, and what pods have of it stays theirs', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const first = await world.plugin(manager);
  await world.admit(manager, podWith('a', { app: 1 }));
  const devices = [
    { ID: 'Dev-1', health: 'Healthy' },
    { ID: 'Mine', health: 'Healthy' },
    { ID: 'Mine-2', health: 'Healthy' },
  ];
  await world.plugin(manager, { name: 'second.sock' }, { devices });
  // the end of the first one is not that of the second
  await first.stop();
  expect(wordsOf(await world.admit(manager, podWith('b', { app: 2 })))).toBe('given');
  expect(idsOf(manager, 'b', 'app')).toEqual(['Mine', 'Mine-2']);
  expect(manager.plugins.troubles()).toEqual([]);
});

it.each([
  [{ version: 'v1' }, 'requested API version "v1" is not supported by kubelet. Supported version is ["v1beta1"]'],
  [{ resourceName: 'cpu' }, 'the ResourceName "cpu" is invalid'],
  [{ resourceName: 'a.example/b c' }, 'the ResourceName "a.example/b c" is invalid'],
  [{ resourceName: 'x.kubernetes.io/y' }, 'the ResourceName "x.kubernetes.io/y" is invalid'],
  [{ endpoint: '../../evil.sock' }, 'the endpoint "../../evil.sock" is no name of a socket'],
  [{ endpoint: '' }, 'the endpoint "" is no name of a socket'],
])('a plugin that registers with %j is told why not', async (request, words) => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  await expect(plugin.register(request)).rejects.toThrow(words);
  expect(Object.keys(manager.counts().capacity)).toEqual([resource]);
});

it('a plugin that is not at its socket is told so, and keeps no name from another one', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  const absent = plugin.register({ endpoint: 'absent.sock' });
  await expect(absent).rejects.toThrow('failed to get device plugin options: rpc error: code = Unavailable');
  expect(manager.counts().allocatable[resource]).toBe('2');
});

it('a plugin that comes back while a pod starts gives it its devices', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  plugin.answers.Allocate = () => 'nothing';
  const answer = world.admit(manager, podWith('a', { app: 1 }));
  await until(() => plugin.callsOf('Allocate').length === 1);
  delete plugin.answers.Allocate;
  await plugin.stop();
  await plugin.start();
  expect(wordsOf(await answer)).toContain('Allocate failed due to rpc error: code = ');
  await until(() => manager.counts().allocatable[resource] === '2');
  expect(wordsOf(await world.admit(manager, podWith('b', { app: 2 })))).toBe('given');
});

it('plugins that register and say nothing are few at once, cost ten seconds each, and keep no agent from stopping', async () => {
  await using world = await DeviceWorld.make();
  const manager = await world.start();
  const plugin = await world.plugin(manager);
  plugin.answers.GetDevicePluginOptions = () => 'nothing';
  const registrations = Array.from({ length: 17 }, (_, index) =>
    plugin.register({ resourceName: `silent.example/r${index}` }).catch((error: Error) => error.message),
  );
  expect(await Promise.race(registrations)).toContain('16 device plugins register already; try again');
  await until(() => plugin.callsOf('GetDevicePluginOptions').length === 17);
  await manager.stop();
  expect(await Promise.all(registrations)).toHaveLength(17);
  expect(Object.keys(manager.counts().capacity)).toEqual([resource]);
});
