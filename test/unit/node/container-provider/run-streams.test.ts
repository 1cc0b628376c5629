import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { KeptLogs } from '../../../../src/node/container-provider/kept-logs.ts';
import { RunStreams } from '../../../../src/node/container-provider/run-streams.ts';
import type { ContainerStreams, TerminalSize } from '../../../../src/node/streams/container-streams.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { textOf } from './connected-provider.ts';

const never = new AbortController().signal;

function makeRun(spec: { readonly stdin?: boolean; readonly stdinOnce?: boolean } = {}) {
  const clock = new FakeClock();
  const log = new KeptLogs('logs', {}, clock).ofPod().open();
  const written = (): string => {
    const place = { block: 0, offset: 0 };
    const lines: string[] = [];
    for (let line = log.next(place); line !== undefined; line = log.next(place)) lines.push(`${line.bytes}`);
    return lines.join('|');
  };
  return { clock, log, written, run: new RunStreams({ log, clock, stdin: false, stdinOnce: false, ...spec }) };
}

function client(streams: Partial<ContainerStreams> = {}) {
  const seen = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr'): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        seen[name] += chunk;
        done();
      },
    });
  const own = { tty: false, stdin: undefined, stdout: output('stdout'), stderr: output('stderr'), onResize: () => {} };
  return { seen, streams: { ...own, ...streams } };
}

/** A client that takes nothing until it is told to. */
function slowClient() {
  const taken: (() => void)[] = [];
  const stdout = new Writable({ highWaterMark: 10, write: (_chunk, _encoding, done) => void taken.push(done) });
  return { ...client({ stdout }), stdout, takeOne: () => taken.shift()?.() };
}

it('takes pipes, one after the other and together, and what comes after them', async () => {
  const { run, log, written } = makeRun();
  const [one, two] = [new PassThrough(), new PassThrough()];
  one.pipe(run.stdout);
  two.pipe(run.stdout);
  one.end('one\n');
  await settle();
  two.end('two\n');
  await settle();
  await pipeline(Readable.from(['three\n']), makeRun().run.stdout);
  Readable.from(['four\n']).pipe(run.stdout);
  await settle();
  run.stdout.write('five\n');
  run.stdout.end('six\n');
  expect(written()).toBe('one|two|four|five|six');
  run.end();
  const late = Readable.from(Array.from({ length: 1000 }, () => 'x'.repeat(10_000)));
  late.pipe(run.stdout);
  run.stderr.write('late');
  await settle(2000);
  expect(late.readableEnded).toBe(true);
  expect(log.bytes).toBeLessThan(2000);
});

it('resolves a pipeline, and survives one that fails', async () => {
  const { run, written } = makeRun();
  const broken = new Readable({ read: () => void broken.destroy(new Error('no disk')) });
  await expect(pipeline(broken, run.stdout)).rejects.toThrow('no disk');
  await pipeline(Readable.from(['a\n']), run.stderr);
  run.stdout.write('after\n');
  run.stdout.destroy(new Error('oh'));
  run.stdout.write('later\n');
  expect(written()).toBe('a|after|later');
});

it('takes text in its encoding, bytes of any view, and calls back; what is neither is nothing', async () => {
  const { run, written } = makeRun();
  const told: unknown[] = [];
  run.stdout.write('b25l', 'base64');
  run.stdout.write(new Uint8Array([0x0a]));
  run.stdout.write('two\n', (error) => told.push(error ?? 'done'));
  for (const odd of [null, 7, {}]) run.stdout.write(odd);
  run.stdout.end(() => told.push('ended'));
  await settle();
  expect([written(), told]).toEqual(['one|two', ['done', 'ended']]);
});

it('shows attached clients what is written, each what it asked for, until the run is over', async () => {
  const { run } = makeRun();
  run.stdout.write('before\n');
  const [whole, terminal, blind] = [
    client(),
    client({ tty: true, stderr: undefined }),
    client({ stdout: undefined, stderr: undefined }),
  ];
  const over = [whole, terminal, blind].map(({ streams }) => run.attach(streams, never));
  const later = new PassThrough();
  over.push(run.attach(client({ stdout: later }).streams, never));
  const bytes = Buffer.from('out ');
  run.stdout.write(bytes);
  bytes.fill('-');
  run.stderr.write('err');
  run.end();
  run.stdout.write('late');
  await Promise.all(over);
  expect(whole.seen).toEqual({ stdout: 'out ', stderr: 'err' });
  expect(terminal.seen.stdout).toBe('out err');
  expect(String(later.read())).toBe('out ');
});

it('asks the writer to wait for a client, and no longer than that is there', async () => {
  const { run, clock } = makeRun();
  const slow = slowClient();
  const leave = new AbortController();
  const over = run.attach(slow.streams, leave.signal);
  let drains = 0;
  run.stdout.on('drain', () => {
    drains += 1;
  });
  expect(run.stdout.write('x'.repeat(20))).toBe(false);
  slow.takeOne();
  await settle();
  expect([drains, clock.pendingTimers]).toEqual([1, 0]);
  expect(run.stdout.write('x'.repeat(20))).toBe(false);
  leave.abort();
  await over;
  expect([drains, clock.pendingTimers, run.stdout.write('x')]).toEqual([2, 0, true]);
});

it('lets a client go that takes nothing for 10 s, with words, and the container goes on', async () => {
  const { run, clock } = makeRun();
  const slow = slowClient();
  const over = expect(run.attach(slow.streams, never)).rejects.toThrow('it has taken nothing for 10 s');
  const source = Readable.from(Array.from({ length: 100 }, () => 'x'.repeat(1000)));
  source.pipe(run.stdout);
  await clock.advance(9999);
  expect(source.readableEnded).toBe(false);
  await clock.advance(1);
  await over;
  await settle(300);
  expect(source.readableEnded).toBe(true);
});

it('lets a client go for which too much waits, whoever writes without waiting', async () => {
  const { run } = makeRun();
  const slow = slowClient();
  const over = expect(run.attach(slow.streams, never)).rejects.toThrow('more than 1048576 bytes wait for it');
  for (let count = 0; count < 30; count += 1) run.stdout.write(Buffer.alloc(100_000, 'x'));
  await over;
  expect(slow.stdout.writableLength).toBeLessThan(1_200_000);
});

it('a client whose stream throws is let go, and costs nobody else anything', async () => {
  const { run } = makeRun();
  const stdout = new PassThrough();
  stdout.write = () => {
    throw new Error('broken client');
  };
  const broken = client({ stdout });
  const good = client();
  const over = expect(run.attach(broken.streams, never)).rejects.toThrow('broken client');
  void run.attach(good.streams, never);
  run.stdout.write('words');
  await over;
  await settle();
  expect(good.seen.stdout).toBe('words');
});

it('a thousand attached clients are shown everything, and leave nothing', async () => {
  const { run, clock } = makeRun();
  const clients = Array.from({ length: 1000 }, () => client());
  const over = clients.map(({ streams }) => run.attach(streams, never));
  for (let count = 0; count < 10; count += 1) run.stdout.write(`${count}`);
  run.end();
  await Promise.all(over);
  expect(new Set(clients.map(({ seen }) => seen.stdout))).toEqual(new Set(['0123456789']));
  expect(clock.pendingTimers).toBe(0);
});

it('has no input without stdin, and with it what clients type, until the run is over', async () => {
  expect(await textOf(makeRun().run.stdin)).toBe('');
  const { run } = makeRun({ stdin: true });
  const input = textOf(run.stdin);
  const [one, two] = [new PassThrough(), new PassThrough()];
  void run.attach(client({ stdin: one }).streams, never);
  one.end('one ');
  await settle();
  void run.attach(client({ stdin: two }).streams, never);
  two.write('two');
  await settle();
  run.end();
  expect(await input).toBe('one two');
});

it('with stdinOnce the input ends with the first client that types', async () => {
  const { run } = makeRun({ stdin: true, stdinOnce: true });
  void run.attach(client().streams, never);
  const leave = new AbortController();
  const typed = new PassThrough();
  const over = run.attach(client({ stdin: typed }).streams, leave.signal);
  typed.write('words');
  await settle();
  leave.abort();
  await over;
  expect(await textOf(run.stdin)).toBe('words');
});

it('who types waits while nobody reads', async () => {
  const { run } = makeRun({ stdin: true });
  let made = 0;
  const typed = Readable.from(
    (function* () {
      for (; made < 10_000; made += 1) yield 'x'.repeat(1000);
    })(),
    { objectMode: false, highWaterMark: 1000 },
  );
  void run.attach(client({ stdin: typed }).streams, never);
  await settle(500);
  expect(made).toBeLessThan(100);
  run.stdin.resume();
  await settle(500);
  expect(made).toBeGreaterThan(100);
  run.end();
});

it('tells of the size of the terminal, also of one that is there already', async () => {
  const { run } = makeRun();
  let resize: (size: TerminalSize) => void = () => {};
  const sizes: unknown[] = [];
  run.onResize(() => {
    throw new Error('a listener');
  });
  run.onResize(({ columns }) => sizes.push(columns));
  const leave = new AbortController();
  const over = run.attach(
    client({
      onResize: (listener) => {
        resize = listener;
      },
    }).streams,
    leave.signal,
  );
  resize({ columns: 80, rows: 24 });
  run.onResize(({ rows }) => sizes.push(rows));
  leave.abort();
  await over;
  resize({ columns: 1, rows: 1 });
  expect(sizes).toEqual([80, 24]);
});
