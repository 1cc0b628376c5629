import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, realpath, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LinuxMounter } from '../../../src/kubelet.ts';
import { asDevice, podOf, setUp as setUpClaims } from '../../unit/kubelet/claims/claims-world.ts';
import { never } from '../../unit/kubelet/volumes/volumes-world.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();

/** Claims whose mounts are real. */
async function setUp() {
  const mounter = new LinuxMounter();
  const world = await setUpClaims(mounter);
  const ends: (() => void)[] = [];
  const end = async (): Promise<void> => {
    for (const path of await mounter.mountsBelow(join(world.rootDirectory, '..'))) await mounter.unmount(path);
    for (const each of ends) each();
  };
  return { ...world, mounter, ends, [Symbol.asyncDispose]: end };
}

/** The folders of the kernel for loop devices that show a file. */
async function loopsOf(path: string): Promise<string[]> {
  const loops = (await readdir('/sys/block')).filter((name) => name.startsWith('loop')).map((name) => join('/sys/block', name));
  const files = await Promise.all(loops.map((loop) => readFile(join(loop, 'loop/backing_file'), 'utf8').catch(() => '')));
  return loops.filter((_, index) => files[index]?.startsWith(path));
}

/** A block device that starts with this text; undefined where there is none left. */
async function loopDevice(
  { disk, ends }: { disk: string; ends: (() => void)[] },
  bytes: number,
  text = '',
): Promise<string | undefined> {
  const file = join(disk, 'image');
  await writeFile(file, text);
  await truncate(file, bytes);
  try {
    const device = execFileSync('losetup', ['--find', '--show', file], { encoding: 'utf8', stdio: 'pipe' }).trim();
    ends.push(() => execFileSync('losetup', ['--detach', device]));
    return device;
  } catch {
    return undefined;
  }
}

const withGroup = { securityContext: { fsGroup: 123 } };

describe('a claimed folder of a real node', () => {
  it('is one folder for all pods that claim it, over restarts, and keeps its files', async () => {
    await using test = await setUp();
    const { manager, newManager, folder, disk, podFolder } = test;
    await writeFile(join(disk, 'before'), 'kept');
    await manager.mountVolumes(podOf(withGroup), never);
    expect((await stat(join(folder, 'before'))).gid).toBe(123);
    await writeFile(join(folder, 'of-the-pod'), 'kept');
    const restarted = newManager();
    await restarted.mountVolumes(podOf(withGroup), never);
    expect(await test.mounter.mountsBelow(podFolder)).toEqual([folder]);
    await restarted.mountVolumes(podOf({}, { name: 'other', uid: 'u2' }), never);
    await restarted.unmountVolumes('u1');
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
    const other = folder.replace('/u1/', '/u2/');
    expect((await readdir(other)).sort()).toEqual(['before', 'of-the-pod']);
    await newManager().unmountVolumes('u2');
    expect((await readdir(disk)).sort()).toEqual(['before', 'of-the-pod']);
  });

  it('cannot be written by a pod that only reads, nor run by one whose volume forbids it', async () => {
    await using test = await setUp();
    const { manager, folder, persistentVolume, disk } = test;
    persistentVolume().spec.mountOptions = ['noexec'];
    await writeFile(join(disk, 'run'), '#!/bin/sh\n', { mode: 0o755 });
    await manager.mountVolumes(podOf({}, {}, { persistentVolumeClaim: { claimName: 'disk', readOnly: true } }), never);
    await expect(writeFile(join(folder, 'file'), '')).rejects.toMatchObject({ code: 'EROFS' });
    expect(() => execFileSync(join(folder, 'run'))).toThrow(/EACCES/);
  });

  it('keeps what the machine has mounted in it, also where the kernel shares both', async () => {
    await using test = await setUp();
    const { manager, disk, folder, mounter, podFolder } = test;
    // as `systemd` makes all mounts
    await mounter.bind(disk, disk, {});
    execFileSync('mount', ['--make-shared', disk]);
    await mkdir(join(disk, 'inner'));
    await manager.mountVolumes(podOf(), never);
    await mounter.mountTmpfs(join(disk, 'inner'), {});
    await writeFile(join(disk, 'inner', 'file'), 'kept');
    expect(await mounter.mountsBelow(podFolder)).toEqual([join(folder, 'inner'), folder]);
    await manager.unmountVolumes('u1');
    expect(await readdir(join(disk, 'inner'))).toEqual(['file']);
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a claimed device of a real node', () => {
  it('is kept open, and given back by a later process', async (context) => {
    await using test = await setUp();
    const { manager, newManager, bind, podFolder, rootDirectory } = test;
    const device = await loopDevice(test, 1024 * 1024);
    if (device === undefined) return context.skip('there is no free loop device here');
    bind('disk', 'pv-1', { local: { path: device } }, { volumeMode: 'Block' });
    const mounted = await manager.mountVolumes(podOf(asDevice), never);
    const { devicePath = '' } = mounted.get('data') ?? {};
    expect(await realpath(devicePath)).toBe(device);
    expect(await readlink(devicePath)).toBe(device);
    const shown = join(await realpath(rootDirectory), 'plugins/kubernetes.io~local-volume/volumeDevices/pv-1/u1');
    expect((await stat(shown)).rdev).toBe((await stat(device)).rdev);
    const [holder = '', ...more] = await loopsOf(shown);
    expect(more).toEqual([]);
    await newManager().mountVolumes(podOf(asDevice), never);
    expect(await loopsOf(shown)).toEqual([holder]);
    await newManager().unmountVolumes('u1');
    await expect(stat(join(holder, 'loop'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(stat(shown)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a claimed file system on a device of a real node', () => {
  it('is made where the device is empty, and unmounted with the last pod', async (context) => {
    await using test = await setUp();
    const { manager, newManager, bind, folder, rootDirectory } = test;
    const device = await loopDevice(test, 8 * 1024 * 1024);
    if (device === undefined) return context.skip('there is no free loop device here');
    bind('disk', 'pv-1', { local: { path: device } });
    await manager.mountVolumes(podOf(withGroup), never);
    await writeFile(join(folder, 'file'), 'kept');
    expect((await stat(folder)).gid).toBe(123);
    await newManager().mountVolumes(podOf({}, { name: 'other', uid: 'u2' }), never);
    await newManager().unmountVolumes('u1');
    const shared = join(await realpath(rootDirectory), 'plugins/kubernetes.io/local-volume/mounts/pv-1');
    expect(await readdir(shared)).toContain('file');
    await newManager().unmountVolumes('u2');
    await expect(stat(shared)).rejects.toMatchObject({ code: 'ENOENT' });
    // what is there is checked, and kept
    await newManager().mountVolumes(podOf(), never);
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('kept');
    await newManager().unmountVolumes('u1');
  });

  it('is not made over data that nobody knows', async (context) => {
    await using test = await setUp();
    const { manager, bind, mounter, podFolder } = test;
    const device = await loopDevice(test, 8 * 1024 * 1024, 'a database');
    if (device === undefined) return context.skip('there is no free loop device here');
    bind('disk', 'pv-1', { local: { path: device } });
    await expect(manager.mountVolumes(podOf(), never)).rejects.toThrow(/^MountVolume.MountDevice failed for volume "pv-1" : /);
    expect((await readFile(device)).subarray(0, 10).toString()).toBe('a database');
    await manager.unmountVolumes('u1');
    expect(await mounter.mountsBelow(podFolder)).toEqual([]);
    await expect(stat(podFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
