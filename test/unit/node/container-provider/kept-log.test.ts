import { expect, it } from 'vitest';
import type { KeptLog } from '../../../../src/node/container-provider/kept-log.ts';
import { KeptLogs, type PodLogs } from '../../../../src/node/container-provider/kept-logs.ts';
import { readKeptLog } from '../../../../src/node/container-provider/read-kept-log.ts';
import type { ContainerLogRequest } from '../../../../src/node/provider/pod-provider.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { newest, textOf } from './connected-provider.ts';

const maxBytesPerRun = 64 * 1024;
const never = new AbortController().signal;

function makeLogs(maxTotalBytes = 8 * maxBytesPerRun): { clock: FakeClock; logs: KeptLogs; pod: PodLogs; log: KeptLog } {
  const clock = new FakeClock();
  const logs = new KeptLogs('logs', { maxBytesPerRun, maxTotalBytes }, clock);
  const pod = logs.ofPod();
  return { clock, logs, pod, log: pod.open() };
}

async function read(log: KeptLog, request: Partial<ContainerLogRequest> = {}): Promise<string> {
  return textOf(readKeptLog(log, { ...newest, ...request }, never));
}

const text = (value: string): Buffer => Buffer.from(value);

function* manyTimes(count: number, piece: Buffer): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield piece;
}

/** Reads on in the background. */
function follow(log: KeptLog, request: Partial<ContainerLogRequest> = {}, signal = never) {
  const seen = { text: '', isOver: false };
  const readAll = async (): Promise<void> => {
    for await (const piece of readKeptLog(log, { ...newest, follow: true, ...request }, signal)) seen.text += piece.toString();
    seen.isOver = true;
  };
  void readAll();
  return seen;
}

it('shows whole lines of both outputs, and the rest once the run has ended', async () => {
  const { log } = makeLogs();
  expect(await read(log)).toBe('');
  log.write('stdout', text('one\nt'));
  log.write('stderr', text('oh\n'));
  log.write('stdout', text('wo\nthr'));
  expect(await read(log)).toBe('one\noh\ntwo\n');
  expect(await read(log, { stream: 'stderr' })).toBe('oh\n');
  log.end();
  log.write('stdout', text('late\n'));
  expect(await read(log, { stream: 'stdout' })).toBe('one\ntwo\nthr\n');
});

it('shows the last lines, the lines since a time, and the times', async () => {
  const { clock, log } = makeLogs();
  for (let line = 0; line < 5; line += 1) {
    log.write(line === 3 ? 'stderr' : 'stdout', text(`${line}\n`));
    await clock.advance(1000);
  }
  expect(await read(log, { tailLines: 2 })).toBe('3\n4\n');
  expect(await read(log, { tailLines: 2, stream: 'stdout' })).toBe('2\n4\n');
  expect(await read(log, { tailLines: 0 })).toBe('');
  expect(await read(log, { tailLines: 9 })).toBe('0\n1\n2\n3\n4\n');
  expect(await read(log, { sinceTime: new Date(Date.UTC(2000, 0, 1, 0, 0, 3)) })).toBe('3\n4\n');
  expect(await read(log, { tailLines: 1, timestamps: true })).toBe('2000-01-01T00:00:04.000000000Z 4\n');
});

it('a follower sees what comes, and ends with the run or its signal', async () => {
  const { log } = makeLogs();
  log.write('stdout', text('before\n'));
  const stop = new AbortController();
  const [whole, later, gone] = [follow(log), follow(log, { tailLines: 0 }), follow(log, {}, stop.signal)];
  await settle();
  log.write('stdout', text('after\n'));
  await settle();
  stop.abort();
  await settle();
  expect(gone).toEqual({ text: 'before\nafter\n', isOver: true });
  log.write('stdout', text('last'));
  log.end();
  await settle();
  expect(whole).toEqual({ text: 'before\nafter\nlast\n', isOver: true });
  expect(later).toEqual({ text: 'after\nlast\n', isOver: true });
});

it('an endless line is kept in pieces, is one line, and never more than the limit', async () => {
  const { log } = makeLogs();
  for (let count = 0; count < 3000; count += 1) {
    log.write('stdout', Buffer.alloc(1000, 'x'));
    expect(log.bytes).toBeLessThanOrEqual(maxBytesPerRun);
  }
  log.write('stdout', text('\nnext\n'));
  const shown = await read(log, { timestamps: true });
  expect(shown.length).toBeGreaterThan(maxBytesPerRun / 2);
  expect(shown.split('\n').map((line) => line.slice(0, 32))).toEqual([
    '2000-01-01T00:00:00.000000000Z x',
    '2000-01-01T00:00:00.000000000Z n',
    '',
  ]);
});

it('a line that another output cuts in two is not mixed with it', async () => {
  const { log } = makeLogs();
  log.write('stdout', Buffer.alloc(20_000, 'x'));
  log.write('stderr', text('oh\n'));
  log.write('stdout', text('y\n'));
  expect(await read(log)).toMatch(/^x+\noh\nx+y\n$/);
});

it.each([
  ['very much at once', () => [Buffer.alloc(2 ** 28, 'some text of a line that is not very long\n')]],
  ['50 megabytes in pieces', () => manyTimes(500, Buffer.alloc(100_000, 'some text of a line that is not very long\n'))],
  ['a byte at a time', () => Array.from({ length: 300_000 }, (_, index) => text(index % 7 === 0 ? '\n' : 'x'))],
  ['line feeds alone', () => [Buffer.alloc(1_000_000, '\n')]],
  ['no line feed', () => [Buffer.alloc(2 ** 28, 'x')]],
])('holds no more than its limit of %s, and its end is there', (_, pieces) => {
  const { log, logs } = makeLogs();
  for (const piece of pieces()) {
    log.write('stdout', piece);
    if (log.bytes > maxBytesPerRun) expect.fail(`${log.bytes} bytes`);
  }
  expect(log.bytes).toBeGreaterThan(maxBytesPerRun / 2);
  expect(logs.bytes).toBe(log.bytes);
});

it('keeps the last lines of many', async () => {
  const { log } = makeLogs();
  for (let line = 0; line < 20_000; line += 1) log.write('stdout', text(`line ${line}\n`));
  const lines = (await read(log)).trimEnd().split('\n');
  expect(lines.at(-1)).toBe('line 19999');
  expect(lines[0]).toBe(`line ${20_000 - lines.length}`);
  expect(lines.length).toBeGreaterThan(1500);
});

it('a slow reader holds nothing, and goes on with a whole line', async () => {
  const { log } = makeLogs();
  log.write('stdout', text(`${'first '.repeat(10)}\n`));
  const reader = readKeptLog(log, { ...newest, follow: true }, never);
  expect(String((await reader.next()).value)).toContain('first');
  for (let line = 0; line < 50_000; line += 1) log.write('stdout', text(`line ${line}\n`));
  expect(log.bytes).toBeLessThanOrEqual(maxBytesPerRun);
  expect(String((await reader.next()).value)).toMatch(/^line \d{5}\n/);
  await reader.return();
});

it('who does not follow gets no more than what was there at the call', async () => {
  const { log } = makeLogs();
  log.write('stdout', text('one\n'));
  const reader = readKeptLog(log, newest, never);
  log.write('stdout', text('two\n'));
  expect(await textOf(reader)).toBe('one\n');
});

it('a thousand followers see every line, and leave nothing', async () => {
  const { log, logs, pod } = makeLogs();
  const followers = Array.from({ length: 1000 }, () => follow(log));
  for (let line = 0; line < 20; line += 1) {
    log.write('stdout', text(`${line}\n`));
    await settle(1);
  }
  log.end();
  pod.forget();
  await settle();
  const whole = Array.from({ length: 20 }, (_, line) => `${line}\n`).join('');
  expect(new Set(followers.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ text: whole, isOver: true })]),
  );
  expect(logs.bytes).toBe(0);
});

it('the log of a pod that is gone stays for who reads it, and goes then', async () => {
  const { log, logs, pod } = makeLogs();
  log.write('stdout', text('last words\n'));
  const reader = readKeptLog(log, { ...newest, follow: true }, never);
  log.end();
  pod.forget();
  expect(logs.bytes).toBeGreaterThan(0);
  expect(await textOf(reader)).toBe('last words\n');
  expect(logs.bytes).toBe(0);
});

it('a reader that nobody asks for anything lets go when its signal aborts', () => {
  const { log, logs, pod } = makeLogs();
  log.write('stdout', text('words\n'));
  const client = new AbortController();
  readKeptLog(log, { ...newest, follow: true }, client.signal);
  log.end();
  pod.forget();
  client.abort();
  expect(logs.bytes).toBe(0);
});

it('over the limit of all, who holds the most loses, and nobody else', async () => {
  const maxTotalBytes = 4 * maxBytesPerRun;
  const { log: quiet, logs, clock } = makeLogs(maxTotalBytes);
  quiet.write('stdout', text('one quiet line\n'));
  const loud = logs.ofPod();
  const runs = Array.from({ length: 50 }, () => loud.open());
  for (let round = 0; round < 200; round += 1) {
    for (const run of runs) run.write(round % 2 ? 'stdout' : 'stderr', Buffer.alloc(700, 'loud words\n'));
    expect(logs.bytes).toBeLessThanOrEqual(maxTotalBytes);
  }
  expect(loud.bytes).toBeGreaterThan(maxTotalBytes / 2);
  expect(await read(quiet)).toBe('one quiet line\n');
  expect(clock.pendingTimers).toBe(0);
});

it('very many pods with a little each stay under the limit of all', () => {
  const { logs } = makeLogs(maxBytesPerRun);
  const pods = Array.from({ length: 2000 }, () => logs.ofPod());
  for (const pod of pods) {
    const log = pod.open();
    log.write('stdout', text('no end'));
    log.write('stderr', text('a line\n'));
    expect(logs.bytes).toBeLessThanOrEqual(maxBytesPerRun);
  }
  for (const pod of pods) pod.forget();
  expect(logs.bytes).toBe(0);
});

it.each([{ maxBytesPerRun: 1 }, { maxTotalBytes: 1.5 }, { maxBytes: 1 }])('refuses %o', (options) => {
  expect(() => new KeptLogs('logs', options as object, new FakeClock())).toThrow(/Expected `logs\.max/);
});
