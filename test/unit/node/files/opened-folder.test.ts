import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFoldersIn, openBelow, openFolder, openInside, openToRead } from '../../../../src/node/files/opened-folder.ts';
import { tempDir } from '../../../support/temp-dir.ts';

async function setUp() {
  const outside = await tempDir();
  const base = await tempDir();
  await mkdir(join(base, 'a', 'b'), { recursive: true });
  await writeFile(join(base, 'a', 'file'), 'mine');
  await writeFile(join(outside, 'file'), 'not mine');
  return { base, outside };
}

const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

describe('openInside', () => {
  const read = async (base: string, path: string): Promise<string> => {
    await using found = await openInside(base, path);
    await using file = await openToRead(found);
    return file.readFile('utf8');
  };

  it.each([
    ['a/file', 'mine'],
    ['./a//b/../file', 'mine'],
    ['../../a/file', 'mine'],
    ['link/file', 'mine'],
    ['deep/up', 'mine'],
    ['rooted', 'mine'],
  ])('reads %s as if the folder were all there is', async (path, expected) => {
    const { base } = await setUp();
    await symlink('a', join(base, 'link'));
    await mkdir(join(base, 'deep'));
    await symlink('../../../a/file', join(base, 'deep', 'up'));
    await symlink('/link/file', join(base, 'rooted'));
    const before = await openFiles();
    expect(await read(base, path)).toBe(expected);
    expect(await openFiles()).toBe(before);
  });

  it.each([
    'out',
    'above',
    'round',
    'a/file/x',
    'none',
    'x/'.repeat(1000),
  ])('finds nothing at %s, and leaves nothing open', async (path) => {
    const { base, outside } = await setUp();
    await symlink(join(outside, 'file'), join(base, 'out'));
    await symlink(`../${outside.split('/').at(-1)}/file`, join(base, 'above'));
    await symlink('round', join(base, 'round'));
    const before = await openFiles();
    await expect(openInside(base, path)).rejects.toThrow(/ENOENT|ENOTDIR|too many parts/);
    expect(await openFiles()).toBe(before);
  });
});

describe('openBelow', () => {
  it('opens a file, a folder and the base itself', async () => {
    const { base } = await setUp();
    for (const names of [['a', 'file'], ['a', 'b'], []]) {
      const handle = await openBelow(base, names);
      expect((await handle.stat()).ino).toBe((await stat(join(base, ...names))).ino);
      await handle.close();
    }
  });

  it.each(['end', 'middle', 'start'])('follows no symbolic link at the %s, and leaves nothing open', async (place) => {
    const { base, outside } = await setUp();
    await symlink(outside, join(base, 'a', 'link'));
    await symlink(join(outside, 'file'), join(base, 'a', 'filelink'));
    await symlink(base, join(outside, 'base'));
    const before = await openFiles();
    const opened =
      place === 'end'
        ? openBelow(base, ['a', 'filelink'])
        : place === 'middle'
          ? openBelow(base, ['a', 'link', 'file'])
          : openBelow(join(outside, 'base'), ['a', 'file']);
    await expect(opened).rejects.toThrow(place === 'end' ? 'symbolic link' : 'ENOTDIR');
    expect(await openFiles()).toBe(before);
  });

  it.each([['..'], ['.'], [''], ['a/b'], ['a\0']])('refuses %j as a name', async (name) => {
    const { base } = await setUp();
    await expect(openBelow(base, ['a', name])).rejects.toThrow('no plain name');
  });

  it('reaches what it has opened, wherever it is moved and whatever comes into its place', async () => {
    const { base, outside } = await setUp();
    const handle = await openBelow(base, ['a']);
    await rename(join(base, 'a'), join(base, 'moved'));
    await symlink(outside, join(base, 'a'));
    expect(await readFile(`/proc/self/fd/${handle.fd}/file`, 'utf8')).toBe('mine');
    await handle.close();
  });
});

describe('makeFoldersIn', () => {
  it('makes what is missing with the mode, whatever the umask is, and leaves what is there', async () => {
    const { base } = await setUp();
    const before = (await stat(join(base, 'a'))).mode;
    const umask = process.umask(0o077);
    try {
      await (await makeFoldersIn(await openFolder(base), ['a', 'new', 'deep'], 0o2777)).close();
    } finally {
      process.umask(umask);
    }
    const modes = await Promise.all(['a/new', 'a/new/deep'].map(async (path) => (await stat(join(base, path))).mode & 0o7777));
    expect([modes, (await stat(join(base, 'a'))).mode]).toEqual([[0o2777, 0o2777], before]);
  });

  it('makes nothing behind a symbolic link, nor where a file stands', async () => {
    const { base, outside } = await setUp();
    await symlink(outside, join(base, 'link'));
    await symlink(join(outside, 'missing'), join(base, 'dangling'));
    for (const names of [['link', 'new'], ['dangling', 'new'], ['dangling'], ['a', 'file', 'new'], ['..', 'new']]) {
      const before = await openFiles();
      await expect(makeFoldersIn(await openFolder(base), names, 0o755)).rejects.toThrow(/ENOTDIR|no plain name/);
      expect(await openFiles()).toBe(before);
    }
    expect(await readdir(outside)).toEqual(['file']);
  });

  it('leaves nothing open where the mode of a new folder cannot be set', async () => {
    const { base } = await setUp();
    const before = await openFiles();
    await expect(makeFoldersIn(await openFolder(base), ['new'], 2 ** 32)).rejects.toThrow('out of range');
    expect(await openFiles()).toBe(before);
  });
});

it.each([
  ['openBelow', (base: string) => openBelow(base, ['a', 'file'])],
  ['openInside', (base: string) => openInside(base, 'a/file')],
])('%s leaves nothing open where it cannot be said what was opened', async (_, opening) => {
  const { base } = await setUp();
  await using folder = await openFolder(base);
  vi.spyOn(Object.getPrototypeOf(folder) as typeof folder, 'stat').mockRejectedValueOnce(new Error('EIO'));
  onTestFinished(() => void vi.restoreAllMocks());
  const before = await openFiles();
  await expect(opening(base)).rejects.toThrow('EIO');
  expect(await openFiles()).toBe(before);
});
