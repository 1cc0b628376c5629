import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PodFolders } from '../../../../src/node/provider/pod-folders.ts';
import type { NodePod, ResolvedFiles } from '../../../../src/node/provider/pod-provider.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const uid = 'b0a7c0de-0000-4000-8000-000000000001';
const otherUID = 'b0a7c0de-0000-4000-8000-000000000002';
const podOf = (podUID = uid): NodePod => ({
  metadata: { uid: podUID, name: 'web', namespace: 'default' },
  spec: { containers: [] },
});

const filesOf = (volumes: Record<string, Record<string, string>>, mode = 0o640): ResolvedFiles =>
  Object.fromEntries(
    Object.entries(volumes).map(([volume, files]) => [
      volume,
      Object.fromEntries(Object.entries(files).map(([path, text]) => [path, { data: Buffer.from(text), mode }])),
    ]),
  );

async function foldersIn(base?: string, nodeName = 'node-1'): Promise<{ folder: string; folders: PodFolders }> {
  const folder = base ?? join(await tempDir(), 'run', 'files');
  return { folder, folders: new PodFolders({ folder, nodeName, clock: new FakeClock() }) };
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

describe('the folder of a pod', () => {
  it('has the files of its volumes, with their modes, and only the agent gets into it', async () => {
    const { folder, folders } = await foldersIn();
    const { folders: made, failures } = await folders.write(podOf(), filesOf({ keys: { 'etc/key': 's3cret' }, about: {} }));
    expect(failures.size).toBe(0);
    expect(made).toEqual({ keys: join(folder, uid, 'volumes', 'keys'), about: join(folder, uid, 'volumes', 'about') });
    const path = join(made.keys ?? '', 'etc/key');
    expect(await readFile(path, 'utf8')).toBe('s3cret');
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect((await stat(join(folder, uid))).mode & 0o777).toBe(0o750);
  });

  it('is brought up to date with one change for all files of a volume, and with none where they are the same', async () => {
    const { folders } = await foldersIn();
    const { folders: made } = await folders.write(podOf(), filesOf({ keys: { a: '1', b: '1' } }));
    const data = join(made.keys ?? '', '..data');
    const before = await lstat(data);
    await folders.write(podOf(), filesOf({ keys: { a: '1', b: '1' } }));
    expect((await lstat(data)).ino).toBe(before.ino);
    await folders.write(podOf(), filesOf({ keys: { a: '2', c: '2' } }));
    expect((await readdir(made.keys ?? '')).filter((name) => !name.startsWith('..')).sort()).toEqual(['a', 'c']);
    expect(await readFile(join(made.keys ?? '', 'a'), 'utf8')).toBe('2');
  });

  it('is removed with all that is in it, and what a symbolic link leads to stays', async () => {
    const { folder, folders } = await foldersIn();
    const outside = await tempDir();
    await writeFile(join(outside, 'kept'), '');
    await folders.write(podOf(), filesOf({ keys: { a: '1' } }));
    await symlink(outside, join(folder, uid, 'volumes', 'link'));
    await folders.remove(uid);
    expect(await readdir(folder)).toEqual([]);
    expect(await readdir(outside)).toEqual(['kept']);
    await folders.remove(uid);
  });

  it('is not removed where something else has its name, or another node has made it', async () => {
    const { folder, folders } = await foldersIn();
    const { folders: others } = await foldersIn(folder, 'node-2');
    await others.write(podOf(otherUID), filesOf({ keys: { a: '1' } }));
    await mkdir(join(folder, uid));
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'file'), '');
    expect(await folders.onDisk()).toEqual([]);
    for (const name of [uid, otherUID, 'notes', '..']) await folders.remove(name);
    expect((await readdir(folder)).sort()).toEqual([uid, otherUID, 'file', 'notes'].sort());
    expect(await others.onDisk()).toEqual([otherUID]);
  });

  it('follows no symbolic link that stands in its place', async () => {
    const { folder, folders } = await foldersIn();
    const elsewhere = await foldersIn();
    await elsewhere.folders.write(podOf(), filesOf({ keys: { a: '1' } }));
    await mkdir(folder, { recursive: true });
    await symlink(join(elsewhere.folder, uid), join(folder, uid));
    expect(await folders.onDisk()).toEqual([]);
    await folders.remove(uid);
    expect(await isThere(join(elsewhere.folder, uid, 'volumes', 'keys', 'a'))).toBe(true);
    await expect(folders.write(podOf(), filesOf({ keys: { a: '2' } }))).rejects.toThrow();
    expect(await readFile(join(elsewhere.folder, uid, 'volumes', 'keys', 'a'), 'utf8')).toBe('1');
  });

  it('is refused for a uid that could be another path', async () => {
    const { folder, folders } = await foldersIn();
    for (const name of ['../../etc', '.', '', `${uid}/..`]) await expect(folders.write(podOf(name), {})).rejects.toThrow('uid');
    expect(await isThere(folder)).toBe(false);
  });

  it('has the other volumes where one cannot be written', async () => {
    const { folders } = await foldersIn();
    const { folders: made, failures } = await folders.write(
      podOf(),
      filesOf({ '../up': { a: '1' }, bad: { '../../a': '1' }, good: { a: '1' } }),
    );
    expect(Object.keys(made)).toEqual(['good']);
    expect([...failures.keys()].sort()).toEqual(['../up', 'bad']);
  });

  it('has no more than a pod may have, until it is removed', async () => {
    const { folders } = await foldersIn();
    const large = 'x'.repeat(9 * 1024 * 1024);
    const { failures } = await folders.write(podOf(), filesOf({ one: { a: large }, two: { a: large } }));
    expect(String([...failures.values()][0])).toContain('more than a provider node writes for one pod, 16777216 bytes');
    const uidOf = (index: number) => otherUID.slice(0, -2) + String(index).padStart(2, '0');
    let written = 0;
    while (written < 40) {
      const { failures: none } = await folders.write(podOf(uidOf(written)), filesOf({ one: { a: large } }));
      if (none.size > 0) break;
      written += 1;
    }
    expect(written).toBeLessThan(30);
    await folders.remove(uidOf(0));
    const { failures: none } = await folders.write(podOf(uidOf(written)), filesOf({ one: { a: large } }));
    expect(none.size).toBe(0);
  });
});
