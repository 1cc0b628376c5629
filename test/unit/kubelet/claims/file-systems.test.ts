import { mkdir, realpath, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fileSystemOf } from '../../../../src/kubelet/claims/file-systems.ts';
import { tempDir } from '../../../support/temp-dir.ts';

it('a mount point is the file system that is mounted there, whatever stands at the end of its name', async () => {
  const { dev } = await stat('/proc');
  const found = await fileSystemOf('/proc');
  expect(found.key).toBe(`${dev >> 8}:${dev & 0xff}`);
  expect(await fileSystemOf('/proc/')).toEqual(found);
  expect(found.group).toMatch(/^proc /);
});

it('a folder in a mount counts for itself: it may lead elsewhere', async () => {
  const [one, two] = [await fileSystemOf('/proc/self'), await fileSystemOf('/proc/sys')];
  const { key } = await fileSystemOf('/proc');
  expect([one.key, two.key]).toEqual([`${key} /proc/self`, `${key} /proc/sys`]);
  expect(one.group).toBe(one.key);
});

it("the agent's own folder is found behind symbolic links", async () => {
  const folder = await realpath(await tempDir());
  await mkdir(join(folder, 'real/pods'), { recursive: true });
  await symlink('real', join(folder, 'link'));
  const found = await fileSystemOf(join(folder, 'link/pods'), join(folder, 'link'));
  expect(found).toEqual(await fileSystemOf(join(folder, 'real/pods')));
});
