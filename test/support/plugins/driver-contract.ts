import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../until.ts';
import { type DriverWorld, driverName } from './driver-world.ts';

/** What a node agent does with a storage driver: the fake one, and csi-driver-host-path. */
export function driverContract(make: () => Promise<DriverWorld>): void {
  const isRegistered = async (world: DriverWorld): Promise<boolean> => JSON.stringify(await world.drivers()).includes(driverName);

  it('is told of on CSINode and Node while its socket is there', async () => {
    await using world = await make();
    await world.startAgent();
    await until(async () => (await world.drivers())?.length === 0);
    const { metadata: before } = await world.request('GET', '/api/v1/nodes/node-1');
    const { metadata } = await world.request('GET', '/apis/storage.k8s.io/v1/csinodes/node-1');
    expect(metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: before.uid }]);
    await world.startPlugins();
    await until(() => isRegistered(world));
    const [key] = ['topology.hostpath.csi/node'];
    expect(await world.drivers()).toEqual([
      { name: driverName, nodeID: 'node-1', topologyKeys: [key], allocatable: { count: 7 } },
    ]);
    const { metadata: node } = await world.request('GET', '/api/v1/nodes/node-1');
    expect(node.labels[key]).toBe('node-1');
    expect(JSON.parse(node.annotations['csi.volume.kubernetes.io/nodeid'])).toEqual({ [driverName]: 'node-1' });
    await world.driver.stopRegistrar();
    await until(async () => (await world.drivers()).length === 0);
    const { metadata: after } = await world.request('GET', '/api/v1/nodes/node-1');
    expect(after.annotations?.['csi.volume.kubernetes.io/nodeid']).toBeUndefined();
    // made anew, it comes back
    await world.driver.startRegistrar();
    await until(() => isRegistered(world));
  });

  it('makes the volume of a pod that has waited for it, and takes it back before anything is removed', async () => {
    await using world = await make();
    const agent = await world.startAgent();
    await world.createDriverObject();
    const podUID = await world.createPod('web');
    await until(async () => (await world.events()).some((event) => event.startsWith('FailedMount')));
    const words = `driver name ${driverName} not found in the list of registered CSI drivers`;
    expect(agent.explain(podUID).problem).toMatchObject({ kind: 'csi-driver', message: expect.stringContaining(words) });
    expect((await world.events()).join()).toContain(words);
    await world.startPlugins();
    await until(async () => (await world.phaseOf('web')) === 'Running');
    const folder = world.volumeFolder(podUID);
    expect(JSON.parse(await readFile(join(folder, 'vol_data.json'), 'utf8'))).toMatchObject({ driverName, specVolID: 'data' });
    expect(await world.mounter.mountsBelow(folder)).toEqual([join(folder, 'mount')]);
    expect(await world.driver.volumeCount()).toBe(1);
    await world.deletePod('web');
    await until(async () => (await world.podFolders()).length === 0);
    expect(await world.mounter.mountsBelow(world.rootDirectory)).toEqual([]);
    expect(await world.driver.volumeCount()).toBe(0);
  });

  it('takes back the volume that an earlier agent has had it make, also of a pod that is gone meanwhile', async () => {
    await using world = await make();
    const first = await world.startAgent();
    await world.createDriverObject();
    await world.startPlugins();
    const [gone, kept] = [await world.createPod('gone'), await world.createPod('kept')];
    for (const name of ['gone', 'kept']) await until(async () => (await world.phaseOf(name)) === 'Running');
    await first.stop();
    await world.request('DELETE', '/api/v1/namespaces/default/pods/gone?gracePeriodSeconds=0', { gracePeriodSeconds: 0 });
    await world.startAgent();
    await until(async () => (await world.podFolders()).length === 1);
    expect(await world.podFolders()).toEqual([kept]);
    expect(await stat(join(world.volumeFolder(kept), 'mount')).then((found) => found.isDirectory())).toBe(true);
    await world.deletePod('kept');
    await until(async () => (await world.podFolders()).length === 0);
    expect([gone, await world.driver.volumeCount(), await world.mounter.mountsBelow(world.rootDirectory)]).toEqual([gone, 0, []]);
  });

  it('keeps the end of its pods waiting while it is gone or hangs, and those of no others', async () => {
    await using world = await make();
    const agent = await world.startAgent();
    await world.createDriverObject();
    await world.startPlugins();
    const podUID = await world.createPod('web');
    await until(async () => (await world.phaseOf('web')) === 'Running');
    await world.driver.stopRegistrar();
    await until(async () => !(await isRegistered(world)));
    await world.deletePod('web');
    await until(() => agent.explain(podUID).problem?.kind === 'csi-driver');
    expect(agent.explain(podUID).problem?.message).toContain(`UnmountVolume.TearDown failed for volume "data"`);
    expect(await world.mounter.mountsBelow(world.volumeFolder(podUID))).toEqual([join(world.volumeFolder(podUID), 'mount')]);
    await world.driver.startRegistrar();
    await until(() => isRegistered(world));
    world.driver.hang();
    const plain = { volumes: [], containers: [{ name: 'app', image: 'app:1' }] };
    await world.createPod('other', plain);
    await until(async () => (await world.phaseOf('other')) === 'Running');
    await world.deletePod('other');
    await until(async () => (await world.podFolders()).length === 1);
    expect(await world.podFolders()).toEqual([podUID]);
    world.driver.goOn();
    await until(async () => (await world.podFolders()).length === 0);
    expect([await world.driver.volumeCount(), await world.mounter.mountsBelow(world.rootDirectory)]).toEqual([0, []]);
  });

  it('that hangs keeps no agent from stopping, and the next one goes on with what it was asked for', async () => {
    await using world = await make();
    const first = await world.startAgent();
    await world.createDriverObject();
    await world.startPlugins();
    await until(() => isRegistered(world));
    const earlier = await world.createPod('earlier');
    await until(async () => (await world.phaseOf('earlier')) === 'Running');
    world.driver.hang();
    const podUID = await world.createPod('web');
    const file = join(world.volumeFolder(podUID), 'vol_data.json');
    await until(() =>
      stat(file).then(
        () => true,
        () => false,
      ),
    );
    await first.stop();
    expect(await world.phaseOf('web')).toBe('Pending');
    world.driver.goOn();
    await world.startAgent();
    await until(async () => (await world.phaseOf('web')) === 'Running');
    expect(await world.mounter.mountsBelow(world.volumeFolder(podUID))).toHaveLength(1);
    expect(await world.mounter.mountsBelow(world.volumeFolder(earlier))).toHaveLength(1);
    for (const name of ['web', 'earlier']) await world.deletePod(name);
    await until(async () => (await world.podFolders()).length === 0);
    expect([await world.driver.volumeCount(), await world.mounter.mountsBelow(world.rootDirectory)]).toEqual([0, []]);
  });
}
