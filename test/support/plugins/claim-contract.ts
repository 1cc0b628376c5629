import { createHash } from 'node:crypto';
import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../until.ts';
import { type DriverWorld, driverName } from './driver-world.ts';

/** What a node agent does with PersistentVolumes of a storage driver: the fake one, and csi-driver-host-path. */
export function claimContract(make: () => Promise<DriverWorld>): void {
  const isRunning = (world: DriverWorld, name: string) => until(async () => (await world.phaseOf(name)) === 'Running');
  const areGone = (world: DriverWorld, left = 0) => until(async () => (await world.podFolders()).length === left);
  const uniqueName = (volumeHandle: string): string => `kubernetes.io/csi/${driverName}^${volumeHandle}`;

  /** A driver that is registered, with one volume, whose claim is `disk`. */
  async function worldWithClaim(driverSpec: object = {}, claimSpec: object = {}) {
    const world = await make();
    const agent = await world.startAgent();
    const modes = { volumeLifecycleModes: ['Persistent', 'Ephemeral'], fsGroupPolicy: 'File' };
    await world.createDriverObject({ ...modes, ...driverSpec });
    await world.startPlugins();
    await until(async () => JSON.stringify(await world.drivers()).includes(driverName));
    const handle = await world.driver.createVolume('disk');
    await world.createClaim('disk', handle, claimSpec);
    const hash = createHash('sha256').update(handle).digest('hex');
    const stagePath = join(world.rootDirectory, 'plugins', 'kubernetes.io', 'csi', driverName, hash, 'globalmount');
    return { world, agent, handle, stagePath };
  }

  it('makes a volume ready once for the node, and takes it from the node after its last pod, also after a restart', async () => {
    const { world, agent, handle, stagePath } = await worldWithClaim();
    await using _ = world;
    const one = await world.createPodOf('one', 'disk');
    const two = await world.createPodOf('two', 'disk');
    for (const name of ['one', 'two']) await isRunning(world, name);
    const paths = [one, two].map((podUID) => join(world.volumeFolder(podUID, 'disk'), 'mount'));
    const places = await world.driver.placesOf(handle);
    expect({ ...places, published: [...places.published].sort() }).toEqual({ staged: [stagePath], published: [...paths].sort() });
    const kept = { driverName, volumeHandle: handle };
    expect(JSON.parse(await readFile(join(stagePath, '..', 'vol_data.json'), 'utf8'))).toEqual(kept);
    const ofPod = { ...kept, specVolID: 'disk', nodeName: 'node-1', volumeLifecycleMode: 'Persistent' };
    expect(JSON.parse(await readFile(join(world.volumeFolder(one, 'disk'), 'vol_data.json'), 'utf8'))).toMatchObject(ofPod);
    await world.deletePod('one');
    await areGone(world, 1);
    await agent.stop();
    await world.startAgent();
    await isRunning(world, 'two');
    expect(await world.driver.placesOf(handle)).toEqual({ staged: [stagePath], published: [paths[1]] });
    await world.deletePod('two');
    await areGone(world);
    await until(async () => (await world.driver.placesOf(handle)).staged.length === 0);
    await until(async () => (await world.mounter.mountsBelow(world.rootDirectory)).length === 0);
    await until(() =>
      stat(join(stagePath, '..')).then(
        () => false,
        () => true,
      ),
    );
  });

  it('waits until a volume is attached, says that it is in use first, and keeps saying so until it has left the node', async () => {
    const { world, agent, handle } = await worldWithClaim({ attachRequired: true });
    await using _ = world;
    await world.createPodOf('one', 'disk');
    await until(async () => (await world.volumesInUse()).includes(uniqueName(handle)));
    expect(await world.driver.placesOf(handle)).toEqual({ staged: [], published: [] });
    await world.attach(handle, { device: 'sdx' });
    await isRunning(world, 'one');
    await agent.stop();
    await world.startAgent();
    await isRunning(world, 'one');
    expect(await world.volumesInUse()).toEqual([uniqueName(handle)]);
    world.driver.hang();
    await world.deletePod('one');
    await until(async () => (await world.phaseOf('one')) !== 'Running');
    expect(await world.volumesInUse()).toEqual([uniqueName(handle)]);
    world.driver.goOn();
    await areGone(world);
    await until(async () => (await world.volumesInUse()).length === 0);
    expect(await world.driver.placesOf(handle)).toEqual({ staged: [], published: [] });
  });

  it('lets a volume grow that pods have, and tells the claim', async () => {
    const { world, handle } = await worldWithClaim({}, { accessModes: ['ReadWriteOnce'] });
    await using _ = world;
    const claim = '/api/v1/namespaces/default/persistentvolumeclaims/disk';
    // the volume has grown before the pod comes
    await world.patch('/api/v1/persistentvolumes/disk', { spec: { capacity: { storage: '32Mi' } } });
    const growing = (size: string) => ({
      allocatedResources: { storage: size },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
    });
    await world.patch(`${claim}/status`, { status: growing('32Mi') });
    await world.createPodOf('one', 'disk');
    await isRunning(world, 'one');
    const { status } = await world.request('GET', claim);
    expect(status.capacity.storage).toBe('32Mi');
    expect(status.allocatedResourceStatuses?.storage).toBeUndefined();
    expect(status.conditions ?? []).toEqual([]);
    expect((await world.events()).join()).toContain(
      'FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "disk"',
    );
    expect((await world.driver.placesOf(handle)).published).toHaveLength(1);
  });

  it('takes a volume back whose file is damaged, by what its PersistentVolume says', async () => {
    const { world, handle } = await worldWithClaim();
    await using _ = world;
    const podUID = await world.createPodOf('one', 'disk');
    await isRunning(world, 'one');
    await writeFile(join(world.volumeFolder(podUID, 'disk'), 'vol_data.json'), '{"driverName":"hostp');
    await world.deletePod('one');
    await areGone(world);
    await until(async () => (await world.driver.placesOf(handle)).staged.length === 0);
    expect(await world.driver.placesOf(handle)).toEqual({ staged: [], published: [] });
  });

  it('gives a pod a volume as a block device, and takes it back', async () => {
    const { world, agent } = await worldWithClaim();
    await using _ = world;
    const handle = await world.driver.createVolume('raw', { isBlock: true });
    await world.createClaim('raw', handle, { volumeMode: 'Block' });
    const volumeDevices = [{ name: 'data', devicePath: '/dev/xvda' }];
    const podUID = await world.createPodOf('one', 'raw', { containers: [{ name: 'app', image: 'app:1', volumeDevices }] });
    await isRunning(world, 'one');
    const root = join(world.rootDirectory, 'plugins', 'kubernetes.io', 'csi', 'volumeDevices');
    const places = { staged: [join(root, 'staging', 'raw')], published: [join(root, 'publish', 'raw', podUID)] };
    expect(await world.driver.placesOf(handle)).toEqual(places);
    const link = join(world.rootDirectory, 'pods', podUID, 'volumeDevices', 'kubernetes.io~csi', 'raw');
    expect(await readlink(link)).toBe(places.published[0]);
    const data = { driverName, volumeHandle: handle, specVolID: 'raw', nodeName: 'node-1' };
    expect(JSON.parse(await readFile(join(root, 'raw', 'data', 'vol_data.json'), 'utf8'))).toMatchObject(data);
    await agent.stop();
    await world.startAgent();
    await world.deletePod('one');
    await areGone(world);
    await until(async () => (await world.driver.placesOf(handle)).staged.length === 0);
    await until(() =>
      stat(join(root, 'raw')).then(
        () => false,
        () => true,
      ),
    );
    expect(await world.driver.placesOf(handle)).toEqual({ staged: [], published: [] });
    expect(await world.mounter.mountsBelow(world.rootDirectory)).toEqual([]);
  });

  it('shows a path in a volume to a container, and takes it back with the volume', async () => {
    const { world, handle } = await worldWithClaim();
    await using _ = world;
    const volumeMounts = [{ name: 'data', mountPath: '/data', subPath: 'logs/app' }];
    const podUID = await world.createPodOf('one', 'disk', { containers: [{ name: 'app', image: 'app:1', volumeMounts }] });
    await isRunning(world, 'one');
    const folder = join(world.rootDirectory, 'pods', podUID);
    expect(await world.mounter.mountsBelow(join(folder, 'volume-subpaths'))).toHaveLength(1);
    await world.deletePod('one');
    await areGone(world);
    await until(async () => (await world.driver.placesOf(handle)).staged.length === 0);
    expect(await world.mounter.mountsBelow(world.rootDirectory)).toEqual([]);
  });

  it('gives the files of a volume to the group of the pod', async () => {
    const { world } = await worldWithClaim();
    await using _ = world;
    const podUID = await world.createPodOf('one', 'disk', { securityContext: { fsGroup: 4711 } });
    await isRunning(world, 'one');
    const path = join(world.volumeFolder(podUID, 'disk'), 'mount');
    expect(await world.groupOf(path)).toBe(4711);
  });
}
