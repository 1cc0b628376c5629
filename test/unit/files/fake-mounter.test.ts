import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeMounter } from '../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../support/temp-dir.ts';

describe('FakeMounter', () => {
  it('has what was mounted until it is unmounted, and then nothing of what was in memory', async () => {
    const folder = await tempDir();
    const mounter = new FakeMounter();
    await mounter.mountTmpfs(join(folder, 'memory'), { sizeBytes: 1 });
    await mounter.mountTmpfs(join(folder, 'memory'), { sizeBytes: 2 });
    await writeFile(join(folder, 'memory', 'file'), 'x');
    await mounter.bind(folder, join(folder, 'memory', 'file'), { readonly: true });
    expect(mounter.mounts.map(({ source, options }) => ({ source, options }))).toEqual([
      { source: undefined, options: { sizeBytes: 1 } },
      { source: folder, options: { readonly: true } },
    ]);
    const below = await mounter.mountsBelow(folder);
    expect(below).toEqual([join(folder, 'memory', 'file'), join(folder, 'memory')]);
    for (const target of below) await mounter.unmount(target);
    await mounter.unmount(join(folder, 'memory'));
    expect([await readdir(join(folder, 'memory')), mounter.mounts, await mounter.isTmpfs(join(folder, 'memory'))]).toEqual([
      [],
      [],
      false,
    ]);
  });
});
