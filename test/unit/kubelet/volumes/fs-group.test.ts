import { type FileHandle, mkdir, readdir, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyFsGroup } from '../../../../src/kubelet/volumes/fs-group.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { podOf, setUp } from '../csi/csi-world.ts';
import { never } from '../volumes/volumes-world.ts';

const refused = Object.assign(new Error('EPERM: operation not permitted, lchown'), { code: 'EPERM' });

const inTurn = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => call(never);

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

/** What this process has open there. */
async function openedBelow(folder: string): Promise<number> {
  const handles = await readdir('/proc/self/fd');
  const paths = await Promise.all(handles.map((handle) => readlink(`/proc/self/fd/${handle}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(folder)).length;
}

it('a call that hangs is told at once, and what it uses is closed after it', async () => {
  const folder = await tempDir();
  await writeFile(join(folder, 'a'), '');
  const end = Promise.withResolvers<void>();
  const giveUp = Promise.withResolvers<never>();
  const begun = Promise.withResolvers<void>();
  const changeOwner = (): Promise<void> => {
    begun.resolve();
    return end.promise;
  };
  /** As the close of a handle in which a call hangs: it never says so. */
  const inTurn = async <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const given = await Promise.race([call(never), giveUp.promise]);
    const handle = given as Partial<FileHandle> | undefined;
    const close = handle?.close?.bind(handle);
    if (close !== undefined) {
      Object.assign(given as object, {
        close: () => {
          close().catch(() => {});
          return new Promise<never>(() => {});
        },
      });
    }
    return given;
  };
  const work = applyFsGroup({ mounter: { changeOwner }, folder, gid: 77, onRootMismatch: false, signal: never, inTurn });
  await begun.promise;
  giveUp.reject(new Error('it hangs'));
  await expect(work).rejects.toThrow('it hangs');
  expect(await openedBelow(folder)).toBeGreaterThan(0);
  end.resolve();
  await until(async () => (await openedBelow(folder)) === 0);
});

it('what opens only when nobody waits for it any more is closed', async () => {
  const folder = await tempDir();
  const late = <T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> => call(AbortSignal.abort(new Error('too late')));
  const request = { mounter: { changeOwner: async () => {} }, folder, gid: 77, onRootMismatch: false, signal: never };
  await expect(applyFsGroup({ ...request, inTurn: late })).rejects.toThrow('too late');
  await until(async () => (await openedBelow(folder)) === 0);
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
