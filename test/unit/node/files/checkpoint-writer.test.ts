import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CheckpointWriter, mostCheckpointBytes } from '../../../../src/node/files/checkpoint-writer.ts';
import { tempDir } from '../../../support/temp-dir.ts';

it('writes what is known when a write begins, and those who come while one waits share it', async () => {
  const path = join(await tempDir(), 'new', 'checkpoint');
  let known = 'one';
  const asked: string[] = [];
  const text = (): string => {
    asked.push(known);
    return known;
  };
  const ended: unknown[] = [];
  const writer = new CheckpointWriter({ path, text, folderMode: 0o750, ended: (error) => ended.push(error) });
  const first = writer.save();
  await Promise.resolve();
  known = 'two';
  const shared = [writer.save(), writer.save()];
  known = 'three';
  await first;
  await Promise.all(shared);
  expect([asked, ended, await readFile(path, 'utf8')]).toEqual([['one', 'three'], [undefined, undefined], 'three']);
  expect([(await stat(path)).mode & 0o777, (await stat(join(path, '..'))).mode & 0o777]).toEqual([0o600, 0o750]);
});

it('a write that fails is told once, leaves the file, and keeps no later one from it', async () => {
  const folder = await tempDir();
  const path = join(folder, 'checkpoint');
  await writeFile(path, 'old');
  const ended: string[] = [];
  let known = 'x'.repeat(mostCheckpointBytes + 1);
  const writer = new CheckpointWriter({ path, text: () => known, ended: (error) => ended.push(String(error)) });
  const failing = [writer.save(), writer.save()];
  const words = `${path} would have 67108865 bytes, and 67108864 are the most that are read again`;
  for (const write of failing) await expect(write).rejects.toThrow(words);
  expect([await readdir(folder), await readFile(path, 'utf8'), ended]).toEqual([['checkpoint'], 'old', [`Error: ${words}`]]);
  known = 'new';
  await rm(path);
  await mkdir(join(path, 'full'), { recursive: true });
  await expect(writer.save()).rejects.toThrow();
  await rm(path, { recursive: true });
  await writer.save();
  expect(await readFile(path, 'utf8')).toBe('new');
  void writer.save();
  known = 'last';
  void writer.save();
  await writer.settled();
  expect(await readFile(path, 'utf8')).toBe('last');
});

it('makes no folder that it is not to make', async () => {
  const folder = join(await tempDir(), 'gone');
  await expect(new CheckpointWriter({ path: join(folder, 'checkpoint'), text: () => 'x' }).save()).rejects.toThrow('ENOENT');
});
