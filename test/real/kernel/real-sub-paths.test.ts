import { mkdir, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removePodFolder } from '../../../src/kubelet/volumes/pod-folder.ts';
import { prepareSubPath } from '../../../src/kubelet/volumes/sub-paths.ts';
import { LinuxMounter, VolumeManager } from '../../../src/kubelet.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();

async function setUp() {
  const root = await realpath(await tempDir());
  const [podFolder, volumePath, outside] = ['pods/u1', 'pods/u1/volumes/kubernetes.io~empty-dir/v', 'outside'].map((path) =>
    join(root, path),
  ) as [string, string, string];
  for (const path of [volumePath, outside]) await mkdir(path, { recursive: true });
  await writeFile(join(outside, 'file'), 'not yours');
  await mkdir(join(volumePath, 'folder'));
  await writeFile(join(volumePath, 'folder', 'file'), 'mine');
  const mounter = new LinuxMounter();
  const prepare = (subPath: string, index = 0, path = volumePath): Promise<string> =>
    prepareSubPath({ mounter, podFolder, volumeName: 'v', containerName: 'app', index, volumePath: path, subPath });
  const end = async (): Promise<void> => {
    for (const path of await new LinuxMounter().mountsBelow(root)) await new LinuxMounter().unmount(path);
  };
  return { root, podFolder, volumePath, outside, mounter, prepare, [Symbol.asyncDispose]: end };
}

describe('sub paths of a real node', () => {
  it('show a folder and a file of the volume, and what a container writes arrives', async () => {
    await using test = await setUp();
    const [folder, file] = [await test.prepare('folder', 0), await test.prepare('folder/file', 1)];
    await writeFile(join(folder, 'new'), 'written');
    await writeFile(file, 'changed');
    expect([
      await readFile(join(test.volumePath, 'folder', 'new'), 'utf8'),
      await readFile(join(folder, 'file'), 'utf8'),
    ]).toEqual(['written', 'changed']);
  });

  it('are mounted once, and anew where something else stands at the path by now', async () => {
    await using test = await setUp();
    const target = await test.prepare('folder');
    const { bind } = test.mounter;
    test.mounter.bind = () => Promise.reject(new Error('it is mounted already'));
    expect(await test.prepare('folder')).toBe(target);
    test.mounter.bind = bind;
    expect(await test.mounter.mountsBelow(test.root)).toEqual([target]);
    await rename(join(test.volumePath, 'folder'), join(test.volumePath, 'old'));
    await mkdir(join(test.volumePath, 'folder'));
    expect(await readdir(target)).toEqual(['file']);
    await test.prepare('folder');
    expect([await readdir(target), await test.mounter.mountsBelow(test.root)]).toEqual([[], [target]]);
    await rm(join(test.volumePath, 'folder'), { recursive: true });
    await writeFile(join(test.volumePath, 'folder'), 'a file now');
    await test.prepare('folder');
    expect([await readFile(target, 'utf8'), await test.mounter.mountsBelow(test.root)]).toEqual(['a file now', [target]]);
  });

  it('stay what they are when the pod puts a link in their place', async () => {
    await using test = await setUp();
    const target = await test.prepare('folder');
    await rename(join(test.volumePath, 'folder'), join(test.volumePath, 'moved'));
    await symlink(test.outside, join(test.volumePath, 'folder'));
    expect(await readFile(join(target, 'file'), 'utf8')).toBe('mine');
    await expect(test.prepare('folder', 1)).rejects.toThrow('failed to create subPath directory');
    expect(await test.mounter.mountsBelow(test.root)).toEqual([target]);
  });

  it('show what was found, where the pod swaps it for a link right before the mount', async () => {
    await using test = await setUp();
    const { bind } = test.mounter;
    test.mounter.bind = async (...args) => {
      await rename(join(test.volumePath, 'folder'), join(test.volumePath, 'moved'));
      await symlink(test.outside, join(test.volumePath, 'folder'));
      await bind.apply(test.mounter, args);
    };
    expect(await readFile(await test.prepare('folder/file'), 'utf8')).toBe('mine');
  });

  it('never show what is outside while the pod swaps a folder for a link', async () => {
    await using test = await setUp();
    const [swapped, kept] = [join(test.volumePath, 'folder'), join(test.volumePath, 'kept')];
    let isOver = false;
    // the agent may make something in it meanwhile
    const remove = (): Promise<void> => rm(swapped, { recursive: true, force: true }).catch(() => {});
    const attack = (async () => {
      const back = (): Promise<boolean> =>
        rename(kept, swapped).then(
          () => true,
          () => false,
        );
      while (!isOver) {
        await rename(swapped, kept);
        await symlink(test.outside, swapped).catch(() => {});
        await remove();
        while (!(await back())) await remove();
      }
    })();
    const shown = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      const target = await test.prepare('folder/file', round).catch(() => undefined);
      if (target !== undefined) shown.add(await readFile(target, 'utf8').catch(() => 'a folder that was made'));
    }
    isOver = true;
    await attack;
    expect([...shown].filter((text) => text === 'not yours')).toEqual([]);
    expect(await readdir(test.outside)).toEqual(['file']);
    await removePodFolder(test.podFolder, test.mounter, async () => {});
    expect(await test.mounter.mountsBelow(test.root)).toEqual([]);
  });

  it('of the node itself end with the pod, and leave what they showed', async () => {
    await using test = await setUp();
    await test.prepare('.', 0, test.outside);
    await test.prepare('file', 1, test.outside);
    const manager = new VolumeManager({ rootDirectory: test.root, mounter: test.mounter });
    await manager.unmountVolumes('u1');
    expect([await readdir(join(test.root, 'pods')), await readFile(join(test.outside, 'file'), 'utf8')]).toEqual([
      [],
      'not yours',
    ]);
  });

  it('that cannot be unmounted keep the folder of their pod', async () => {
    await using test = await setUp();
    const target = await test.prepare('.', 0, test.outside);
    const stuck = new LinuxMounter();
    stuck.unmount = () => Promise.reject(new Error('busy'));
    const manager = new VolumeManager({ rootDirectory: test.root, mounter: stuck });
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(`still mounted: ${target}`);
    expect([
      await readFile(join(test.outside, 'file'), 'utf8'),
      await readFile(join(test.volumePath, 'folder', 'file'), 'utf8'),
    ]).toEqual(['not yours', 'mine']);
    // a mounter that says that it has unmounted
    const blind = new LinuxMounter();
    blind.mountsBelow = async () => [];
    await expect(new VolumeManager({ rootDirectory: test.root, mounter: blind }).unmountVolumes('u1')).rejects.toThrow();
    expect(await readFile(join(test.outside, 'file'), 'utf8')).toBe('not yours');
  });
});
