import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readBoundedFile, readCredentialFile } from '../../../../src/client/kubeconfig/bounded-file.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const mebibyte = 1024 * 1024;

async function fileOf(content: string): Promise<string> {
  const path = join(await tempDir(), 'file');
  await writeFile(path, content);
  return path;
}

const coded = (code: string) => expect.objectContaining({ code });

describe('a bounded file', () => {
  it.each([0, 1, 10, 70_000])('has all of %d bytes, and is refused where one less is allowed', async (size) => {
    const content = 'ab'.repeat(size).slice(0, size);
    const path = await fileOf(content);
    expect(readBoundedFile(path, size).toString()).toBe(content);
    if (size > 0) expect(() => readBoundedFile(path, size - 1)).toThrow(coded('EFBIG'));
  });

  it('takes no more memory than it has bytes', async () => {
    // smaller ones share a buffer of Node.js
    const path = await fileOf('x'.repeat(40_000));
    expect(readBoundedFile(path, mebibyte).buffer.byteLength).toBe(40_001);
  });

  it('may be a pipe, which is read to its end', async () => {
    const content = 'x'.repeat(200_000);
    const [path, pipe] = [await fileOf(content), join(await tempDir(), 'pipe')];
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', 'cat "$0" > "$1"', path, pipe], { stdio: 'ignore' });
    const ended = once(writer, 'exit');
    expect(readBoundedFile(pipe, mebibyte).toString()).toBe(content);
    await ended;
  });

  it('may be one whose size is not known', () => {
    const environment = readBoundedFile('/proc/self/environ', mebibyte);
    expect(environment.length).toBeGreaterThan(0);
    expect(() => readBoundedFile('/proc/self/environ', environment.length - 1)).toThrow(coded('EFBIG'));
    expect(() => readBoundedFile('/dev/zero', 200_000)).toThrow(coded('EFBIG'));
    expect(readBoundedFile('/dev/null', 10)).toHaveLength(0);
  });
});

describe('a file with a token or TLS material', () => {
  it('has at most 1 MiB', async () => {
    expect(readCredentialFile(await fileOf('x'.repeat(mebibyte)))).toHaveLength(mebibyte);
    const path = await fileOf('x'.repeat(mebibyte + 1));
    expect(() => readCredentialFile(path)).toThrow(coded('EFBIG'));
  });

  it('is no pipe, which could hold up the process, no device and no folder', async () => {
    const folder = await tempDir();
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(() => readCredentialFile(pipe)).toThrow(coded('EFTYPE'));
    expect(() => readCredentialFile('/dev/null')).toThrow(coded('EFTYPE'));
    expect(() => readCredentialFile(folder)).toThrow(coded('EISDIR'));
    expect(() => readCredentialFile(join(folder, 'none'))).toThrow(coded('ENOENT'));
  });
});
