import { EventEmitter } from 'node:events';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OpenWatcher, PathWatch } from '../../../../src/node/sources/file-source.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { recordedLog } from './sent-lists.ts';

class FakeWatcher extends EventEmitter {
  isClosed = false;
  close(): void {
    this.isClosed = true;
  }
}

async function setUp(name = 'dir') {
  const path = join(await tempDir(), name);
  const watchers: FakeWatcher[] = [];
  const { lines, logger } = recordedLog();
  let failure: Error | undefined;
  let changes = 0;
  const open: OpenWatcher = () => {
    if (failure !== undefined) throw failure;
    watchers.push(new FakeWatcher());
    return watchers.at(-1) as FakeWatcher;
  };
  const onChange = (): void => {
    changes += 1;
  };
  const watch = new PathWatch({ path, onChange, logger, open });
  return {
    ...{ path, watch, watchers, lines },
    changes: () => changes,
    fail: (error: Error | undefined) => {
      failure = error;
    },
  };
}

describe('PathWatch', () => {
  it('watches the path once, and tells of changes but those of hidden files', async () => {
    const { path, watch, watchers, changes } = await setUp();
    await mkdir(path);
    await watch.renew();
    await watch.renew();
    expect(watchers).toHaveLength(1);
    watchers[0]?.emit('change', 'rename', 'a.yaml');
    watchers[0]?.emit('change', 'change', Buffer.from('b.yaml'));
    watchers[0]?.emit('change', 'change', null);
    expect(changes()).toBe(3);
    watchers[0]?.emit('change', 'change', '.a.yaml.swp');
    expect(changes()).toBe(3);
  });

  it('tells of changes of a single file whose name begins with a dot', async () => {
    const { path, watch, watchers, changes } = await setUp('.pod');
    await writeFile(path, '');
    await watch.renew();
    watchers[0]?.emit('change', 'change', '.pod');
    expect(changes()).toBe(1);
  });

  it('watches afresh when something else stands at the path, and nothing where nothing does', async () => {
    const { path, watch, watchers, changes } = await setUp();
    await watch.renew();
    expect(watchers).toHaveLength(0);
    await mkdir(path);
    await watch.renew();
    await mkdir(`${path}2`);
    await rm(path, { recursive: true });
    await rename(`${path}2`, path);
    await watch.renew();
    expect(watchers.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    watchers[0]?.emit('change', 'rename', 'late');
    watchers[0]?.emit('error', new Error('late'));
    expect(changes()).toBe(0);
    await rm(path, { recursive: true });
    await watch.renew();
    expect(watchers.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });

  it.each([
    'dir',
    undefined,
  ])('watches afresh after the path itself has moved or gone (event of %s), whatever its inode', async (name) => {
    const { path, watch, watchers, changes } = await setUp();
    await mkdir(path);
    await watch.renew();
    watchers[0]?.emit('change', 'rename', name ?? null);
    expect(changes()).toBe(1);
    await watch.renew();
    await watch.renew();
    expect(watchers.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    for (const [type, other] of [
      ['rename', 'a.yaml'],
      ['change', 'dir'],
      ['change', null],
    ]) {
      watchers[1]?.emit('change', type, other);
      await watch.renew();
    }
    expect([watchers.length, changes()]).toEqual([2, 4]);
  });

  it('lives without a watch, says so once, and watches as soon as it can', async () => {
    const { path, watch, watchers, lines, fail } = await setUp();
    await mkdir(path);
    fail(new Error('ENOSPC: no watches left'));
    await watch.renew();
    await watch.renew();
    expect(lines).toEqual(['warn: the path cannot be watched; it is only read now and then']);
    fail(undefined);
    await watch.renew();
    expect(watchers).toHaveLength(1);
  });

  it('counts the error of a watch as a change, and opens another one', async () => {
    const { path, watch, watchers, changes, lines } = await setUp();
    await mkdir(path);
    await watch.renew();
    watchers[0]?.emit('error', new Error('EIO'));
    expect([changes(), watchers[0]?.isClosed, lines.length]).toEqual([1, true, 1]);
    await watch.renew();
    expect(watchers).toHaveLength(2);
  });

  it('tells of nothing once it is closed', async () => {
    const { path, watch, watchers, changes } = await setUp();
    await mkdir(path);
    await watch.renew();
    watch.close();
    watchers[0]?.emit('change', 'rename', 'a');
    watchers[0]?.emit('error', new Error('late'));
    expect([changes(), watchers[0]?.isClosed]).toEqual([0, true]);
  });
});
