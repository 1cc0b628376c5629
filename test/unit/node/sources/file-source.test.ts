import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ManifestFiles } from '../../../../src/node/sources/manifest-files.ts';
import { FileSource, type FileSourceOptions, PodConfig } from '../../../../src/node.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { nameOf, shown } from '../config/config-pods.ts';
import { manifestOf, yamlOf } from './manifests.ts';
import { recordedLog, SentLists } from './sent-lists.ts';

async function setUp(options: Partial<FileSourceOptions> = {}) {
  const path = await tempDir();
  const clock = new FakeClock();
  const { lines, logger } = recordedLog();
  const source = new FileSource({ path, nodeName: 'n1', clock, logger, ...options });
  const sent = new SentLists();
  /** Lets the clock go on until one more list was sent. */
  const next = async (ms: number): Promise<void> => {
    const count = sent.lists.length + 1;
    await until(() => clock.pendingTimers > 0);
    await clock.advance(ms);
    await until(() => sent.lists.length >= count);
  };
  return {
    ...{ path, clock, source, sent, lines, next },
    write: (name: string, text: string) => writeFile(join(path, name), text),
    [Symbol.asyncDispose]: () => source.stop(),
  };
}

describe('FileSource', () => {
  it('sends the pods of a directory, YAML and JSON, as static pods of its node', async () => {
    await using test = await setUp();
    await test.write('b.yaml', yamlOf('b'));
    await test.write('a.json', manifestOf('a'));
    expect([test.source.state, test.source.lastObservedAt()]).toEqual(['idle', undefined]);
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    expect([test.sent.names(), test.source.lastObservedAt()]).toEqual([['a-n1 b-n1'], test.clock.now()]);
    const [pod] = test.sent.latest();
    expect(pod?.metadata?.annotations?.['kubernetes.io/config.hash']).toBe(pod?.metadata?.uid);
    expect(pod?.spec).toMatchObject({ nodeName: 'n1', tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] });
  });

  it('reads the path again after each period, whether or not the system has told of a change', async () => {
    await using test = await setUp();
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    await test.next(20_000);
    await test.next(20_000);
    expect(test.sent.names()).toEqual(['', '', '']);
    await until(() => test.clock.pendingTimers > 0);
    await test.clock.advance(19_000);
    expect(test.sent.lists).toHaveLength(3);
  });

  it('hears from the system of a file that came, changed and went', async () => {
    // no period passes here: the clock only goes on for what comes together to be read together
    await using test = await setUp({ checkPeriodMs: 2_000_000_000 });
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    const heard = async (names: string): Promise<void> => {
      while (test.sent.names().at(-1) !== names) await test.clock.advance(50);
    };
    await test.write('a.yaml', yamlOf('a'));
    await heard('a-n1');
    await test.write('a.yaml', yamlOf('b'));
    await heard('b-n1');
    await rename(join(test.path, 'a.yaml'), join(test.path, '.a.yaml'));
    await heard('');
    expect(test.clock.now()).toBeLessThan(Date.UTC(2000, 0, 1) + 2_000_000_000);
  });

  it.each(['file', 'directory'])('hears of changes of a %s that was removed and made again', async (what) => {
    const path = join(await tempDir(), 'manifests');
    const file = what === 'file' ? path : join(path, 'a.yaml');
    await using test = await setUp({ path, checkPeriodMs: 2_000_000_000 });
    const make = async (name: string): Promise<void> => {
      if (what === 'directory') await mkdir(path);
      await writeFile(file, yamlOf(name));
    };
    const heard = async (name: string): Promise<void> => {
      while (test.sent.names().at(-1) !== `${name}-n1`) await test.clock.advance(50);
    };
    await make('a');
    test.source.start(test.sent.send);
    await heard('a');
    for (const round of ['b', 'c', 'd']) {
      await rm(path, { recursive: true });
      // a file system often gives the same inode again
      await make(round);
      await heard(round);
      await writeFile(file, yamlOf(`${round}2`));
      await heard(`${round}2`);
    }
    expect(test.clock.now()).toBeLessThan(Date.UTC(2000, 0, 1) + 2_000_000_000);
  });

  it('reads every file after each period, also where changes never end', async () => {
    await using test = await setUp();
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    let lastCheckAt = test.clock.now();
    const readings = { all: 0, changed: 0, late: 0 };
    const read = vi.spyOn(ManifestFiles.prototype, 'read').mockImplementation(async (_signal, filesToRead = 'all') => {
      readings[filesToRead] += 1;
      if (filesToRead === 'all') lastCheckAt = test.clock.now();
      else if (test.clock.now() - lastCheckAt >= 20_000) readings.late += 1;
      return { isThere: true, pods: [] };
    });
    onTestFinished(() => read.mockRestore());
    for (let i = 0; readings.late === 0 && (readings.all < 3 || readings.changed < 3); i += 1) {
      const count = test.sent.lists.length;
      await test.write('a.yaml', yamlOf(`a${i}`));
      while (test.sent.lists.length === count) await test.clock.advance(100);
    }
    expect(readings.late).toBe(0);
  });

  it('looks every second for a path that is not there, and then follows what stands there', async () => {
    const path = join(await tempDir(), 'manifests');
    await using test = await setUp({ path });
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    await test.next(1000);
    expect(test.sent.names()).toEqual(['', '']);
    await mkdir(path);
    await writeFile(join(path, 'a.yaml'), yamlOf('a'));
    await test.next(1000);
    expect(test.sent.names().at(-1)).toBe('a-n1');
    await rm(path, { recursive: true });
    await test.next(20_000);
    expect(test.sent.names().at(-1)).toBe('');
  });

  it('sends nothing while the path cannot be read, says so once, and goes on when it can', async () => {
    const path = join(await tempDir(), 'manifests');
    execFileSync('mkfifo', [path]);
    await using test = await setUp({ path });
    test.source.start(test.sent.send);
    await until(() => test.lines.length > 0);
    for (let i = 0; i < 3; i += 1) {
      await until(() => test.clock.pendingTimers > 0);
      await test.clock.advance(20_000);
    }
    expect([test.sent.lists, test.lines, test.source.lastObservedAt()]).toEqual([
      [],
      ['error: the path of manifests cannot be read'],
      undefined,
    ]);
    const { error, at = 0, retryAt = 0, since = 0, attempt } = test.source.lastFailure() ?? {};
    expect([error, retryAt - at, at - since]).toEqual([expect.any(Error), 20_000, 20_000 * (Number(attempt) - 1)]);
    expect(attempt).toBeGreaterThan(2);
    await rm(path);
    await writeFile(path, yamlOf('a'));
    await test.next(20_000);
    expect(test.lines[1]).toBe('info: the manifests of the path can be read again');
    expect(test.sent.names()).toEqual(['a-n1']);
    expect(test.source.lastFailure()).toBeUndefined();
  });

  it('kills no pod of a config when its file is half-written, and replaces it when the file is whole', async () => {
    await using test = await setUp();
    await using config = new PodConfig({ clock: test.clock });
    await test.write('a.yaml', yamlOf('a'));
    config.addSource('file', test.source);
    const told: string[] = [];
    const reading = (async () => {
      for await (const update of config.updates()) told.push(shown(update));
    })();
    config.start();
    await until(() => told.length === 1);
    const text = yamlOf('a').replace('app:1', 'app:2');
    for (let length = 0; length <= text.length; length += 7) {
      await test.write('a.yaml', text.slice(0, length));
      await until(() => test.clock.pendingTimers > 0);
      await test.clock.advance(20_000);
    }
    await test.write('a.yaml', text);
    while (told.length < 3) await test.clock.advance(20_000);
    expect(told).toEqual(['file ADD a-n1', 'file REMOVE a-n1', 'file ADD a-n1']);
    await config.stop();
    await reading;
  });

  it('ends without a timer, a watch or a list after that', async () => {
    await using test = await setUp();
    test.source.start(test.sent.send);
    await test.source.stop();
    expect([test.sent.lists, test.clock.pendingTimers, test.source.state]).toEqual([[], 0, 'stopped']);
    await using other = await setUp();
    const watches = (): number => process.getActiveResourcesInfo().filter((name) => name === 'FSEventWrap').length;
    const before = watches();
    other.source.start(other.sent.send);
    await until(() => other.clock.pendingTimers > 0);
    expect(watches()).toBe(before + 1);
    await other.source.stop();
    await settle();
    expect(watches()).toBe(before);
    await other.write('a.yaml', yamlOf('a'));
    expect([other.sent.names(), other.clock.pendingTimers]).toEqual([[''], 0]);
    expect(() => other.source.start(other.sent.send)).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('takes a path that ends with slashes for the same one', async () => {
    const path = await tempDir();
    await writeFile(join(path, 'a.yaml'), yamlOf('a'));
    const uids: (string | undefined)[] = [];
    for (const given of [path, `${path}//`]) {
      await using test = await setUp({ path: given });
      test.source.start(test.sent.send);
      await test.sent.reached(1);
      uids.push(test.sent.latest()[0]?.metadata?.uid);
      expect(test.sent.latest().map(nameOf)).toEqual(['a-n1']);
    }
    expect(uids[0]).toBe(uids[1]);
  });

  it.each([
    [{ path: '' }, /`path`/],
    [{ path: 'a\0b' }, /`path`/],
    [{ nodeName: 'N 1' }, /`nodeName`/],
    [{ checkPeriodMs: 0 }, /`checkPeriodMs`/],
    [{ maxBytes: 0 }, /`maxBytes`/],
    [{ clock: {} }, /`clock`/],
    [{ file: 'x' }, /`options.file`/],
  ])('refuses the options %j', (options, message) => {
    expect(() => new FileSource({ path: '/x', nodeName: 'n1', ...options } as never)).toThrow(message);
    expect(() => new FileSource({ path: '/x', nodeName: 'n1', ...options } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});

describe('a manifest that cannot be used', () => {
  it('is the last failure of its source until it is mended, since it was first found', async () => {
    await using test = await setUp();
    await test.write('a.yaml', yamlOf('a'));
    await test.write('b.yaml', 'kind: Pod\napiVersion: v1\nmetadata: { name: b }\nspec: { containers: 7 }\n');
    test.source.start(test.sent.send);
    await test.sent.reached(1);
    const first = test.source.lastFailure();
    expect(first).toMatchObject({ error: { code: 'ERR_INVALID_MANIFEST' }, since: test.clock.now(), attempt: 1 });
    expect(first?.retryAt).toBeGreaterThan(test.clock.now());
    expect(test.sent.names()).toEqual(['a-n1']);
    await test.next(20_000);
    expect(test.source.lastFailure()).toMatchObject({ since: first?.since, attempt: 2, at: test.clock.now() });
    await test.write('b.yaml', yamlOf('b'));
    await test.next(20_000);
    expect([test.source.lastFailure(), test.sent.latest().length]).toEqual([undefined, 2]);
  });
});
