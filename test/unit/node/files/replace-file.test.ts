import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { replaceFile } from '../../../../src/node/files/replace-file.ts';
import { tempDir } from '../../../support/temp-dir.ts';

it('a file is replaced in one step, also after a write that was cut short', async () => {
  const folder = await tempDir();
  const path = join(folder, 'a.pem');
  await writeFile(path, 'old', { mode: 0o644 });
  await writeFile(`${path}.new`, 'half', { mode: 0o666 });
  const before = await stat(path);
  await replaceFile(path, 'new', 0o600);
  expect(await readFile(path, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['a.pem']);
  const after = await stat(path);
  expect([after.mode & 0o777, after.ino === before.ino]).toEqual([0o600, false]);
});
