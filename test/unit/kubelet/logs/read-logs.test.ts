import { appendFile, mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LinePieces } from '../../../../src/kubelet/logs/log-lines.ts';
import { openLogs, type ReadLogsOptions } from '../../../../src/kubelet/logs/read-logs.ts';
import { parseLogTime } from '../../../../src/node/server/log-times.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { line, logFile } from './log-files.ts';

const { signal } = new AbortController();

async function shown(path: string, options: ReadLogsOptions = {}): Promise<string> {
  const chunks: Buffer[] = [];
  const reading = { clock: new FakeClock(), signal, running: async () => true };
  for await (const chunk of await openLogs(path, options, reading)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const three = line(1, 'one') + line(2, 'two', { stream: 'stderr' }) + line(3, 'three');

describe('the log of a container', () => {
  it('is what it wrote to both outputs', async () => {
    expect(await shown(await logFile(three))).toBe('one\ntwo\nthree\n');
  });

  it('is what it wrote to one of them', async () => {
    expect(await shown(await logFile(three), { stream: 'stderr' })).toBe('two\n');
    expect(await shown(await logFile(three), { stream: 'stdout' })).toBe('one\nthree\n');
  });

  it('joins the parts of a line', async () => {
    const parts = line(1, 'a', { tag: 'P' }) + line(1, 'b', { tag: 'P' }) + line(1, 'c');
    expect(await shown(await logFile(parts))).toBe('abc\n');
    expect(await shown(await logFile(parts), { timestamps: true })).toBe('2026-01-01T00:00:01.000000000Z abc\n');
  });

  it('shows times in one width', async () => {
    const text = '2026-01-01T00:00:00.5Z stdout F half\n2026-01-01T02:00:00+01:00 stdout F whole\n';
    const times = '2026-01-01T00:00:00.500000000Z half\n2026-01-01T02:00:00.000000000+01:00 whole\n';
    expect(await shown(await logFile(text), { timestamps: true })).toBe(times);
  });

  it.each([
    [0, ''],
    [1, 'three\n'],
    [2, 'two\nthree\n'],
    [3, 'one\ntwo\nthree\n'],
    [99, 'one\ntwo\nthree\n'],
  ])('shows the last %d lines', async (tailLines, text) => {
    expect(await shown(await logFile(three), { tailLines })).toBe(text);
  });

  it('shows the last lines of a file much longer than what is read at once', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => line(index, `${index} ${'x'.repeat(100)}`));
    const last = await shown(await logFile(lines.join('')), { tailLines: 1500 });
    expect(last.split('\n').map((text) => text.split(' ')[0])).toEqual([
      ...Array.from({ length: 1500 }, (_, i) => `${3500 + i}`),
      '',
    ]);
  });

  it('shows lines from a time on, to the nanosecond', async () => {
    const text = ['000000001', '000000002', '000000003'].map((f) => `2026-01-01T00:00:00.${f}Z stdout F ${f}\n`).join('');
    const since = parseLogTime('2026-01-01T01:00:00.000000002+01:00');
    expect(await shown(await logFile(text), { since })).toBe('000000002\n000000003\n');
    expect(await shown(await logFile(three), { since: parseLogTime('2026-01-01T00:00:03Z') })).toBe('three\n');
  });

  it('ends at a limit of bytes, in the middle of a line or of its time', async () => {
    expect(await shown(await logFile(three), { limitBytes: 6 })).toBe('one\ntw');
    expect(await shown(await logFile(three), { limitBytes: 4 })).toBe('one\n');
    expect(await shown(await logFile(three), { limitBytes: 7, timestamps: true })).toBe('2026-01');
    expect(await shown(await logFile(three), { limitBytes: 6, stream: 'stdout' })).toBe('one\nth');
  });

  it('shows a last line that was cut off', async () => {
    expect(await shown(await logFile(three.slice(0, -3)))).toBe('one\ntwo\nthr');
  });

  it('shows bytes that are no text as they are', async () => {
    const path = await logFile(Buffer.concat([Buffer.from(line(1, '').slice(0, -1)), Buffer.from([0xff, 0x00, 0xfe, 0x0a])]));
    const chunks: Buffer[] = [];
    const reading = { clock: new FakeClock(), signal, running: async () => true };
    for await (const chunk of await openLogs(path, {}, reading)) chunks.push(chunk);
    expect(Buffer.concat(chunks)).toEqual(Buffer.from([0xff, 0x00, 0xfe, 0x0a]));
  });

  it.each(['F', 'P'])('gives a line of %s that no memory should hold in pieces', async (tag) => {
    const long = 'y'.repeat(1_000_000);
    expect(await shown(await logFile(line(1, long, { tag }) + line(2, 'z')))).toBe(`${long}${tag === 'P' ? '' : '\n'}z\n`);
  });

  it('leaves out lines that are none', async () => {
    expect(await shown(await logFile(`${line(1, 'one')}nonsense\n\n2026 stdout F x\n${line(3, 'three')}`))).toBe('one\nthree\n');
  });

  it('refuses a file that begins with something else', async () => {
    await expect(shown(await logFile('{"log":"x"}\n'))).rejects.toThrow('unsupported log format');
  });

  it('refuses what is no regular file', async () => {
    const path = await logFile(three);
    const link = join(dirname(path), 'link.log');
    await symlink(path, link);
    await mkdir(join(dirname(path), 'folder.log'));
    await expect(shown(link)).rejects.toThrow('ELOOP');
    await expect(shown(join(dirname(path), 'folder.log'))).rejects.toThrow('it is no regular file');
    await expect(shown(join(dirname(path), 'none.log'))).rejects.toThrow('ENOENT');
  });
});

describe('a line that is too long to be held', () => {
  it('comes in pieces of a bounded size', () => {
    const pieces = new LinePieces(1000);
    const taken = Array.from({ length: 50 }, () => [...pieces.take(Buffer.alloc(300, 'x'))]).flat();
    expect(Math.max(...taken.map(({ bytes }) => bytes.length))).toBeLessThan(1300);
    expect(taken.map(({ continues, ends }) => continues || ends)).toEqual([false, ...taken.slice(1).map(() => true)]);
    expect(taken.reduce((sum, { bytes }) => sum + bytes.length, pieces.end()?.bytes.length ?? 0)).toBe(15_000);
  });
});

/** A log that is followed. */
function follow(path: string, options: ReadLogsOptions = {}) {
  const clock = new FakeClock();
  const aborting = new AbortController();
  const container = { running: async (): Promise<boolean> => true, asked: 0, isWriting: false };
  const running = (): Promise<boolean> => {
    container.asked += 1;
    return container.running();
  };
  let text = '';
  let hasEnded = false;
  const reading = (async () => {
    for await (const chunk of await openLogs(path, { follow: true, ...options }, { clock, signal: aborting.signal, running }))
      text += chunk;
    hasEnded = true;
  })();
  onTestFinished(() => aborting.abort());
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let turn = 0; !isSo(); turn += 1) {
      if (turn > 200_000) throw new Error(`it did not come to that: ${JSON.stringify(text)}`);
      // However slow the disk is, what the container writes now takes none of the reader's time.
      if (!container.isWriting) await clock.advance(100);
      await setImmediate();
    }
  };
  return {
    ...{ clock, container, reading, aborting, until },
    shows: (expected: string) => until(() => text === expected),
    ends: () => until(() => hasEnded),
    get text() {
      return text;
    },
  };
}

describe('a log that is followed', () => {
  it('shows what is written later, and ends with the container', async () => {
    const path = await logFile(line(1, 'one'));
    const log = follow(path);
    await log.shows('one\n');
    await appendFile(path, line(2, 'two'));
    await log.shows('one\ntwo\n');
    await appendFile(path, line(3, 'three'));
    log.container.running = async () => false;
    await log.ends();
    expect(log.text).toBe('one\ntwo\nthree\n');
    expect(log.clock.pendingTimers).toBe(0);
  });

  it('shows a line once it is whole', async () => {
    const path = await logFile(line(1, 'one'));
    const log = follow(path);
    await appendFile(path, line(2, 'two').slice(0, -3));
    await log.shows('one\n');
    await appendFile(path, 'wo\n');
    await log.shows('one\ntwo\n');
  });

  it('begins with the last lines', async () => {
    const path = await logFile(three);
    const log = follow(path, { tailLines: 1 });
    await log.shows('three\n');
    await appendFile(path, line(4, 'four'));
    await log.shows('three\nfour\n');
  });

  it('goes on in the new file after a rotation, and misses nothing that comes late into the old one', async () => {
    const path = await logFile(line(1, 'one'));
    const log = follow(path);
    await log.shows('one\n');
    const steps = [
      () => rename(path, `${path}.20260101-000000`).then(() => writeFile(path, line(3, 'new'))),
      // the reader has seen the new file now
      () => appendFile(`${path}.20260101-000000`, line(2, 'late')),
    ];
    log.container.running = async () => {
      log.container.isWriting = true;
      await steps.shift()?.();
      log.container.isWriting = false;
      return true;
    };
    await log.shows('one\nlate\nnew\n');
  });

  it('reads the new file of a container that has ended meanwhile', async () => {
    const path = await logFile(line(1, 'one'));
    const log = follow(path);
    await log.shows('one\n');
    const { promise: isRunning, resolve } = Promise.withResolvers<boolean>();
    log.container.running = () => isRunning;
    await rename(path, `${path}.20260101-000000`);
    await writeFile(path, line(2, 'two'));
    resolve(false);
    await log.ends();
    expect(log.text).toBe('one\ntwo\n');
  });

  it('begins again in a file that was cut', async () => {
    const path = await logFile(line(1, 'one') + line(2, 'two'));
    const log = follow(path);
    await log.shows('one\ntwo\n');
    await truncate(path, 0);
    await log.clock.advance(2000);
    await appendFile(path, line(3, 'new'));
    await log.shows('one\ntwo\nnew\n');
  });

  it('goes on while nobody can say whether the container runs', async () => {
    const path = await logFile(line(1, 'one'));
    const log = follow(path);
    log.container.running = () => Promise.reject(new Error('the runtime is away'));
    await log.shows('one\n');
    log.container.running = () => new Promise(() => {});
    await log.until(() => log.container.asked > 2);
    await appendFile(path, line(2, 'two'));
    await log.shows('one\ntwo\n');
    log.container.running = async () => false;
    await log.ends();
  });

  it('asks rarely when nothing happens', async () => {
    const log = follow(await logFile(line(1, 'one')));
    await log.shows('one\n');
    await log.clock.advance(5000);
    const { asked } = log.container;
    for (let second = 0; second < 20; second += 1) await log.until(() => log.container.asked > asked + second);
    expect(log.clock.now() - Date.UTC(2000, 0, 1)).toBeGreaterThan(20_000);
  });

  it('ends when the reader goes away', async () => {
    const log = follow(await logFile(line(1, 'one')));
    await log.shows('one\n');
    log.aborting.abort();
    await log.reading;
    expect(log.clock.pendingTimers).toBe(0);
  });
});
