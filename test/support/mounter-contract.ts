import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Mounter } from '../../src/kubelet.ts';
import { tempDir } from './temp-dir.ts';

/** What a mounter promises, whether its mounts are real or not. */
export function mounterContract(name: string, makeMounter: () => Mounter): void {
  async function setUp() {
    const folder = await realpath(await tempDir());
    const mounter = makeMounter();
    const make = async (path: string): Promise<string> => {
      await mkdir(join(folder, path), { recursive: true });
      return join(folder, path);
    };
    const ended = {
      [Symbol.asyncDispose]: async () => {
        for (const path of await mounter.mountsBelow(folder)) await mounter.unmount(path);
      },
    };
    return { folder, mounter, make, ...ended };
  }

  describe(`a ${name} keeps its promises`, () => {
    it('memory that was mounted twice is there once, and gone with all it held', async () => {
      await using test = await setUp();
      const target = await test.make('memory');
      expect(await test.mounter.isTmpfs(target)).toBe(false);
      await test.mounter.mountTmpfs(target, {});
      await test.mounter.mountTmpfs(target, {});
      await writeFile(join(target, 'file'), 'x');
      expect([await test.mounter.isTmpfs(target), await test.mounter.mountsBelow(test.folder)]).toEqual([true, [target]]);
      await test.mounter.unmount(target);
      expect([await test.mounter.isTmpfs(target), await readdir(target), await test.mounter.mountsBelow(test.folder)]).toEqual([
        false,
        [],
        [],
      ]);
    });

    it('what is not mounted, and what is not there, is unmounted without an error, and is no memory', async () => {
      await using test = await setUp();
      await test.mounter.unmount(await test.make('plain'));
      await test.mounter.unmount(join(test.folder, 'missing'));
      expect(await test.mounter.isTmpfs(join(test.folder, 'missing'))).toBe(false);
      expect(await test.mounter.mountsBelow(join(test.folder, 'missing'))).toEqual([]);
    });

    it('mounts are listed from the deepest up, and those of neighbours not at all', async () => {
      await using test = await setUp();
      await test.make('a/b');
      const [above, beside, source] = [await test.make('a'), await test.make('ab'), await test.make('source')];
      for (const path of [above, beside]) await test.mounter.mountTmpfs(path, {});
      const below = await test.make('a/b/c d');
      await test.mounter.bind(source, below, {});
      await test.mounter.bind(source, below, {});
      expect(await test.mounter.mountsBelow(above)).toEqual([below, below, above]);
    });

    it('a call whose signal has aborted mounts nothing', async () => {
      await using test = await setUp();
      const target = await test.make('memory');
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(test.mounter.mountTmpfs(target, {}, gone)).rejects.toThrow('gone');
      await expect(test.mounter.bind(test.folder, target, {}, gone)).rejects.toThrow('gone');
      expect(await test.mounter.mountsBelow(test.folder)).toEqual([]);
    });
  });
}
