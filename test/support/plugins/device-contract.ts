import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FakeMounter } from '../../../src/testing.ts';
import { until } from '../until.ts';
import { DriverWorld, noDriver } from './driver-world.ts';

const resource = 'example.com/resource';

/** A device plugin with `Dev-1` and `Dev-2`, a process or something like one. */
export interface DevicePluginProcess extends AsyncDisposable {
  /** Serves, and registers with the agent. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** What pods ask for: so many devices. */
function withDevices(count: number, name = resource): object {
  const limits = { [name]: String(count) };
  return { volumes: [], containers: [{ name: 'app', image: 'app:1', resources: { limits, requests: limits } }] };
}

type World = DriverWorld<typeof noDriver>;

async function resourcesOf(world: World, name = resource): Promise<readonly [string | undefined, string | undefined]> {
  const { status } = await world.request('GET', '/api/v1/nodes/node-1');
  return [status?.capacity?.[name], status?.allocatable?.[name]];
}

async function checkpoint(world: World): Promise<string> {
  return readFile(join(world.rootDirectory, 'device-plugins', 'kubelet_internal_checkpoint'), 'utf8');
}

/** What a node agent does with a device plugin: the fake one, and Kubernetes' sample device plugin. */
export function deviceContract(make: (root: string) => DevicePluginProcess): void {
  const started = async () => {
    const world = await DriverWorld.make(new FakeMounter(), () => noDriver);
    const agent = await world.startAgent();
    const plugin = make(world.rootDirectory);
    await plugin.start();
    await until(async () => (await resourcesOf(world)).join() === '2,2');
    return { world, agent, plugin };
  };

  it('gives each pod devices of its own, and one that there are too few for none', async () => {
    const { world, plugin } = await started();
    await using _ = { [Symbol.asyncDispose]: () => plugin[Symbol.asyncDispose]() };
    await using __ = world;
    const uids = [await world.createPod('one', withDevices(1)), await world.createPod('two', withDevices(1))];
    for (const name of ['one', 'two']) await until(async () => (await world.phaseOf(name)) === 'Running');
    const { Data } = JSON.parse(await checkpoint(world));
    expect(Data.RegisteredDevices).toEqual({ [resource]: ['Dev-1', 'Dev-2'] });
    const given = Data.PodDeviceEntries.map(({ PodUID, ContainerName, DeviceIDs }: never) => ({
      PodUID,
      ContainerName,
      DeviceIDs,
    }));
    expect(given).toEqual([
      { PodUID: uids[0], ContainerName: 'app', DeviceIDs: { '-1': ['Dev-1'] } },
      { PodUID: uids[1], ContainerName: 'app', DeviceIDs: { '-1': ['Dev-2'] } },
    ]);
    const { status } = await world.request('GET', '/api/v1/namespaces/default/pods/two');
    expect(status.containerStatuses[0].allocatedResourcesStatus).toEqual([
      { name: resource, resources: [{ resourceID: 'Dev-2', health: 'Healthy' }] },
    ]);
    await world.createPod('three', withDevices(1));
    await until(async () => (await world.phaseOf('three')) === 'Failed');
    const { status: refused } = await world.request('GET', '/api/v1/namespaces/default/pods/three');
    const words = `Allocate failed due to requested number of devices unavailable for ${resource}. Requested: 1, Available: 0`;
    expect([refused.reason, refused.message]).toEqual([
      'UnexpectedAdmissionError',
      `Pod was rejected: ${words}, which is unexpected`,
    ]);
    await world.deletePod('one');
    await until(async () => (await world.phaseOf('one')) === undefined);
    await world.createPod('four', withDevices(1));
    await until(async () => (await world.phaseOf('four')) === 'Running');
  });

  it('shows its mounts in the container', async () => {
    const { world, plugin } = await started();
    await using _ = { [Symbol.asyncDispose]: () => plugin[Symbol.asyncDispose]() };
    await using __ = world;
    const podUID = await world.createPod('one', withDevices(2));
    await until(async () => (await world.phaseOf('one')) === 'Running');
    const [{ id } = { id: '' }] = await world.runtime.listContainers({ podUID });
    const { mounts } = await world.runtime.containerStatus(id);
    expect(mounts.filter(({ containerPath }) => containerPath.startsWith('/tmp/Dev'))).toMatchObject(
      ['/tmp/Dev-1', '/tmp/Dev-2'].map((path) => ({ containerPath: path, hostPath: path, readonly: false })),
    );
  });

  it('that is gone leaves pods alone, and gives none of its devices to others', async () => {
    const { world, agent, plugin } = await started();
    await using _ = { [Symbol.asyncDispose]: () => plugin[Symbol.asyncDispose]() };
    await using __ = world;
    await world.createPod('one', withDevices(1));
    await until(async () => (await world.phaseOf('one')) === 'Running');
    await plugin.stop();
    await until(async () => (await resourcesOf(world)).join() === '2,0');
    expect(agent.snapshot().problems.map(({ kind }) => kind)).toContain('device-plugin');
    await world.createPod('two', withDevices(1));
    await until(async () => (await world.phaseOf('two')) === 'Failed');
    const { status } = await world.request('GET', '/api/v1/namespaces/default/pods/two');
    expect(status.message).toContain(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
    expect(await world.phaseOf('one')).toBe('Running');
    // a new agent knows what the pod has, without the plugin
    const before = JSON.parse(await checkpoint(world)).Data.PodDeviceEntries;
    await agent.stop();
    await world.startAgent();
    await until(async () => (await resourcesOf(world)).join() === '0,0');
    expect(await world.phaseOf('one')).toBe('Running');
    expect(JSON.parse(await checkpoint(world)).Data.PodDeviceEntries).toEqual(before);
  });
}
