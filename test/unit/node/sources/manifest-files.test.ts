import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FilesToRead, ManifestFiles, readManifestFile } from '../../../../src/node/sources/manifest-files.ts';
import type { DecodeManifest } from '../../../../src/node/sources/pod-source.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { namesOf, recordedLog } from './sent-lists.ts';

/** A manifest is a line `pod NAME`; everything else breaks a rule. */
const decode: DecodeManifest = (text, { source, isFile, nodeName }) => {
  const name = /^pod (\S+)\n$/.exec(text)?.[1];
  if (name === undefined || !isFile) throw new Error(`${source} is no manifest`);
  return [{ metadata: { name: `${name}-${nodeName}`, namespace: 'default', uid: source } }];
};

async function setUp({ path = '', maxBytes = 100 } = {}) {
  const dir = await tempDir();
  const { lines, logger } = recordedLog();
  const time = { now: 0 };
  const opened: string[] = [];
  const textOf = (file: string, bytes: number): Promise<string> => {
    opened.push(file);
    return readManifestFile(file, bytes);
  };
  const now = (): number => time.now;
  const files = new ManifestFiles({ path: join(dir, path), nodeName: 'n1', maxBytes, decode, now, textOf, logger });
  const read = async (signal = new AbortController().signal): Promise<string> => namesOf((await files.read(signal)).pods);
  return {
    dir,
    at: (name: string) => join(dir, name),
    files,
    read,
    lines,
    time,
    /** The names of the files that such a reading opens. */
    opened: async (filesToRead: FilesToRead): Promise<string> => {
      opened.length = 0;
      await files.read(new AbortController().signal, filesToRead);
      return opened.map((file) => basename(file)).join(' ');
    },
    write: (name: string, text: string) => writeFile(join(dir, name), text),
  };
}

describe('ManifestFiles of a directory', () => {
  it('reads every file in order, none whose name begins with a dot, and enters no directory', async () => {
    const { write, read, at } = await setUp();
    await write('b.yaml', 'pod b\n');
    await write('a.json', 'pod a\n');
    await write('.hidden.yaml', 'pod hidden\n');
    await mkdir(at('sub'));
    await write('sub/c.yaml', 'pod c\n');
    expect(await read()).toBe('a-n1 b-n1');
  });

  it('reads the files in the order of their names, in whatever order they were made', async () => {
    const { write, read } = await setUp();
    const names = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + ((index * 11) % 26)));
    for (const name of names) await write(name, `pod ${name}\n`);
    expect(await read()).toBe(
      names
        .sort()
        .map((name) => `${name}-n1`)
        .join(' '),
    );
  });

  it('gives the same objects while a file has not changed, and others once it has', async () => {
    const { write, files } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod b\n');
    const { signal } = new AbortController();
    const first = await files.read(signal);
    await write('b', 'pod c\n');
    const second = await files.read(signal);
    expect([second.pods[0] === first.pods[0], namesOf(second.pods)]).toEqual([true, 'a-n1 c-n1']);
  });

  it('drops the pods of a file that is gone, and takes a new one up', async () => {
    const { write, read, at } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod b\n');
    expect(await read()).toBe('a-n1 b-n1');
    await rm(at('a'));
    await rename(at('b'), at('c'));
    expect(await read()).toBe('b-n1');
  });

  it('keeps the pods of a file that was good and is half-written now, until it is good again or gone', async () => {
    const { write, read, at, lines } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod b\n');
    await read();
    for (const half of ['po', '', 'pod']) {
      await write('a', half);
      expect(await read()).toBe('a-n1 b-n1');
    }
    expect(lines).toEqual(['warn: the manifest cannot be used; the pods of its last good content stay']);
    await write('a', 'pod c\n');
    expect(await read()).toBe('c-n1 b-n1');
    await write('a', 'po');
    expect(await read()).toBe('c-n1 b-n1');
    await rm(at('a'));
    expect(await read()).toBe('b-n1');
  });

  it('leaves out a file that was never good, and logs it once for each problem', async () => {
    const { write, read, lines } = await setUp();
    await write('a', 'nonsense');
    await write('b', 'pod b\n');
    expect([await read(), await read(), await read()]).toEqual(['b-n1', 'b-n1', 'b-n1']);
    expect(lines).toEqual(['warn: the manifest cannot be used; it is left out']);
    await write('a', 'pod a\n');
    expect(await read()).toBe('a-n1 b-n1');
    await write('a', 'nonsense');
    await read();
    expect(lines).toHaveLength(2);
  });

  it('takes a file that is as long as allowed, and none that is longer or never ends', async () => {
    const { write, read, at } = await setUp({ maxBytes: 70_000 });
    const name = 'x'.repeat(70_000 - 'pod \n'.length);
    await write('long', `pod ${name}\n`);
    await write('longer', `pod ${name}x\n`);
    await symlink('/dev/zero', at('zero'));
    await symlink('/proc/self/pagemap', at('endless'));
    await write('small', 'pod small\n');
    expect(await read()).toBe(`${name}-n1 small-n1`);
  });

  it('waits for no pipe and no socket, and follows links', async () => {
    const { write, read, at } = await setUp();
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    onTestFinished(() => void server.close());
    await symlink(at('pipe'), at('link-to-pipe'));
    await symlink(at('nowhere'), at('link-to-nothing'));
    await symlink(at('loop'), at('loop'));
    await mkdir(at('sub'));
    await write('sub/target', 'pod linked\n');
    await symlink(at('sub/target'), at('link'));
    await write('last', 'pod last\n');
    expect(await read()).toBe('last-n1 linked-n1');
  });

  it('has no pods of a file that has become something else', async () => {
    const { write, read, at } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod b\n');
    await read();
    await rm(at('a'));
    await mkdir(at('a'));
    expect(await read()).toBe('b-n1');
    await rm(at('b'));
    const server = createServer().listen(at('b'));
    onTestFinished(() => void server.close());
    expect(await read()).toBe('');
  });

  it('leaves out what is no text', async () => {
    const { read, at, write } = await setUp();
    await writeFile(at('binary'), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    await writeFile(at('b'), Buffer.from('pod \xff\n', 'latin1'));
    await write('c', 'pod c\n');
    expect(await read()).toBe('c-n1');
  });

  it('keeps the pods of a file that cannot be read any more', async () => {
    const { write, read, at, lines } = await setUp();
    await write('a', 'pod a\n');
    await read();
    await rm(at('a'));
    // a file whose reading fails, for root too
    await symlink('/proc/self/mem', at('a'));
    expect([await read(), lines]).toEqual([
      'a-n1',
      ['warn: the manifest cannot be used; the pods of its last good content stay'],
    ]);
  });

  it('takes the later file of two that have one pod, and says so once', async () => {
    const { write, files, lines, at } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod a\n');
    const { signal } = new AbortController();
    await files.read(signal);
    const { pods } = await files.read(signal);
    expect(pods.map(({ metadata }) => metadata?.uid)).toEqual([at('b')]);
    expect(lines).toEqual(['warn: two manifests name one pod; that of the later path counts']);
  });

  it('has no pods where there is no directory, and says so', async () => {
    const { files, at, lines, read, write } = await setUp({ path: 'later' });
    const { signal } = new AbortController();
    expect(await files.read(signal)).toEqual({ isThere: false, pods: [] });
    expect(await files.read(signal)).toEqual({ isThere: false, pods: [] });
    expect(lines).toEqual(['warn: the path does not exist; there are no pods']);
    await mkdir(at('later'));
    expect(await files.read(signal)).toEqual({ isThere: true, pods: [] });
    await write('later/a', 'pod a\n');
    expect(await read()).toBe('a-n1');
    await rm(at('later'), { recursive: true });
    expect(await read()).toBe('');
  });

  it('rejects where the path cannot be read or is something else, and forgets nothing', async () => {
    const { files, at, read, write } = await setUp({ path: 'dir' });
    await mkdir(at('dir'));
    await write('dir/a', 'pod a\n');
    await read();
    await rename(at('dir'), at('dir2'));
    execFileSync('mkfifo', [at('dir')]);
    await expect(files.read(new AbortController().signal)).rejects.toThrow(/neither a directory nor a file/);
    await rm(at('dir'));
    await rename(at('dir2'), at('dir'));
    await write('dir/a', 'po');
    expect(await read()).toBe('a-n1');
  });
});

describe('ManifestFiles that reads what has changed', () => {
  it('opens no file that says by its times and its size that it is as it was, and each one that does not', async () => {
    const { files, write, opened, time } = await setUp();
    await write('a', 'pod a\n');
    await write('b', 'pod b\n');
    await opened('all');
    time.now = 2000;
    expect([await opened('all'), await opened('changed')]).toEqual(['a b', '']);
    await write('b', 'pod c\n');
    expect(await opened('changed')).toBe('b');
    const { pods } = await files.read(new AbortController().signal, 'changed');
    expect([namesOf(pods), await opened('all')]).toEqual(['a-n1 c-n1', 'a b']);
  });

  it('opens a file that changed a short time ago: the times of two changes may be the same', async () => {
    const { write, opened, time } = await setUp();
    const openedAt = (now: number): Promise<string> => {
      time.now = now;
      return opened('changed');
    };
    await write('a', 'pod a\n');
    expect([await openedAt(0), await openedAt(1999), await openedAt(2000), await openedAt(2001)]).toEqual(['a', 'a', 'a', '']);
    await write('a', 'pod long\n');
    expect([await openedAt(5000), await openedAt(6999), await openedAt(7000), await openedAt(9e9)]).toEqual(['a', 'a', 'a', '']);
  });

  it('opens a file again that could not be read, and logs what stays broken once', async () => {
    const { at, write, opened, time, lines } = await setUp();
    await symlink('/proc/self/mem', at('a'));
    await write('b', 'nonsense');
    await opened('all');
    time.now = 2000;
    await opened('all');
    expect([await opened('changed'), await opened('changed'), await opened('all'), lines.length]).toEqual(['a', 'a', 'a b', 2]);
  });
});

describe('ManifestFiles of one file', () => {
  it('reads it, also when its name begins with a dot', async () => {
    const { write, read } = await setUp({ path: '.pod' });
    await write('.pod', 'pod a\n');
    expect(await read()).toBe('a-n1');
  });

  it('knows nothing while the file was never good, and keeps its pods once it was', async () => {
    const { write, files, read, at } = await setUp({ path: 'pod' });
    const { signal } = new AbortController();
    await write('pod', 'po');
    await expect(files.read(signal)).rejects.toThrow(/is no manifest/);
    await expect(files.read(signal)).rejects.toThrow(/is no manifest/);
    await write('pod', 'pod a\n');
    expect(await read()).toBe('a-n1');
    await write('pod', 'po');
    expect(await read()).toBe('a-n1');
    await rm(at('pod'));
    expect(await read()).toBe('');
    await write('pod', 'po');
    await expect(files.read(signal)).rejects.toThrow(/is no manifest/);
  });
});
