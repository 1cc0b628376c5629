import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PersistentVolumeRequest } from '../../../../src/kubelet/claims/persistent-volume-kind.ts';
import { until } from '../../../support/until.ts';
import { never } from '../volumes/volumes-world.ts';
import { asDevice, podOf, setUp, wordsOf } from './claims-world.ts';

type World = Awaited<ReturnType<typeof setUp>>;

const unable = (text: string): string =>
  `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: ${text}`;
const processing = (text: string): string => unable(`error processing PVC shop/disk: ${text}`);

describe('A claim', () => {
  it('is mounted once it is bound, again by nobody, and taken back with its data untouched', async () => {
    const { manager, mounter, disk, folder, podFolder } = await setUp();
    await writeFile(join(disk, 'file'), 'kept');
    const mounted = await manager.mountVolumes(podOf(), never);
    await manager.mountVolumes(podOf(), never);
    const shared = { readonly: false, selinuxRelabel: true };
    expect(mounted.get('data')).toEqual({ name: 'data', type: 'persistentVolumeClaim', hostPath: folder, ...shared });
    expect(mounter.mounts.map(({ source, target }) => [source, target])).toEqual([[disk, folder]]);
    await manager.unmountVolumes('u1');
    expect(mounter.mounts).toEqual([]);
    expect(await readdir(disk)).toEqual(['file']);
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('of a hostPath is the path, with what the pod says of writing', async () => {
    const { manager, bind, disk } = await setUp();
    bind('disk', 'pv-1', { hostPath: { path: disk, type: 'Directory' } });
    const volume = { persistentVolumeClaim: { claimName: 'disk', readOnly: true } };
    const mounted = await manager.mountVolumes(podOf({}, {}, volume), never);
    expect(mounted.get('data')).toMatchObject({ hostPath: disk, readonly: true, selinuxRelabel: false });
  });

  const refusals: readonly [string, (world: World) => void, string][] = [
    ['is not there', ({ objects }) => objects.clear(), processing('failed to fetch PVC from API server: disk not found')],
    [
      'is being deleted',
      ({ claim }) => Object.assign(claim().metadata, { deletionTimestamp: 'now' }),
      processing('PVC is being deleted'),
    ],
    ['is not bound', ({ claim }) => Object.assign(claim().status, { phase: 'Pending' }), processing('PVC is not bound')],
    [
      'names no volume',
      ({ claim }) => Object.assign(claim().spec, { volumeName: '' }),
      processing('PVC has empty pvc.Spec.VolumeName'),
    ],
    [
      'names a volume that is not there',
      ({ claim }) => Object.assign(claim().spec, { volumeName: 'pv-2' }),
      processing('failed to fetch PV pv-2 from API server: pv-2 not found'),
    ],
    [
      'names a volume that is bound to nothing',
      ({ persistentVolume }) => delete persistentVolume().spec.claimRef,
      processing('found PV object pv-1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim'),
    ],
    [
      'names a volume that is bound to an earlier claim',
      ({ persistentVolume }) => Object.assign(persistentVolume().spec.claimRef, { uid: 'older' }),
      processing('found PV object pv-1 but its pv.Spec.ClaimRef.UID older does not point to claim.UID uid-of-disk'),
    ],
    [
      'is a device, and the pod mounts it',
      ({ persistentVolume }) => Object.assign(persistentVolume().spec, { volumeMode: 'Block' }),
      unable('volume data has volumeMode Block, but is specified in volumeMounts'),
    ],
    [
      'is on another node',
      ({ persistentVolume }) => {
        const matchExpressions = [{ key: 'zone', operator: 'In', values: ['b'] }];
        persistentVolume().spec.nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
      },
      'MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms',
    ],
    [
      'has mount options that its kind does not take',
      ({ bind, disk }) => bind('disk', 'pv-1', { hostPath: { path: disk } }, { mountOptions: ['noatime'] }),
      'MountVolume.MountOptionSupport check failed for volume "pv-1" : mount options are not supported for this volume type',
    ],
    [
      'is of a kind that nobody knows',
      ({ bind }) => bind('disk', 'pv-1', { iscsi: {} }),
      'MountVolume.FindPluginBySpec failed for volume "pv-1" : persistent volumes of iscsi are not supported by this agent',
    ],
    [
      'is of a driver, without plugins',
      ({ bind }) => bind('disk', 'pv-1', { csi: { driver: 'disk.example.com' } }),
      'MountVolume.FindPluginBySpec failed for volume "pv-1" : persistent volumes of csi are not supported by this agent: ' +
        'it speaks with no plugins (the option plugins)',
    ],
  ];
  it.each(refusals)('that %s is refused', async (_, change, words) => {
    const world = await setUp();
    change(world);
    expect(await wordsOf(world.manager.mountVolumes(podOf(), never))).toBe(words);
    expect(world.mounter.mounts).toEqual([]);
  });

  it('that is being deleted goes on to be used while it is protected', async () => {
    const { manager, claim, mounter } = await setUp();
    Object.assign(claim().metadata, { deletionTimestamp: 'now', finalizers: ['kubernetes.io/pvc-protection'] });
    await manager.mountVolumes(podOf(), never);
    expect(mounter.mounts).toHaveLength(1);
  });

  it('that is a file system is no device, also for a pod that uses it as both', async () => {
    const { manager } = await setUp();
    const words = unable('volume data has volumeMode Filesystem, but is specified in volumeDevices');
    expect(await wordsOf(manager.mountVolumes(podOf(asDevice), never))).toBe(words);
    const [container] = asDevice.containers;
    const both = { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/data' }] }] };
    expect(await wordsOf(manager.mountVolumes(podOf(both), never))).toBe(words);
  });

  it('is asked for again at once where the server has not learnt yet that the node may read it', async () => {
    const { manager, state, clock, mounter } = await setUp();
    state.forbidden = 3;
    let isMounted = false;
    const mounting = manager.mountVolumes(podOf(), never).then(() => {
      isMounted = true;
    });
    await until(async () => {
      await clock.advance(50);
      return isMounted;
    });
    await mounting;
    expect(mounter.mounts).toHaveLength(1);
  });

  it('stays mounted when it can be read no more', async () => {
    const { manager, state, clock, asked, mounter } = await setUp();
    await manager.mountVolumes(podOf(), never);
    state.isAway = true;
    await manager.mountVolumes(podOf(), never);
    expect(asked).toHaveLength(2);
    await clock.advance(10_000);
    expect((await manager.mountVolumes(podOf(), never)).has('data')).toBe(true);
    expect(asked).toHaveLength(3);
    expect(mounter.mounts).toHaveLength(1);
  });

  it('stays mounted when the labels of the node change, which keep only other pods from it', async () => {
    const { manager, state, clock, persistentVolume, mounter } = await setUp();
    const matchExpressions = [{ key: 'zone', operator: 'In', values: ['a'] }];
    persistentVolume().spec.nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions }] } };
    await manager.mountVolumes(podOf(), never);
    state.labels = { zone: 'b' };
    await clock.advance(10_000);
    expect((await manager.mountVolumes(podOf(), never)).has('data')).toBe(true);
    const refused = await wordsOf(manager.mountVolumes(podOf({}, { name: 'other', uid: 'u2' }), never));
    expect(refused).toBe('MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms');
    expect(mounter.mounts).toHaveLength(1);
  });

  it('that is made anew under its name brings a pod no other volume', async () => {
    const { manager, bind, clock, disk, folder, mounter, persistentVolume } = await setUp();
    await manager.mountVolumes(podOf(), never);
    await mkdir(`${disk}-2`);
    bind('disk', 'pv-2', { local: { path: `${disk}-2` } });
    await clock.advance(10_000);
    expect((await manager.mountVolumes(podOf(), never)).get('data')).toMatchObject({ hostPath: folder });
    bind('disk', 'pv-1', { hostPath: { path: `${disk}-2` } });
    persistentVolume().metadata.uid = 'another';
    await clock.advance(10_000);
    expect((await manager.mountVolumes(podOf(), never)).get('data')).toMatchObject({ hostPath: folder });
    expect(mounter.mounts).toHaveLength(1);
  });

  it('may be used by two volumes of a pod', async () => {
    const { manager, mounter } = await setUp();
    const pod = podOf();
    const [first] = pod.spec?.volumes ?? [];
    const [container] = pod.spec?.containers ?? [];
    if (first === undefined || container === undefined) throw new Error('it has one of each');
    pod.spec?.volumes?.push({ ...first, name: 'again' });
    container.volumeMounts?.push({ name: 'again', mountPath: '/again' });
    expect((await manager.mountVolumes(pod, never)).size).toBe(2);
    expect(mounter.mounts).toHaveLength(1);
  });
});

describe('An ephemeral volume', () => {
  const ephemeral = { ephemeral: { volumeClaimTemplate: { spec: {} } } };

  it('is the claim that was made for the pod', async () => {
    const { manager, bind, disk, objects, folder } = await setUp();
    bind('web-data', 'pv-1', { local: { path: disk } });
    const { metadata } = objects.get('/api/v1/namespaces/shop/persistentvolumeclaims/web-data');
    const other = 'PVC shop/web-data was not created for pod shop/web (pod is not owner)';
    expect(await wordsOf(manager.mountVolumes(podOf({}, {}, ephemeral), never))).toBe(unable(other));
    metadata.ownerReferences = [{ uid: 'u1', controller: false }];
    expect(await wordsOf(manager.mountVolumes(podOf({}, {}, ephemeral), never))).toBe(unable(other));
    metadata.ownerReferences = [{ uid: 'u1', controller: true }];
    const mounted = await manager.mountVolumes(podOf({}, {}, ephemeral), never);
    expect(mounted.get('data')).toMatchObject({ hostPath: folder });
  });
});

describe('A volume for one pod at a time', () => {
  const inUse =
    'MountVolume.SetUp failed for volume "pv-1" : volume uses the ReadWriteOncePod access mode and is already in use by another pod';
  const another = podOf({}, { name: 'other', uid: 'u2' });

  it('goes to another pod once the first one has given it back, also after a restart', async () => {
    const { persistentVolume, newManager, manager } = await setUp();
    persistentVolume().spec.accessModes = ['ReadWriteOncePod'];
    await manager.mountVolumes(podOf(), never);
    await manager.mountVolumes(podOf(), never);
    expect(await wordsOf(manager.mountVolumes(another, never))).toBe(inUse);
    const restarted = newManager();
    expect(await wordsOf(restarted.mountVolumes(another, never))).toBe(inUse);
    await restarted.unmountVolumes('u1');
    expect((await restarted.mountVolumes(another, never)).size).toBe(1);
  });

  it('is taken by the pod that comes first', async () => {
    const { bind, disk, manager } = await setUp();
    bind('disk', 'pv-1', { hostPath: { path: disk } }, { accessModes: ['ReadWriteOncePod'] });
    const both = await Promise.allSettled([manager.mountVolumes(podOf(), never), manager.mountVolumes(another, never)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('A volume for one pod at a time that is mounted', () => {
  const another = podOf({}, { name: 'other', uid: 'u2' });

  it('stays with its pod after a restart, also while another pod asks for it', async () => {
    const { bind, newManager, manager } = await setUp();
    await manager.mountVolumes(podOf(), never);
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const mounted = { name: 'data', type: 'persistentVolumeClaim', hostPath: '/x', readonly: false, selinuxRelabel: false };
    const kind = {
      ...{ takesMountOptions: true, takesBlock: false, mount: async () => mounted, unmount: async () => {} },
      async volumesOnDisk({ volumesFolder }: { readonly volumesFolder: string }) {
        looks += 1;
        if (looks === 1) await looked.promise;
        return volumesFolder.includes('/u1/') ? ['pv-1'] : [];
      },
    };
    bind('disk', 'pv-1', { nfs: {} }, { accessModes: ['ReadWriteOncePod'] });
    const restarted = newManager([['nfs', kind]]);
    const refused = wordsOf(restarted.mountVolumes(another, never));
    await until(() => looks === 1);
    expect((await restarted.mountVolumes(podOf(), never)).size).toBe(1);
    looked.resolve();
    expect(await refused).toMatch(/already in use by another pod$/);
  });

  it('is no volume of a driver with the same name in the spec of another pod, and is kept by none', async () => {
    const { persistentVolume, manager, rootDirectory } = await setUp();
    persistentVolume().spec.accessModes = ['ReadWriteOncePod'];
    const ofDriver = (podUID: string): string => join(rootDirectory, 'pods', podUID, 'volumes', 'kubernetes.io~csi', 'pv-1');
    await mkdir(ofDriver('u9'), { recursive: true });
    expect((await manager.mountVolumes(podOf(), never)).size).toBe(1);
    await mkdir(ofDriver('u1'), { recursive: true });
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(/not taken back: pv-1/);
    expect((await manager.mountVolumes(another, never)).size).toBe(1);
  });
});

describe('A kind of persistent volumes', () => {
  it('is told what the claim and its volume say', async () => {
    const { newManager, bind, persistentVolume, claim } = await setUp();
    const requests: PersistentVolumeRequest[] = [];
    const kind = {
      takesMountOptions: true,
      takesBlock: true,
      async mount(request: PersistentVolumeRequest) {
        requests.push(request);
        return {
          name: 'data',
          type: 'persistentVolumeClaim',
          hostPath: '',
          devicePath: '/dev/x',
          readonly: false,
          selinuxRelabel: false,
        };
      },
      async unmount() {},
      volumesOnDisk: async () => [],
    };
    bind('disk', 'pv-1', { csi: { driver: 'd' } }, { volumeMode: 'Block', mountOptions: ['b', 'a', 'b', ''] });
    const annotations = { 'volume.kubernetes.io/note': 'kept', 'volume.kubernetes.io/long': 'x'.repeat(1025), note: 'left out' };
    Object.assign(claim().metadata, { managedFields: [{}], labels: { app: 'web' }, annotations });
    Object.assign(claim().spec, { selector: { matchLabels: {} }, resources: { requests: { storage: '1Gi' } } });
    await newManager([['csi', kind]]).mountVolumes(podOf(asDevice), never);
    persistentVolume().metadata.annotations = { 'volume.beta.kubernetes.io/mount-options': 'ro,hard' };
    await newManager([['csi', kind]]).mountVolumes(podOf(asDevice), never);
    const many = Array.from({ length: 40 }, (_, index) => [`volume.kubernetes.io/${index}`, '']);
    claim().metadata.annotations = Object.fromEntries(many);
    await newManager([['csi', kind]]).mountVolumes(podOf(asDevice), never);
    expect(Object.keys(requests[2]?.claim.metadata?.annotations ?? {})).toHaveLength(16);
    expect(requests.slice(0, 2).map(({ isBlock, mountOptions }) => ({ isBlock, mountOptions }))).toEqual([
      { isBlock: true, mountOptions: ['a', 'b'] },
      { isBlock: true, mountOptions: ['hard', 'ro'] },
    ]);
    // what its author may make as large as he likes is not kept
    expect(requests[0]?.claim).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'disk',
        namespace: 'shop',
        uid: 'uid-of-disk',
        resourceVersion: '1',
        annotations: { 'volume.kubernetes.io/note': 'kept' },
      },
      spec: { volumeName: 'pv-1', resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound' },
    });
  });
});

describe('A folder of a volume that nobody takes back', () => {
  it('is not deleted, and neither is anything else of the pod', async () => {
    const { manager, folderOf } = await setUp();
    const file = join(folderOf('iscsi', 'pv-9'), 'data');
    await mkdir(folderOf('iscsi', 'pv-9'), { recursive: true });
    await writeFile(file, 'kept');
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(/volumes of drivers in .* are not taken back: pv-9/);
    expect((await stat(file)).size).toBe(4);
  });
});
