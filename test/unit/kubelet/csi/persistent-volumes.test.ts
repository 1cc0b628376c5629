import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PluginCallError } from '../../../../src/kubelet.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp, unique } from './persistent-world.ts';

const final = new PluginCallError('InvalidArgument', 'NodeStageVolume', 'no such disk');
const uncertain = new PluginCallError('DeadlineExceeded', 'NodeStageVolume', 'context deadline exceeded');
const says = (error: Error): string => `the driver ${driver} says: ${error.message}`;

describe('a PersistentVolume of a driver', () => {
  it('is staged and published with all that the cluster says of it', async () => {
    const test = await setUp({ podInfoOnMount: true });
    test.state.capabilities.push('SINGLE_NODE_MULTI_WRITER', 'VOLUME_MOUNT_GROUP');
    const secret = (text: string) => ({ data: { key: Buffer.from(text).toString('base64') } });
    test.objects.set('/api/v1/namespaces/vault/secrets/stage', secret('s1'));
    test.objects.set('/api/v1/namespaces/vault/secrets/publish', secret('s2'));
    const reference = (name: string) => ({ namespace: 'vault', name });
    const csi = { fsType: 'xfs', volumeAttributes: { size: 'big' }, nodeStageSecretRef: reference('stage') };
    const whole = { ...csi, nodePublishSecretRef: reference('publish') };
    // as they are, twice and in no order
    const mountOptions = ['noatime', 'acl', 'noatime'];
    const mounted = await test.mount('u1', { csi: whole, spec: { mountOptions }, readOnly: true, fsGroup: 77 });
    const use = { fsType: 'xfs', mountFlags: mountOptions, accessMode: 'SINGLE_NODE_MULTI_WRITER', volumeMountGroup: '77' };
    const stagingTargetPath = join(
      test.rootDirectory,
      'plugins/kubernetes.io/csi',
      driver,
      (await test.files())[0] ?? '',
      'globalmount',
    );
    expect(test.staged).toEqual([
      { ...use, volumeID: 'h-1', stagingTargetPath, publishContext: {}, volumeContext: { size: 'big' }, secrets: { key: 's1' } },
    ]);
    const targetPath = join(test.foldersOf('u1').volumesFolder, 'kubernetes.io~csi', 'pv-1', 'mount');
    expect(test.published).toEqual([
      {
        ...{ ...use, volumeID: 'h-1', stagingTargetPath, targetPath, readonly: true, publishContext: {}, secrets: { key: 's2' } },
        volumeContext: expect.objectContaining({ size: 'big', 'csi.storage.k8s.io/ephemeral': 'false' }),
      },
    ]);
    expect(mounted).toEqual({
      ...{ name: 'data', type: 'persistentVolumeClaim', hostPath: targetPath, readonly: true, selinuxRelabel: false },
    });
    expect(test.mounter.owners.size).toBe(0);
  });

  it.each([
    [['ReadWriteOnce'], [], 'SINGLE_NODE_WRITER'],
    [['ReadWriteOncePod'], [], 'SINGLE_NODE_WRITER'],
    [['ReadOnlyMany', 'ReadWriteOnce'], [], 'MULTI_NODE_READER_ONLY'],
    [['ReadWriteMany'], ['SINGLE_NODE_MULTI_WRITER'], 'MULTI_NODE_MULTI_WRITER'],
    [['ReadWriteOncePod'], ['SINGLE_NODE_MULTI_WRITER'], 'SINGLE_NODE_SINGLE_WRITER'],
  ] as const)('of the access modes %j is %j for a driver: %s', async (accessModes, more, accessMode) => {
    const test = await setUp();
    test.state.capabilities = ['STAGE_UNSTAGE_VOLUME', ...more];
    await test.mount('u1', { spec: { accessModes } });
    expect([test.staged[0]?.accessMode, test.published[0]?.accessMode]).toEqual([accessMode, accessMode]);
  });

  it.each([
    ['File', undefined, ['ReadWriteMany'], true],
    ['ReadWriteOnceWithFSType', 'ext4', ['ReadWriteOnce'], true],
    ['ReadWriteOnceWithFSType', undefined, ['ReadWriteOnce'], false],
    ['ReadWriteOnceWithFSType', 'ext4', ['ReadWriteMany'], false],
    ['None', 'ext4', ['ReadWriteOnce'], false],
  ])('gets the group of the pod by the policy %s, with %s and %j: %s', async (fsGroupPolicy, fsType, accessModes, isGiven) => {
    const test = await setUp({ fsGroupPolicy });
    await test.mount('u1', { csi: { fsType }, spec: { accessModes }, fsGroup: 77 });
    expect([...test.mounter.owners.values()].map(({ gid }) => gid)).toEqual(isGiven ? [77] : []);
  });

  it('is published alone by a driver without that step, and taken back so', async () => {
    const test = await setUp(undefined);
    test.objects.set(`/apis/storage.k8s.io/v1/csidrivers/${driver}`, { spec: { attachRequired: false } });
    test.state.capabilities = [];
    test.storage.start();
    await test.mount('u1');
    expect(test.published[0]).not.toHaveProperty('stagingTargetPath');
    await test.unmount('u1');
    expect(test.calls.map((call) => call.split(' ')[0])).toEqual(['publish', 'unpublish']);
    expect(await test.files()).toEqual([]);
  });

  it('is refused in the words of the step that has failed', async () => {
    const test = await setUp();
    const failure = (parts: object = {}) =>
      test.mount('u1', parts).then(
        () => '',
        (error: Error) => `${error.name} ${error.message}`,
      );
    const step = 'VolumeStepError MountVolume.MountDevice failed for volume "pv-1" :';
    test.state.isRegistered = false;
    expect(await failure()).toContain(`${step} kubernetes.io/csi: failed to get CSI client: driver name ${driver} not found`);
    test.state.isRegistered = true;
    const missing = { csi: { nodeStageSecretRef: { namespace: 'vault', name: 'none' } } };
    expect(await failure(missing)).toBe(`${step} fetching NodeStageSecretRef vault/none failed: not found`);
    test.state.before.stage = () => Promise.reject(final);
    expect(await failure()).toBe(`${step} ${says(final)}`);
    expect(await failure({ csi: { driver: '../x' } })).toContain('the name of the CSI driver is no DNS subdomain: "../x"');
    expect(await failure({ csi: { volumeHandle: '' } })).toContain('no volumeHandle');
    expect(await test.files()).toEqual([]);
  });

  it('shares no folder of a pod with a volume that lives with it', async () => {
    const test = await setUp({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] });
    const volume = { name: 'pv-1', csi: { driver } };
    await test.storage.inline.mount({ ...test.requestOf('u1'), volume });
    await expect(test.mount('u1')).rejects.toThrow('the folder pv-1 of the pod is that of another volume');
    expect(test.published).toHaveLength(1);
  });

  it('is published anew where its driver asks for that, with what attaching gave', async () => {
    const test = await setUp({ requiresRepublish: true, attachRequired: true });
    const attachment = { status: { attached: true, attachmentMetadata: { lun: '1' } } };
    test.node.status = { volumesAttached: [{ name: unique, devicePath: '' }] };
    test.storage.start();
    await until(() => test.node.status.volumesInUse !== undefined);
    const [path] = await attachmentPath(test, attachment);
    await test.mount('u1');
    await test.clock.advance(10_000);
    await test.mount('u1');
    expect(test.published.map(({ publishContext }) => publishContext)).toEqual([{ lun: '1' }, { lun: '1' }]);
    expect(test.staged.map(({ publishContext }) => publishContext)).toEqual([{ lun: '1' }]);
    test.objects.delete(path);
    await test.clock.advance(10_000);
    expect((await test.mount('u1')).hostPath).toContain('pv-1/mount');
    expect(test.events.join()).toContain('FailedMount MountVolume.SetUp failed for volume "pv-1" : volume h-1 has GET error');
  });
});

/** Puts the VolumeAttachment where the driver's is. */
async function attachmentPath(test: Awaited<ReturnType<typeof setUp>>, attachment: object): Promise<[string]> {
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(`h-1${driver}node-1`).digest('hex');
  const path = `/apis/storage.k8s.io/v1/volumeattachments/csi-${hash}`;
  test.objects.set(path, attachment);
  return [path];
}

describe('a volume of the node', () => {
  it('leaves nothing where its driver refuses it for good, and is taken back where nobody knows', async () => {
    const test = await setUp();
    test.storage.start();
    test.state.before.stage = () => Promise.reject(uncertain);
    await expect(test.mount('u1')).rejects.toThrow('DeadlineExceeded');
    expect(await test.files()).toHaveLength(3);
    // its pod may still get it
    await test.clock.advance(120_000);
    await test.settled();
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toEqual([]);
    await test.unmount('u1');
    await until(async () => (await test.files()).length === 0);
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toHaveLength(1);
    test.state.before.stage = () => Promise.reject(final);
    await expect(test.mount('u2')).rejects.toThrow('no such disk');
    expect(await test.files()).toEqual([]);
  });

  it('of an earlier process is kept where its driver refuses it', async () => {
    const test = await setUp();
    await test.mount('u1');
    test.state.before.stage = () => Promise.reject(final);
    const later = test.newStorage();
    await expect(test.mount('u1', {}, later)).rejects.toThrow('no such disk');
    expect(await test.files()).toHaveLength(3);
    expect(test.mounter.mounts).toHaveLength(2);
  });

  it('leaves it only after its last pod, and comes back for one that asks meanwhile', async () => {
    const test = await setUp();
    test.storage.start();
    const answer = Promise.withResolvers<void>();
    for (const podUID of ['u1', 'u2']) await test.mount(podUID);
    await test.unmount('u1');
    await test.clock.advance(120_000);
    await test.settled();
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toEqual([]);
    test.state.before.unstage = () => answer.promise;
    await test.unmount('u2');
    await until(() => test.calls.some((call) => call.startsWith('unstage')));
    const coming = test.mount('u3');
    await test.settled();
    expect(test.staged).toHaveLength(1);
    answer.resolve();
    await coming;
    expect(test.staged).toHaveLength(2);
    expect(await test.files()).toHaveLength(3);
  });

  it('that hangs when it is to leave costs others nothing, and is told of', async () => {
    const test = await setUp();
    test.storage.start();
    await test.mount('u1');
    await test.mount('u2', { csi: { volumeHandle: 'h-2' } });
    test.state.before.unstage = () => new Promise(() => {});
    await test.unmount('u1');
    await until(() => test.calls.some((call) => call.startsWith('unstage')));
    test.state.before.unstage = () => Promise.resolve();
    await test.unmount('u2');
    await until(() => test.mounter.mounts.length === 1);
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toHaveLength(2);
  });

  it('that its driver does not give back is tried again, and stays in use until then', async () => {
    const test = await setUp();
    test.storage.start();
    await test.mount('u1');
    test.state.before.unstage = () => Promise.reject(new PluginCallError('Internal', 'NodeUnstageVolume', 'device busy'));
    await test.unmount('u1');
    await until(() => test.warnings.length > 0);
    expect(test.warnings).toEqual([
      `a volume that no pod uses could not be given back; it is tried again Error: ${says(new PluginCallError('Internal', '', 'device busy'))}`,
    ]);
    const message = `the volume ${unique}, which no pod uses, is not given back: ${says(new PluginCallError('Internal', '', 'device busy'))}`;
    expect(test.storage.problems()).toMatchObject([{ kind: 'csi-unstage', attempt: 1, message }]);
    test.state.before.unstage = () => Promise.resolve();
    await test.clock.advance(500);
    await until(() => test.storage.problems().length === 0);
    expect(await test.files()).toEqual([]);
  });

  it.each([
    ['damaged', (folder: string) => writeFile(join(folder, 'vol_data.json'), '{"driverName":"disk.ex')],
    ['gone', (folder: string) => rm(join(folder, 'vol_data.json'))],
  ])('is not given up while the file of another pod is %s: nobody knows what that pod has', async (_, damage) => {
    const test = await setUp({ attachRequired: true });
    test.node.status = {
      volumesAttached: [{ name: unique, devicePath: '' }],
      volumesInUse: [unique, 'kubernetes.io/csi/gone^1'],
    };
    await attachmentPath(test, { status: { attached: true } });
    await test.mount('u1');
    await test.mount('u2');
    const folder = join(test.foldersOf('u2').volumesFolder, 'kubernetes.io~csi', 'pv-1');
    await damage(folder);
    const later = test.newStorage();
    later.start();
    await test.unmount('u1', later);
    await until(() => test.warnings.some((each) => each.includes('nobody can say which volumes these folders have')));
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toEqual([]);
    expect(later.volumesInUse()).toContain(unique);
    expect(later.volumesInUse()).toContain('kubernetes.io/csi/gone^1');
    expect(later.problems()).toMatchObject([{ kind: 'csi-unsure', message: expect.stringContaining(folder) }]);
    // another volume has the name by now
    test.objects.set('/api/v1/persistentvolumes/pv-1', { spec: { csi: { driver, volumeHandle: 'h-9' } } });
    await expect(test.unmount('u2', later)).rejects.toThrow(
      `nobody can say which volume ${folder} has, and nothing of it is taken back: `,
    );
    expect(test.calls.filter((call) => call.includes('/u2/') && !call.startsWith('publish'))).toEqual([]);
    await writeFile(join(folder, 'vol_data.json'), JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
    await test.unmount('u2', later);
    await test.clock.advance(10_000);
    await until(() => later.volumesInUse()?.length === 0);
    expect([await test.files(), later.problems()]).toEqual([[], []]);
  });

  it('is not published over another one of which nobody can say what it is', async () => {
    const test = await setUp();
    await test.mount('u1');
    const file = join(test.foldersOf('u1').volumesFolder, 'kubernetes.io~csi', 'pv-1', 'vol_data.json');
    await writeFile(file, '{');
    const words = 'nobody can say which volume';
    await expect(test.mount('u1', { csi: { volumeHandle: 'h-9' } }, test.newStorage())).rejects.toThrow(words);
    expect([test.published.length, await readFile(file, 'utf8')]).toEqual([1, '{']);
  });

  it('whose file cannot be written is not one that this process has asked for', async () => {
    const test = await setUp();
    const file = join(test.foldersOf('u1').volumesFolder, 'kubernetes.io~csi', 'pv-1', 'vol_data.json');
    await mkdir(file, { recursive: true });
    await expect(test.mount('u1')).rejects.toThrow('EISDIR');
    await expect(test.unmount('u1')).rejects.toThrow('nobody can say which volume');
    expect([test.published, test.calls.filter((call) => call.startsWith('unpublish'))]).toEqual([[], []]);
  });

  it('that this process has asked for is taken back also where its file is damaged or gone', async () => {
    const test = await setUp();
    test.storage.start();
    for (const [podUID, damage] of [
      ['u1', (path: string) => writeFile(path, '{')],
      ['u2', (path: string) => rm(path)],
    ] as const) {
      await test.mount(podUID);
      await damage(join(test.foldersOf(podUID).volumesFolder, 'kubernetes.io~csi', 'pv-1', 'vol_data.json'));
      await test.unmount(podUID);
    }
    expect(test.calls.filter((call) => call.startsWith('unpublish'))).toHaveLength(2);
    await until(async () => (await test.files()).length === 0);
  });

  it('deletes no file of a driver, and no other one than it knows', async () => {
    const test = await setUp();
    test.storage.start();
    await test.mount('u1');
    const folder = join(test.rootDirectory, 'plugins/kubernetes.io/csi', driver, (await test.files())[0] ?? '');
    test.state.before.unstage = async () => writeFile(join(folder, 'globalmount', 'precious'), '');
    await test.unmount('u1');
    await until(() => test.warnings.length > 0);
    expect(await readdir(join(folder, 'globalmount'))).toEqual(['precious']);
    expect(await readFile(join(folder, 'vol_data.json'), 'utf8')).toBe(`{"driverName":"${driver}","volumeHandle":"h-1"}\n`);
  });

  it('says nothing of use before the disk is known, and nothing goes while it cannot be read', async () => {
    const test = await setUp({ attachRequired: true });
    test.node.status = { volumesAttached: [{ name: unique, devicePath: '' }], volumesInUse: [unique] };
    expect(test.storage.volumesInUse()).toBeUndefined();
    const pods = join(test.rootDirectory, 'pods');
    await mkdir(join(test.rootDirectory, 'plugins', 'kubernetes.io'), { recursive: true });
    await writeFile(pods, 'no folder');
    test.storage.start();
    await until(() => test.warnings.length > 0);
    expect(test.storage.volumesInUse()).toBeUndefined();
    await chmod(pods, 0o600);
    await rm(pods);
    await test.clock.advance(10_000);
    await until(() => test.storage.volumesInUse() !== undefined);
    expect(test.storage.volumesInUse()).toEqual([]);
  });
});

it('what a pod has of PersistentVolumes on disk is without the volumes of its spec, and with what nobody can read', async () => {
  const test = await setUp();
  await test.mount('u1');
  const folders = test.foldersOf('u1');
  const data = { driverName: driver, volumeHandle: 'csi-1', volumeLifecycleMode: 'Ephemeral' };
  for (const [name, text] of [
    ['inline', JSON.stringify(data)],
    ['damaged', '{'],
  ] as const) {
    await mkdir(join(folders.volumesFolder, 'kubernetes.io~csi', name), { recursive: true });
    await writeFile(join(folders.volumesFolder, 'kubernetes.io~csi', name, 'vol_data.json'), text);
  }
  await mkdir(join(folders.devicesFolder, 'kubernetes.io~csi', 'pv-2'), { recursive: true });
  const found = await test.storage.persistentVolumes.volumesOnDisk(folders);
  expect([...found].sort()).toEqual(['damaged', 'pv-1', 'pv-2']);
});
