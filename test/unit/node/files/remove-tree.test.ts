import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFoldersIn, openFolder } from '../../../../src/node/files/opened-folder.ts';
import { removeTree } from '../../../../src/node/files/remove-tree.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

describe('removeTree', () => {
  it('removes folders with all that is in them, files, links, and what is not there', async () => {
    const dir = await tempDir();
    const tree = join(dir, 'tree');
    for (const name of ['a/b/c', 'a/d', 'e']) await mkdir(join(tree, name), { recursive: true });
    for (const name of ['a/1', 'a/b/2', 'a/b/c/3', '4', '.5']) await writeFile(join(tree, name), 'x');
    await writeFile(join(dir, 'file'), 'x');
    await symlink('nowhere', join(dir, 'link'));
    for (const name of ['tree', 'file', 'link', 'absent']) await removeTree(join(dir, name));
    expect(await readdir(dir)).toEqual([]);
  });

  it('follows no symbolic link', async () => {
    const [dir, outside] = [await tempDir(), await tempDir()];
    await writeFile(join(outside, 'kept'), 'kept');
    await mkdir(join(dir, 'tree', 'a'), { recursive: true });
    await symlink(outside, join(dir, 'tree', 'a', 'link'));
    await symlink('/', join(dir, 'tree', 'root'));
    await symlink('..', join(dir, 'tree', 'a', 'up'));
    await symlink(outside, join(dir, 'itself'));
    await removeTree(join(dir, 'itself'));
    await removeTree(join(dir, 'tree'));
    expect([await readdir(dir), await readFile(join(outside, 'kept'), 'utf8')]).toEqual([[], 'kept']);
  });

  it('removes names that are no valid text', async () => {
    const dir = await tempDir();
    const bytes = (...names: Buffer[]): Buffer =>
      Buffer.concat([Buffer.from(`${dir}/tree`), ...names.flatMap((name) => [Buffer.from('/'), name])]);
    const [odd, other] = [Buffer.from([0xff, 0xfe, 0x41]), Buffer.from('line\nend \\ "')];
    await mkdir(bytes(odd, other), { recursive: true });
    await writeFile(bytes(odd, Buffer.from([0xc3])), 'x');
    await removeTree(join(dir, 'tree'));
    expect(await exists(join(dir, 'tree'))).toBe(false);
  });

  it('removes a tree that is deeper than a path can be long, with two files open', async () => {
    const dir = await tempDir();
    const tree = join(dir, 'tree');
    await mkdir(tree);
    const names = Array.from({ length: 300 }, () => 'n'.repeat(20));
    await (await makeFoldersIn(await openFolder(tree), names, 0o755)).close();
    await removeTree(tree);
    expect(await exists(tree)).toBe(false);
  });

  it('removes a folder with 2,000 files and 200 folders', async () => {
    const dir = await tempDir();
    const tree = join(dir, 'tree');
    await mkdir(tree);
    for (let n = 0; n < 200; n += 1) await mkdir(join(tree, `folder-${n}`));
    const writing = Array.from({ length: 2000 }, (_, n) => join(tree, n % 10 === 0 ? `folder-${n % 200}` : '.', `file-${n}`));
    for (const path of writing) await writeFile(path, '');
    await removeTree(tree);
    expect(await exists(tree)).toBe(false);
  });
});
