import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareSubPath } from '../../../../src/kubelet/volumes/sub-paths.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../../support/temp-dir.ts';

async function setUp() {
  const dir = await tempDir();
  const [podFolder, volumePath, outside] = ['pods/u1', 'pods/u1/volumes/v', 'outside'].map((path) => join(dir, path)) as [
    string,
    string,
    string,
  ];
  for (const path of [volumePath, outside]) await mkdir(path, { recursive: true });
  await writeFile(join(outside, 'secret'), 'not yours');
  await mkdir(join(volumePath, 'a', 'b'), { recursive: true });
  await writeFile(join(volumePath, 'a', 'file'), 'mine');
  const mounter = new FakeMounter();
  const prepare = (subPath: string, index = 0): Promise<string> =>
    prepareSubPath({ mounter, podFolder, volumeName: 'v', containerName: 'app', index, volumePath, subPath });
  return { podFolder, volumePath, outside, mounter, prepare };
}

async function causeOf(preparing: Promise<unknown>): Promise<string> {
  const error = await preparing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('expected an error');
  return `${error.message}: ${error.cause}`;
}

describe('prepareSubPath', () => {
  it.each([
    ['a/b', 'a/b', true],
    ['a//./file', 'a/file', false],
    ['link', 'a/file', false],
    ['folderlink/file', 'a/file', false],
    ['absolute/b', 'a/b', true],
    ['.', '.', true],
  ])('shows %s', async (subPath, path, isFolder) => {
    const { podFolder, volumePath, mounter, prepare } = await setUp();
    await symlink('a/file', join(volumePath, 'link'));
    await symlink('a', join(volumePath, 'folderlink'));
    await symlink(join(volumePath, 'a'), join(volumePath, 'absolute'));
    const target = await prepare(subPath, 3);
    expect(target).toBe(join(podFolder, 'volume-subpaths', 'v', 'app', '3'));
    expect((await stat(target)).isDirectory()).toBe(isFolder);
    expect(mounter.mounts).toEqual([{ target, source: join(volumePath, path), options: {} }]);
  });

  it('shows 500 of one pod and no more: the table of mounts is for all pods', async () => {
    const { prepare, mounter } = await setUp();
    for (let index = 0; index < 500; index += 1) await prepare('a/b', index);
    await expect(prepare('a/b', 500)).rejects.toThrow('the pod has 500 sub paths, and this node shows 500 of one pod');
    expect(await prepare('a/b', 7)).toMatch(/app\/7$/);
    expect(mounter.mounts).toHaveLength(500);
  });

  it('makes folders that are missing, with the mode of the volume', async () => {
    const { volumePath, prepare } = await setUp();
    await chmod(volumePath, 0o2777);
    await prepare('a/new/deep');
    expect([
      (await stat(join(volumePath, 'a/new'))).mode & 0o7777,
      (await stat(join(volumePath, 'a/new/deep'))).mode & 0o7777,
    ]).toEqual([0o2777, 0o2777]);
  });

  it('makes nothing where nobody waits for it any more', async () => {
    const { volumePath, podFolder, mounter } = await setUp();
    const signal = AbortSignal.abort(new Error('it was given up'));
    const names = { volumeName: 'v', containerName: 'app', index: 0 };
    const given = prepareSubPath({ mounter, podFolder, volumePath, ...names, subPath: 'a/new/deep', signal });
    expect(await causeOf(given)).toContain('it was given up');
    expect((await readdir(join(volumePath, 'a'))).sort()).toEqual(['b', 'file']);
  });

  it.each([
    ['/a', 'error SubPath `/a` must not be an absolute path'],
    ['../v/a', "unable to provision SubPath `../v/a`: must not contain '..'"],
    ['a/../b', "unable to provision SubPath `a/../b`: must not contain '..'"],
    ['a/..', "unable to provision SubPath `a/..`: must not contain '..'"],
    ['out', 'the path leads out of the volume'],
    ['out/secret', 'the path leads out of the volume'],
    ['out/new', 'the path leads out of the volume'],
    ['root/etc', 'the path leads out of the volume'],
    ['up/w', 'the path leads out of the volume'],
    ['a/file/below', 'ENOTDIR'],
    ['dangling', 'ENOTDIR'],
    ['dangling/x', 'ENOTDIR'],
    ['loop', 'ELOOP'],
    ['a\0b', 'null bytes'],
    ['x'.repeat(300), 'ENAMETOOLONG'],
  ])('refuses %j, makes nothing and shows nothing', async (subPath, message) => {
    const { podFolder, volumePath, outside, mounter, prepare } = await setUp();
    await symlink(outside, join(volumePath, 'out'));
    await symlink('/', join(volumePath, 'root'));
    // a neighbour whose name begins alike
    await mkdir(`${volumePath}w`);
    await symlink('..', join(volumePath, 'up'));
    await symlink('loop', join(volumePath, 'loop'));
    await symlink(join(outside, 'new'), join(volumePath, 'dangling'));
    const failure = await causeOf(prepare(subPath));
    expect(failure).toContain(message);
    expect(failure.split(': ')[0]).toMatch(/SubPath|failed to create subPath directory for volumeMount "v" of container "app"/);
    expect([mounter.mounts, await readdir(outside), await readdir(podFolder)]).toEqual([[], ['secret'], ['volumes']]);
  });

  it('tells the pod nothing of the files of the node', async () => {
    const { volumePath, outside, prepare } = await setUp();
    await symlink(outside, join(volumePath, 'out'));
    await expect(prepare('out/x')).rejects.toThrow(/^failed to create subPath directory for volumeMount "v" of container "app"$/);
  });

  it('shows nothing of outside while the pod swaps its folders for links all the time', async () => {
    const { volumePath, outside, mounter, prepare } = await setUp();
    await mkdir(join(volumePath, 'swapped'));
    await writeFile(join(volumePath, 'swapped', 'secret'), 'mine');
    const [swapped, kept] = [join(volumePath, 'swapped'), join(volumePath, 'kept')];
    // the agent may make something in it meanwhile
    const remove = (): Promise<void> => rm(swapped, { recursive: true, force: true }).catch(() => {});
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        await rename(swapped, kept);
        await symlink(outside, swapped).catch(() => {});
        // a link, or what the agent has made meanwhile
        await remove();
        const back = (): Promise<boolean> =>
          rename(kept, swapped).then(
            () => true,
            () => false,
          );
        while (!(await back())) await remove();
      }
    })();
    const read: string[] = [];
    const { bind } = mounter;
    mounter.bind = async (source, target, options) => {
      // what is opened is what is shown, whatever the path says by now
      read.push(await readFile(source, 'utf8').catch(() => 'a folder'));
      return bind.call(mounter, source, target, options);
    };
    const results = new Map<string, number>();
    for (let round = 0; round < 200 || (results.size < 2 && round < 5000); round += 1) {
      const result = await prepare(round % 2 === 0 ? 'swapped/secret' : 'swapped/made').then(
        () => 'shown',
        () => 'refused',
      );
      results.set(result, (results.get(result) ?? 0) + 1);
    }
    isOver = true;
    await swapping;
    expect(new Set(read)).not.toContain('not yours');
    expect(await readdir(outside)).toEqual(['secret']);
    expect([...results.keys()].sort()).toEqual(['refused', 'shown']);
  });

  it.each([
    [{ volumeName: '../v' }, 'DNS labels'],
    [{ containerName: '..' }, 'DNS labels'],
    [{ index: -1 }, 'whole number'],
    [{ index: 0.5 }, 'whole number'],
  ])('refuses %j', async (member, message) => {
    const { podFolder, volumePath, mounter } = await setUp();
    const request = { mounter, podFolder, volumeName: 'v', containerName: 'app', index: 0, volumePath, subPath: 'a' };
    await expect(prepareSubPath({ ...request, ...member })).rejects.toThrow(message);
  });

  it('puts a folder in the place of a file, where the volume has changed', async () => {
    const { volumePath, mounter, prepare } = await setUp();
    const target = await prepare('a/file');
    await mounter.unmount(target);
    await rename(join(volumePath, 'a', 'b'), join(volumePath, 'a', 'c'));
    expect(await prepare('a/c')).toBe(target);
    expect((await stat(target)).isDirectory()).toBe(true);
  });
});
