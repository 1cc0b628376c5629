import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PluginCallError } from '../../../../src/kubelet.ts';
import { until } from '../../../support/until.ts';
import { driver, setUp } from './persistent-world.ts';

const final = new PluginCallError('InvalidArgument', 'NodeStageVolume', 'no such disk');
const uncertain = new PluginCallError('DeadlineExceeded', 'NodePublishVolume', 'context deadline exceeded');

/** A driver that makes devices: a file stands for one. */
async function devices(driverSpec: object = {}) {
  const test = await setUp(driverSpec);
  test.storage.start();
  const root = join(test.rootDirectory, 'plugins', 'kubernetes.io', 'csi', 'volumeDevices');
  test.csiNode.publishVolume = async (request) => {
    test.published.push(request);
    test.calls.push('publish');
    await test.state.before.publish?.();
    await writeFile(request.targetPath, '');
  };
  const link = (podUID: string): string => join(test.foldersOf(podUID).devicesFolder, 'kubernetes.io~csi', 'pv-1');
  const mount = (podUID: string, parts: object = {}, by = test.storage) => test.mount(podUID, { isBlock: true, ...parts }, by);
  const left = async () => (await readdir(root).catch(() => [])).sort();
  return { ...test, root, link, mount, left };
}

describe('a block device of a driver', () => {
  it("is asked for at the kubelet's places, is shown by a link, and leaves them after its last pod", async () => {
    const test = await devices({ podInfoOnMount: true });
    const mounted = await test.mount('u1', { readOnly: true, csi: { volumeAttributes: { size: 'big' }, fsType: 'ext4' } });
    expect(mounted).toEqual({
      ...{ name: 'data', type: 'persistentVolumeClaim', readonly: true, selinuxRelabel: false },
      ...{ hostPath: '', devicePath: test.link('u1') },
    });
    const stagingTargetPath = join(test.root, 'staging', 'pv-1');
    const use = {
      volumeID: 'h-1',
      stagingTargetPath,
      block: true,
      accessMode: 'SINGLE_NODE_WRITER',
      publishContext: {},
      secrets: {},
    };
    expect(test.staged).toEqual([{ ...use, volumeContext: { size: 'big' } }]);
    const targetPath = join(test.root, 'publish', 'pv-1', 'u1');
    const volumeContext = expect.objectContaining({ size: 'big', 'csi.storage.k8s.io/pod.uid': 'u1' });
    expect(test.published).toEqual([{ ...use, targetPath, readonly: true, volumeContext }]);
    expect(await readlink(test.link('u1'))).toBe(targetPath);
    expect(test.mounter.heldDevices).toEqual([join(test.root, 'pv-1', 'dev', 'u1')]);
    await test.mount('u2');
    expect(test.staged).toHaveLength(1);
    await test.unmount('u1');
    expect(await readdir(join(test.root, 'pv-1', 'dev'))).toEqual(['u2']);
    const later = test.newStorage();
    later.start();
    await test.unmount('u2', later);
    await until(async () => (await test.left()).join() === 'publish,staging');
    expect([test.mounter.mounts, test.mounter.heldDevices]).toEqual([[], []]);
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toHaveLength(1);
  });

  it('leaves nothing where its driver refuses it for good', async () => {
    const test = await devices();
    test.state.before.stage = () => Promise.reject(final);
    const words = `MapVolume.SetUpDevice failed for volume "pv-1" : the driver ${driver} says: ${final.message}`;
    await expect(test.mount('u1')).rejects.toMatchObject({ reason: 'FailedMapVolume', message: words });
    expect((await test.left()).filter((name) => name === 'pv-1')).toEqual([]);
  });

  it('is taken back where nobody knows whether the pod has it', async () => {
    const test = await devices();
    test.state.before.publish = () => Promise.reject(uncertain);
    await expect(test.mount('u1')).rejects.toThrow('DeadlineExceeded');
    await test.unmount('u1');
    expect(test.calls.filter((call) => call.startsWith('unpublish'))).toHaveLength(1);
    await until(async () => !(await test.left()).includes('pv-1'));
  });

  it('keeps its place where its driver is gone, and where it has left something there', async () => {
    const test = await devices();
    await test.mount('u1');
    test.state.isRegistered = false;
    await expect(test.unmount('u1')).rejects.toThrow('failed to get CSI client');
    expect(await readlink(test.link('u1'))).toContain('/publish/pv-1/u1');
    test.state.isRegistered = true;
    test.csiNode.unpublishVolume = async (_, path) => writeFile(path, 'precious');
    await expect(test.unmount('u1')).rejects.toThrow('is no empty file');
    expect(await readFile(join(test.root, 'publish', 'pv-1', 'u1'), 'utf8')).toBe('precious');
    expect(test.calls.filter((call) => call.startsWith('unstage'))).toEqual([]);
  });

  it('of a damaged file is not taken back by an agent that has not made it, whatever has its name by now', async () => {
    const test = await devices();
    await test.mount('u1');
    const file = join(test.root, 'pv-1', 'data', 'vol_data.json');
    await writeFile(file, '{');
    const later = test.newStorage();
    later.start();
    test.objects.set('/api/v1/persistentvolumes/pv-1', { spec: { csi: { driver, volumeHandle: 'h-9' } } });
    const words = 'nobody can say which volume the device pv-1 has, and nothing of it is taken back: failed to parse';
    await expect(test.unmount('u1', later)).rejects.toThrow(words);
    await expect(test.mount('u2', { csi: { volumeHandle: 'h-9' } }, later)).rejects.toThrow(words);
    await until(() => later.problems().length > 0);
    expect(later.problems()).toMatchObject([{ kind: 'csi-unsure' }]);
    expect([test.staged.length, await readFile(file, 'utf8')]).toEqual([1, '{']);
    await writeFile(file, JSON.stringify({ driverName: driver, volumeHandle: 'h-1' }));
    await test.unmount('u1', later);
    expect(test.calls.filter((call) => call.startsWith('unpublish'))).toHaveLength(1);
    expect(await readdir(join(test.foldersOf('u1').devicesFolder, 'kubernetes.io~csi'))).toEqual([]);
  });

  it('whose file is gone while something of it is mounted is not made anew by an agent that has not made it', async () => {
    const test = await devices();
    await test.mount('u1');
    await rm(join(test.root, 'pv-1', 'data', 'vol_data.json'));
    const later = test.newStorage();
    later.start();
    const words =
      /^MapVolume.SetUpDevice failed .* nobody can say which volume the device pv-1 has.* is mounted, and no file says/;
    await expect(test.mount('u2', { csi: { volumeHandle: 'h-9' } }, later)).rejects.toThrow(words);
    expect([test.staged.length, await readdir(join(test.root, 'pv-1', 'data'))]).toEqual([1, []]);
    await test.unmount('u1');
    expect(test.calls.filter((call) => call.startsWith('unpublish'))).toHaveLength(1);
  });

  it('whose file cannot be written is not one that this agent has asked for', async () => {
    const test = await devices();
    const file = join(test.root, 'pv-1', 'data', 'vol_data.json');
    await mkdir(file, { recursive: true });
    await expect(test.mount('u1')).rejects.toThrow('EISDIR');
    await mkdir(join(test.foldersOf('u1').devicesFolder, 'kubernetes.io~csi'), { recursive: true });
    await symlink(join(test.root, 'publish', 'pv-1', 'u1'), test.link('u1'));
    await expect(test.unmount('u1')).rejects.toThrow('nobody can say which volume the device pv-1 has');
    expect(test.calls).toEqual([]);
  });

  it('keeps its place from another volume of its name, and is taken back by who has made it, whatever becomes of its file', async () => {
    const test = await devices();
    await test.mount('u1');
    const other = test.mount('u2', { csi: { volumeHandle: 'h-9' } });
    await expect(other).rejects.toThrow(`the place of the device pv-1 is that of another volume, of the driver ${driver}`);
    await writeFile(join(test.root, 'pv-1', 'data', 'vol_data.json'), '{');
    await test.unmount('u1');
    expect(test.calls.filter((call) => call.startsWith('unpublish'))).toHaveLength(1);
    expect(await readdir(join(test.foldersOf('u1').devicesFolder, 'kubernetes.io~csi'))).toEqual([]);
  });

  it('a link that was not whole is no device', async () => {
    const test = await devices();
    const folder = join(test.foldersOf('u1').devicesFolder, 'kubernetes.io~csi');
    await mkdir(folder, { recursive: true });
    await symlink('/dev/none', join(folder, '..new'));
    await test.unmount('u1');
    expect([await readdir(folder), test.storage.problems()]).toEqual([[], []]);
  });
});

describe('how full a volume is', () => {
  it('says its driver, of the path that it knows', async () => {
    const test = await setUp();
    const asked: string[] = [];
    test.csiNode.getVolumeStats = async (volumeID, path) => {
      asked.push(`${volumeID} ${path}`);
      return [
        { unit: 'BYTES', available: 1, total: 3, used: 2 },
        { unit: 'INODES', available: 4, total: 9, used: 5 },
      ];
    };
    const mounted = await test.mount('u1');
    const { claim, persistentVolume, isBlock } = test.requestOf('u1');
    const measure = () => test.storage.persistentVolumes.measure?.({ claim, persistentVolume, isBlock, mounted });
    expect(await measure()).toBeUndefined();
    test.state.capabilities.push('GET_VOLUME_STATS');
    expect(await measure()).toEqual({
      ...{ capacityBytes: 3, availableBytes: 1, usedBytes: 2 },
      ...{ inodes: 9, inodesFree: 4, inodesUsed: 5 },
    });
    expect(asked).toEqual([`h-1 ${mounted.hostPath}`]);
    // a sync changes nothing of what is measured
    expect(await test.mount('u1')).toBe(mounted);
  });
});
