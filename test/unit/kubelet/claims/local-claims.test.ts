import { lstat, mkdir, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { modeOf, never } from '../volumes/volumes-world.ts';
import { asDevice, podOf, setUp, wordsOf } from './claims-world.ts';

const anyBlockDevice = '/dev/loop0';
const hasDevice = await stat(anyBlockDevice).then(
  (found) => found.isBlockDevice(),
  () => false,
);

describe('A local volume', () => {
  it('belongs to the group of the first pod, and a later one is told that it has another', async () => {
    const { manager, disk, mounter, events } = await setUp();
    await writeFile(join(disk, 'file'), '');
    const withGroup = (fsGroup: number, uid: string) => podOf({ securityContext: { fsGroup } }, { name: uid, uid });
    await manager.mountVolumes(withGroup(1234, 'u1'), never);
    expect(mounter.owners.get(join(disk, 'file'))).toEqual({ gid: 1234 });
    expect(await modeOf(disk)).toMatch(/^277/);
    expect(events).toEqual([]);
    await manager.mountVolumes(withGroup(4321, 'u2'), never);
    expect(mounter.owners.get(join(disk, 'file'))).toEqual({ gid: 1234 });
    const { gid } = await stat(disk);
    expect(events).toEqual([
      `Warning AlreadyMountedVolume The requested fsGroup is 4321, but the volume pv-1 has GID ${gid}. The volume may not be shareable.`,
    ]);
    expect(mounter.mounts).toHaveLength(2);
  });

  it('that the pod only reads belongs to whom it did, and has the options of its volume', async () => {
    const { manager, mounter, persistentVolume } = await setUp();
    persistentVolume().spec.mountOptions = ['noexec'];
    const volume = { persistentVolumeClaim: { claimName: 'disk', readOnly: true } };
    await manager.mountVolumes(podOf({ securityContext: { fsGroup: 1234 } }, {}, volume), never);
    expect(mounter.owners.size).toBe(0);
    expect(mounter.mounts.map(({ options }) => options)).toEqual([{ options: ['noexec', 'ro'] }]);
  });

  it('may be given by a symbolic link', async () => {
    const { manager, mounter, disk, bind } = await setUp();
    await symlink(disk, `${disk}-link`);
    bind('disk', 'pv-1', { local: { path: `${disk}-link` } });
    await manager.mountVolumes(podOf(), never);
    expect(mounter.mounts.map(({ source }) => source)).toEqual([disk]);
  });

  it('is a folder or a device that is there', async () => {
    const { manager, bind, disk } = await setUp();
    const words = async (path: string): Promise<string> => {
      bind('disk', 'pv-1', { local: { path } });
      return wordsOf(manager.mountVolumes(podOf(), never));
    };
    const failed = 'MountVolume.NewMounter initialization failed for volume "pv-1" : ';
    await writeFile(`${disk}-file`, '');
    expect(await words('')).toBe(`${failed}local volume source is nil or local path is not set`);
    expect(await words(`${disk}/../disk`)).toBe(`${failed}invalid path: ${disk}/../disk must not contain '..'`);
    expect(await words(`${disk}-none`)).toBe(`${failed}path "${disk}-none" does not exist`);
    expect(await words(`${disk}-file`)).toBe(`${failed}only directory and block device are supported`);
  });

  it('whose file system hangs keeps its own pod from its start, also where another pod has it and the group is to be set', async () => {
    const { manager, bind, disk, folder, hanging, mountsAsked, clock } = await setUp();
    await manager.mountVolumes(podOf(), never);
    await mkdir(`${disk}-2`);
    bind('disk-2', 'pv-2', { local: { path: `${disk}-2` } });
    for (const hung of [disk, folder]) hanging.add(hung);
    // what it has answered counts no longer
    await clock.advance(2000);
    const withGroup = { securityContext: { fsGroup: 1234 } };
    const own = wordsOf(manager.mountVolumes(podOf({}, { name: 'second', uid: 'u2' }), never));
    const claimed = { persistentVolumeClaim: { claimName: 'disk-2' } };
    const other = manager.mountVolumes(podOf(withGroup, { name: 'other', uid: 'u3' }, claimed), never);
    await until(() => mountsAsked.includes(folder) && mountsAsked.filter((path) => path === disk).length === 2);
    await clock.advance(10_000);
    const why = "it does not answer: it took longer than 10 s; it is asked again 10 s later, at the pod's next sync";
    expect(await own).toBe(`MountVolume.NewMounter initialization failed for volume "pv-1" : ${why}`);
    expect((await other).size).toBe(1);
  });

  it('gets no group while nobody can ask whether the volume of another pod answers: it may be the same', async () => {
    const { manager, bind, disk, folder, unasked, clock, mounter } = await setUp();
    await manager.mountVolumes(podOf(), never);
    await mkdir(`${disk}-2`);
    bind('disk-2', 'pv-2', { local: { path: `${disk}-2` } });
    unasked.add(folder);
    await clock.advance(2000);
    const claimed = { persistentVolumeClaim: { claimName: 'disk-2' } };
    const pod = podOf({ securityContext: { fsGroup: 1234 } }, { name: 'other', uid: 'u3' }, claimed);
    expect(await wordsOf(manager.mountVolumes(pod, never))).toContain('nobody could ask whether it answers');
    expect(mounter.mounts).toHaveLength(1);
  });

  it('whose file system hangs is not looked at by the syncs of its pod', async () => {
    const { manager, mounter, folder } = await setUp();
    await manager.mountVolumes(podOf(), never);
    const { mountsBelow } = mounter;
    const looked: string[] = [];
    mounter.mountsBelow = (path) => {
      looked.push(path);
      return mountsBelow.call(mounter, path);
    };
    await manager.mountVolumes(podOf(), never);
    expect(looked.length).toBeGreaterThan(0);
    expect(looked).not.toContain(folder);
  });

  it.runIf(hasDevice)('that is a device stays mounted nowhere where its pod cannot get it', async () => {
    const { manager, bind, mounter, folder } = await setUp();
    bind('disk', 'pv-1', { local: { path: anyBlockDevice } });
    const made: string[] = [];
    const { mount } = mounter;
    mounter.mount = (source, target, settings, signal) => {
      made.push(target);
      return mount.call(mounter, source, target, settings, signal);
    };
    mounter.bind = () => Promise.reject(new Error('no room in the table of mounts'));
    const words = await wordsOf(manager.mountVolumes(podOf(), never));
    expect(words).toBe('MountVolume.SetUp failed for volume "pv-1" : no room in the table of mounts');
    expect([made.length, mounter.mounts]).toEqual([1, []]);
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that is still mounted keeps the folder of its pod', async () => {
    const { manager, mounter, folder, podFolder } = await setUp();
    await manager.mountVolumes(podOf(), never);
    const { unmount } = mounter;
    mounter.unmount = async () => {};
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(`${folder} is still mounted`);
    mounter.unmount = unmount;
    // somebody has written below the mount point
    await writeFile(join(folder, 'file'), '');
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(/ENOTEMPTY/);
    expect(await readdir(folder)).toEqual(['file']);
    expect((await stat(podFolder)).isDirectory()).toBe(true);
  });
});

describe('A local block volume', () => {
  it.runIf(hasDevice)('is shown by a link, kept open, and taken back after a restart', async () => {
    const { manager, newManager, mounter, bind, podFolder, rootDirectory } = await setUp();
    bind('disk', 'pv-1', { local: { path: anyBlockDevice } }, { volumeMode: 'Block' });
    const mounted = await manager.mountVolumes(podOf(asDevice), never);
    const link = join(podFolder, 'volumeDevices', 'kubernetes.io~local-volume', 'pv-1');
    const global = join(rootDirectory, 'plugins', 'kubernetes.io~local-volume', 'volumeDevices', 'pv-1');
    expect(mounted.get('data')).toMatchObject({ hostPath: '', devicePath: link, readonly: false });
    expect(await readlink(link)).toBe(anyBlockDevice);
    expect(mounter.heldDevices).toEqual([join(global, 'u1')]);
    const again = newManager();
    await again.mountVolumes(podOf(asDevice), never);
    expect(mounter.mounts.map(({ target }) => target)).toEqual([join(global, 'u1')]);
    await again.unmountVolumes('u1');
    expect([mounter.mounts, mounter.heldDevices]).toEqual([[], []]);
    await expect(lstat(global)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is a device', async () => {
    const { manager, bind, disk } = await setUp();
    bind('disk', 'pv-1', { local: { path: disk } }, { volumeMode: 'Block' });
    const words = `MapVolume.MapPodDevice failed for volume "pv-1" : ${disk} is no block device`;
    expect(await wordsOf(manager.mountVolumes(podOf(asDevice), never))).toBe(words);
  });

  it('is not taken back where its file is none that was made here', async () => {
    const { manager, podFolder, rootDirectory } = await setUp();
    const links = join(podFolder, 'volumeDevices', 'kubernetes.io~local-volume');
    const global = join(rootDirectory, 'plugins', 'kubernetes.io~local-volume', 'volumeDevices', 'pv-1');
    await mkdir(links, { recursive: true });
    await mkdir(global, { recursive: true });
    await symlink(anyBlockDevice, join(links, 'pv-1'));
    await writeFile(join(global, 'u1'), 'data');
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(`${join(global, 'u1')} is no empty file`);
    expect(await readdir(links)).toEqual(['pv-1']);
  });
});
