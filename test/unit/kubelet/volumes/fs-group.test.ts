import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyFsGroup } from '../../../../src/kubelet/volumes/fs-group.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { podOf, setUp } from '../csi/csi-world.ts';
import { never } from '../volumes/volumes-world.ts';

const refused = Object.assign(new Error('EPERM: operation not permitted, lchown'), { code: 'EPERM' });

const inTurn = <T>(call: () => Promise<T>): Promise<T> => call();

it('a file whose group cannot be changed keeps it, and all others get theirs', async () => {
  const folder = await tempDir();
  await mkdir(join(folder, 'sub'));
  for (const name of ['a', 'b', 'sub/c']) await writeFile(join(folder, name), '', { mode: 0o400 });
  const asked: string[] = [];
  const mounter = {
    async changeOwner(path: string): Promise<void> {
      asked.push(path);
      throw refused;
    },
  };
  const first = await applyFsGroup({ mounter, folder, gid: 77, onRootMismatch: false, signal: never, inTurn });
  expect([asked.length, first]).toEqual([5, refused]);
  const modes = await Promise.all(['', 'a', 'b', 'sub', 'sub/c'].map(async (name) => (await stat(join(folder, name))).mode));
  expect(modes.map((mode) => (mode & 0o2660).toString(8))).toEqual(['2660', '660', '660', '2660', '660']);
});

it('a tree that cannot be read to its end is told as such', async () => {
  const request = { mounter: { changeOwner: async () => {} }, gid: 77, onRootMismatch: false, signal: never, inTurn };
  await expect(applyFsGroup({ ...request, folder: join(await tempDir(), 'missing') })).rejects.toThrow('ENOENT');
});

it('a driver that refuses the group of its files keeps no pod from its start, and the log says so once', async () => {
  const test = await setUp({ requiresRepublish: true });
  test.mounter.changeOwner = () => Promise.reject(refused);
  const pod = podOf({}, { securityContext: { fsGroup: 77 } });
  expect((await test.manager.mountVolumes(pod, never)).size).toBe(1);
  await test.clock.advance(10_000);
  await test.manager.mountVolumes(pod, never);
  const words =
    'the group of files in the volume of a storage driver could not be changed; the pod goes on with them as they are';
  expect([test.published.length, test.warnings]).toEqual([2, [`${words} Error: ${refused.message}`]]);
});
