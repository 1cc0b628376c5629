import { createHash, type Hash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AtomicWriter, type ProjectedFile } from '../../../../src/node/files/atomic-writer.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeMounter } from '../../../../src/testing/fakes/fake-mounter.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const filesOf = (texts: Record<string, string>, mode = 0o644): Map<string, ProjectedFile> =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));

async function setUp() {
  const folder = await tempDir();
  const mounter = new FakeMounter();
  const clock = new FakeClock();
  const writer = new AtomicWriter(folder, { mounter, clock });
  const shown = async (): Promise<string[]> => (await readdir(folder)).filter((name) => !name.startsWith('..')).sort();
  const hidden = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith('..')).sort();
  const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
  const current = (): Promise<string> => readlink(join(folder, '..data'));
  return { folder, mounter, clock, writer, shown, hidden, read, current };
}

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);

describe('AtomicWriter', () => {
  it('shows files by links through ..data', async () => {
    const { folder, writer, shown, hidden, read, current } = await setUp();
    expect(await writer.write(filesOf({ plain: '1', 'deep/er/file': '2', 'deep/other': '3' }))).toBe(true);
    expect(await shown()).toEqual(['deep', 'plain']);
    expect([await readlink(join(folder, 'plain')), await readlink(join(folder, 'deep'))]).toEqual([
      '..data/plain',
      '..data/deep',
    ]);
    expect([await read('plain'), await read('deep/er/file'), await read('deep/other')]).toEqual(['1', '2', '3']);
    expect(await current()).toMatch(/^\.\.2000_01_01_00_00_00\./);
    expect(await hidden()).toEqual([await current(), '..data'].sort());
  });

  it('writes nothing where nothing has changed, also after a restart', async () => {
    const { folder, mounter, clock, writer, current } = await setUp();
    await writer.write(filesOf({ a: '1', 'b/c': '2' }));
    const before = [await current(), (await lstat(folder)).mtimeMs];
    expect(await writer.write(filesOf({ 'b/c': '2', a: '1' }))).toBe(false);
    const restarted = new AtomicWriter(folder, { mounter, clock });
    expect(await restarted.write(filesOf({ a: '1', 'b/c': '2' }))).toBe(false);
    expect([await current(), (await lstat(folder)).mtimeMs]).toEqual(before);
  });

  it.each([
    ['a change', { a: '2', b: '1' }, ['a', 'b']],
    ['a new file', { a: '1', b: '1', c: '1' }, ['a', 'b', 'c']],
    ['a file that is gone', { a: '1' }, ['a']],
    ['a file that is moved', { a: '1', 'b/b': '1' }, ['a', 'b']],
  ])('puts a new folder in the place of the old one for %s', async (_, texts, names) => {
    const { writer, shown, hidden, read, current } = await setUp();
    await writer.write(filesOf({ a: '1', b: '1' }));
    const before = await current();
    expect(await writer.write(filesOf(texts))).toBe(true);
    expect(await shown()).toEqual(names);
    for (const [path, text] of Object.entries(texts)) expect(await read(path)).toBe(text);
    expect(await current()).not.toBe(before);
    expect(await hidden()).toHaveLength(2);
  });

  it('sees what was changed behind its back after a restart', async () => {
    const { folder, mounter, clock, writer, read } = await setUp();
    await writer.write(filesOf({ a: '1' }));
    await writeFile(join(folder, '..data', 'a'), 'changed');
    expect(await new AtomicWriter(folder, { mounter, clock }).write(filesOf({ a: '1' }))).toBe(true);
    expect(await read('a')).toBe('1');
  });

  it('writes again when its files were taken away', async () => {
    const { folder, writer, read } = await setUp();
    await writer.write(filesOf({ a: '1' }));
    for (const name of await readdir(folder))
      await (await import('node:fs/promises')).rm(join(folder, name), { recursive: true });
    expect(await writer.write(filesOf({ a: '1' }))).toBe(true);
    expect(await read('a')).toBe('1');
  });

  it('sets modes whatever the umask is, and changes no owner unasked', async () => {
    const { folder, mounter, writer } = await setUp();
    const umask = process.umask(0o077);
    try {
      await writer.write(new Map([...filesOf({ a: '1', 'd/b': '1' }, 0o666), ['c', { data: Buffer.from(''), mode: 0o400 }]]));
    } finally {
      process.umask(umask);
    }
    const modes = await Promise.all(['a', 'd/b', 'c', 'd', '..data'].map((path) => modeOf(join(folder, path))));
    expect(modes).toEqual(['666', '666', '400', '755', '755']);
    expect(mounter.owners.size).toBe(0);
  });

  it('lets a group read everything, and gives files to a user', async () => {
    const { folder, mounter, writer, current } = await setUp();
    const token = { data: Buffer.from('t'), mode: 0o600, fsUser: 7 };
    await writer.write(new Map([...filesOf({ 'd/a': '1' }, 0o600), ['token', token]]), { fsGroup: 123 });
    const modes = await Promise.all(['d/a', 'token', 'd', '..data'].map((path) => modeOf(join(folder, path))));
    expect(modes).toEqual(['640', '640', '2755', '2755']);
    const owners = Object.fromEntries(mounter.owners);
    const written = join(folder, await current());
    expect(owners).toEqual({
      [written]: { gid: 123 },
      [join(written, 'd')]: { gid: 123 },
      [join(written, 'd/a')]: { uid: undefined, gid: 123 },
      [join(written, 'token')]: { uid: 7, gid: 123 },
      [join(folder, 'd')]: { uid: undefined, gid: 123 },
      [join(folder, 'token')]: { uid: 7, gid: 123 },
    });
  });

  it.each([
    '',
    '/etc/passwd',
    '..',
    '../x',
    'a/../../x',
    'a/..',
    '..data',
    '..data/x',
    './..data',
    '.',
    'a\0b',
    'x'.repeat(256),
    `a/${'é'.repeat(128)}`,
    `${'a/'.repeat(2048)}a`,
  ])('refuses the path %j and leaves what is there', async (path) => {
    const { writer, shown, hidden, read } = await setUp();
    await writer.write(filesOf({ a: '1' }));
    await expect(writer.write(filesOf({ a: '2', [path]: 'x' }))).rejects.toThrow('invalid path');
    expect([await shown(), await read('a'), (await hidden()).length]).toEqual([['a'], '1', 2]);
  });

  it('takes names that only look dangerous', async () => {
    const { writer, read } = await setUp();
    const names = ['.hidden', 'a..b', '-rf', 'a b', 'x/..y', 'constructor', 'ü'.repeat(127)];
    await writer.write(filesOf(Object.fromEntries(names.map((name) => [name, 'x']))));
    for (const name of names) expect(await read(name)).toBe('x');
    await expect(writer.write(filesOf({ '...': 'x' }))).rejects.toThrow('must not start with');
  });

  it('rejects and leaves nothing behind for a file where a folder must be', async () => {
    const { writer, shown, hidden, read } = await setUp();
    await writer.write(filesOf({ a: '1' }));
    await expect(writer.write(filesOf({ a: '2', 'a/b': '2' }))).rejects.toThrow('EEXIST');
    expect([await shown(), await read('a'), (await hidden()).length]).toEqual([['a'], '1', 2]);
  });

  it('removes what an interrupted call has left, and follows no link while it does', async () => {
    const { folder, writer, shown, hidden, read } = await setUp();
    const other = await tempDir();
    await writeFile(join(other, 'kept'), 'kept');
    await mkdir(join(folder, '..1999_01_01_00_00_00.abc', 'x'), { recursive: true });
    await symlink(other, join(folder, '..1998_01_01_00_00_00.abc'));
    await symlink('..1999_01_01_00_00_00.abc', join(folder, '..data_tmp'));
    await symlink('..data/gone', join(folder, 'gone'));
    await writer.write(filesOf({ a: '1' }));
    expect([await shown(), (await hidden()).length, await read('a')]).toEqual([['a'], 2, '1']);
    expect(await readFile(join(other, 'kept'), 'utf8')).toBe('kept');
  });

  it('makes links that were lost between two steps, and leaves folders where other volumes are mounted', async () => {
    const { folder, mounter, clock, writer, shown } = await setUp();
    await mkdir(join(folder, 'nested'));
    await writer.write(filesOf({ a: '1', 'nested/x': '1' }));
    await rm(join(folder, 'a'));
    expect(await new AtomicWriter(folder, { mounter, clock }).write(filesOf({ a: '1', 'nested/x': '1' }))).toBe(false);
    expect(await shown()).toEqual(['a', 'nested']);
    expect((await lstat(join(folder, 'nested'))).isDirectory()).toBe(true);
  });

  it('a reader sees all files of one write', async () => {
    const { folder, writer } = await setUp();
    const texts = (value: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, value]));
    await writer.write(filesOf(texts('0')));
    let isOver = false;
    const seen = new Set<string>();
    const reading = (async () => {
      while (!isOver) {
        // a reader that follows ..data once, as programs that watch it do
        const data = join(folder, await readlink(join(folder, '..data')));
        const found = await Promise.all(
          Object.keys(texts('')).map((name) => readFile(join(data, name), 'utf8').catch(() => 'gone')),
        );
        seen.add([...new Set(found.filter((text) => text !== 'gone'))].join());
      }
    })();
    for (let value = 1; value <= 30; value += 1) await writer.write(filesOf(texts(String(value))));
    isOver = true;
    await reading;
    expect([...seen].filter((values) => values.includes(','))).toEqual([]);
    expect(seen.size).toBeGreaterThan(1);
  });

  it('writes 10,000 files and a file of 1 MiB', async () => {
    const { writer, shown, read } = await setUp();
    const files = filesOf(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`file-${n}`, `value ${n}`])));
    files.set('large', { data: Buffer.alloc(1024 * 1024, 'x'), mode: 0o644 });
    expect(await writer.write(files)).toBe(true);
    expect((await shown()).length).toBe(10_001);
    expect([await read('file-9999'), (await read('large')).length]).toEqual(['value 9999', 1024 * 1024]);
    expect(await writer.write(files)).toBe(false);
  });

  it('looks once at bytes that many files show', async () => {
    const { writer, read } = await setUp();
    const data = Buffer.alloc(100_000, 'x');
    const files = new Map(Array.from({ length: 50 }, (_, index) => [`f${index}`, { data, mode: 0o644 }] as const));
    const update = vi.spyOn(Object.getPrototypeOf(createHash('sha256')) as Hash, 'update');
    await writer.write(files);
    const hashed = update.mock.calls.reduce((sum, [bytes]) => sum + Buffer.byteLength(bytes), 0);
    update.mockRestore();
    expect(hashed).toBeLessThan(110_000);
    expect(await writer.write(files)).toBe(false);
    const other = new Map(files).set('f49', { data: Buffer.alloc(100_000, 'y'), mode: 0o644 });
    expect([await writer.write(other), (await read('f49')).slice(0, 2), (await read('f48')).slice(0, 2)]).toEqual([
      true,
      'yy',
      'xx',
    ]);
  });
});
