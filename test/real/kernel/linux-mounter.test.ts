import { chmod, lstat, mkdir, open, readdir, readFile, realpath, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LinuxMounter } from '../../../src/kubelet.ts';
import { removeTree } from '../../../src/node/files/remove-tree.ts';
import { mounterContract } from '../../support/mounter-contract.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();
mounterContract('Linux mounter', () => new LinuxMounter());

async function setUp() {
  const folder = await realpath(await tempDir());
  const mounter = new LinuxMounter();
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  for (const path of [source, target]) await mkdir(path);
  await writeFile(join(source, 'file'), 'from the source');
  const end = async (): Promise<void> => {
    for (const path of await mounter.mountsBelow(folder)) await mounter.unmount(path);
  };
  return { folder, mounter, source, target, [Symbol.asyncDispose]: end };
}

describe('LinuxMounter', () => {
  it('bounds memory, and gives it its mode and group', async () => {
    await using test = await setUp();
    await test.mounter.mountTmpfs(test.target, { sizeBytes: 65_536, mode: 0o3777, gid: 123 });
    const { mode, gid } = await stat(test.target);
    expect([(mode & 0o7777).toString(8), gid]).toEqual(['3777', 123]);
    await writeFile(join(test.target, 'fits'), Buffer.alloc(32_768));
    await expect(writeFile(join(test.target, 'large'), Buffer.alloc(131_072))).rejects.toThrow('ENOSPC');
  });

  it('shows a folder and a file elsewhere, to be written or not', async () => {
    await using test = await setUp();
    await test.mounter.bind(test.source, test.target, {});
    await writeFile(join(test.target, 'new'), 'x');
    expect(await readdir(test.source)).toEqual(['file', 'new']);
    const readonly = join(test.folder, 'readonly');
    await writeFile(readonly, '');
    await test.mounter.bind(join(test.source, 'file'), readonly, { readonly: true });
    expect(await readFile(readonly, 'utf8')).toBe('from the source');
    await expect(writeFile(readonly, 'x')).rejects.toThrow('EROFS');
    await writeFile(join(test.source, 'file'), 'still possible');
  });

  it('shows what a handle of this process has opened, whatever stands at its path by now', async () => {
    await using test = await setUp();
    const handle = await open(test.source);
    await rename(test.source, join(test.folder, 'moved'));
    await symlink('/', test.source);
    await test.mounter.bind(`/proc/${process.pid}/fd/${handle.fd}`, test.target, {});
    await handle.close();
    expect(await readdir(test.target)).toEqual(['file']);
  });

  it('ends a mount that is in use, and the user keeps what is open', async () => {
    await using test = await setUp();
    await test.mounter.mountTmpfs(test.target, {});
    await writeFile(join(test.target, 'file'), 'in use');
    const handle = await open(join(test.target, 'file'));
    await test.mounter.unmount(test.target);
    expect([await test.mounter.mountsBelow(test.folder), await readdir(test.target)]).toEqual([[], []]);
    expect(await handle.readFile('utf8')).toBe('in use');
    await handle.close();
  });

  it('names the path in an error, and starts no shell', async () => {
    await using test = await setUp();
    const odd = join(test.folder, '$(touch shell) `touch shell`; touch shell');
    await expect(test.mounter.mountTmpfs(odd, {})).rejects.toThrow(`mount of ${odd} failed: mount:`);
    await expect(test.mounter.bind(join(test.folder, 'no'), test.target, {})).rejects.toThrow(`mount of ${test.target} failed`);
    await mkdir(odd);
    await test.mounter.mountTmpfs(odd, {});
    expect(await test.mounter.mountsBelow(odd)).toEqual([odd]);
    await expect(lstat('shell')).rejects.toThrow('ENOENT');
  });

  it('changes the owner of a link and not of what it leads to', async () => {
    await using test = await setUp();
    await symlink(join(test.source, 'file'), join(test.folder, 'link'));
    await test.mounter.changeOwner(join(test.folder, 'link'), { uid: 7, gid: 123 });
    await test.mounter.changeOwner(join(test.folder, 'link'), { gid: 124 });
    const [link, file] = [await lstat(join(test.folder, 'link')), await stat(join(test.source, 'file'))];
    expect([link.uid, link.gid, file.uid, file.gid]).toEqual([7, 124, 0, 0]);
  });

  it('finds mounts behind a symbolic link', async () => {
    await using test = await setUp();
    await symlink(test.folder, join(test.source, 'link'));
    await test.mounter.mountTmpfs(test.target, {});
    expect(await test.mounter.mountsBelow(join(test.source, 'link'))).toEqual([test.target]);
  });
});

describe('removeTree', () => {
  it.each(['a folder of the same file system', 'memory'])('removes nothing of %s that is mounted below', async (what) => {
    await using test = await setUp();
    const below = join(test.target, 'a', 'mounted');
    await mkdir(below, { recursive: true });
    if (what === 'memory') await test.mounter.mountTmpfs(below, {});
    else await test.mounter.bind(test.source, below, {});
    await writeFile(join(below, 'kept'), 'kept');
    await expect(removeTree(test.target)).rejects.toThrow('something is mounted below');
    expect(await readFile(join(below, 'kept'), 'utf8')).toBe('kept');
  });

  it('removes nothing of a file that is mounted below', async () => {
    await using test = await setUp();
    await writeFile(join(test.target, 'file'), '');
    await test.mounter.bind(join(test.source, 'file'), join(test.target, 'file'), {});
    await expect(removeTree(test.target)).rejects.toThrow('EBUSY');
    expect(await readFile(join(test.source, 'file'), 'utf8')).toBe('from the source');
  });

  it('removes what nobody but root may look into', async () => {
    await using test = await setUp();
    await mkdir(join(test.target, 'closed', 'in'), { recursive: true });
    await chmod(join(test.target, 'closed'), 0);
    await removeTree(test.target);
    await expect(lstat(test.target)).rejects.toThrow('ENOENT');
  });
});
