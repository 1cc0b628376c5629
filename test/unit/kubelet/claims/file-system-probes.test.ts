import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { FileSystemProbes, type ProbeCall } from '../../../../src/kubelet/claims/file-system-probes.ts';
import { MountTurns } from '../../../../src/kubelet/claims/mount-turns.ts';
import { FakeClock } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';
import { never } from '../volumes/volumes-world.ts';

const usage = { capacityBytes: 2, availableBytes: 1, usedBytes: 1, inodes: 2, inodesFree: 1, inodesUsed: 1 };

/** Real programs that do not end when they are asked to, as those that wait for a dead disk; each is ended by the test. */
class Stubborn {
  readonly children: ChildProcess[] = [];
  /** The folders whose programs hang. */
  readonly hanging = new Set<string>();
  /** Of those that hang. */
  answer = Promise.withResolvers<typeof usage>();

  constructor() {
    onTestFinished(() => {
      for (const child of this.children) child.kill('SIGKILL');
    });
  }

  readonly run = async (folder: string, { signal, whenEnded }: ProbeCall): Promise<typeof usage> => {
    const script = this.hanging.has(folder) ? 'trap "" TERM; echo on; while :; do sleep 0.01; done' : 'echo on';
    const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.children.push(child);
    child.once('exit', whenEnded);
    await once(child.stdout, 'data');
    if (!this.hanging.has(folder)) return usage;
    const left = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => {
      child.kill('SIGTERM');
      left.reject(signal.reason);
    });
    return Promise.race([left.promise, this.answer.promise]);
  };

  async end(index: number): Promise<void> {
    const child = this.children[index];
    const ended = child && once(child, 'exit');
    child?.kill('SIGKILL');
    await ended;
  }
}

/** Each folder is a file system, all of them of one server for each letter that they begin with. */
const eachItsOwn = async (folder: string) => ({ key: folder, group: folder.slice(0, 2) });

const wordsOf = (asking: Promise<unknown>): Promise<string> => asking.then(() => 'answered', String);

it('a mount whose program does not end gets no second one, however often it is asked, until that has ended', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/dead');
  const warnings: unknown[] = [];
  const logger = { warn: (fields: unknown) => warnings.push(fields) };
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, logger });
  const clock = new FakeClock();
  const turns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  const first = wordsOf(turns.requireAnswer('/dead', never));
  await until(() => programs.children.length === 1);
  await clock.advance(10_000);
  expect(await first).toContain('it took longer than 10 s');
  for (let time = 1; time < 10; time += 1) {
    await clock.advance(120_000);
    const again = wordsOf(turns.requireAnswer('/dead', never));
    await clock.advance(10_000);
    expect(await again).toContain('the program that has asked it does not end');
  }
  expect(warnings).toEqual([{ path: '/dead' }]);
  expect(programs.children).toHaveLength(1);
  await turns.requireAnswer('/well', never);
  programs.hanging.clear();
  await programs.end(0);
  await clock.advance(120_000);
  await turns.requireAnswer('/dead', never);
  expect(programs.children).toHaveLength(3);
});

it('all who ask a file system share one program, and whoever leaves ends it for nobody else', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/slow');
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn });
  const leaving = new AbortController();
  const first = wordsOf(ask('/slow', leaving.signal));
  const second = new AbortController();
  const other = wordsOf(ask('/slow', second.signal));
  await until(() => programs.children.length === 1);
  leaving.abort(new Error('its pod ends'));
  expect(await first).toBe('Error: its pod ends');
  expect(await wordsOf(ask('/slow', AbortSignal.abort(new Error('too late'))))).toBe('Error: too late');
  const joined = wordsOf(ask('/slow', second.signal));
  programs.answer.resolve(usage);
  expect([await other, await joined]).toEqual(['answered', 'answered']);
  expect(programs.children).toHaveLength(1);
});

it('who asks after the last one has left waits for the end of that program, and has its own answer', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/slow');
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn });
  const leaving = new AbortController();
  const first = wordsOf(ask('/slow', leaving.signal));
  await until(() => programs.children.length === 1);
  leaving.abort(new Error('its pod ends'));
  const next = wordsOf(ask('/slow', never));
  expect(await first).toBe('Error: its pod ends');
  programs.hanging.clear();
  await programs.end(0);
  expect(await next).toBe('answered');
  expect(programs.children).toHaveLength(2);
});

it('a question that is given up before its program begins is none that hangs', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/slow');
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, mostPrograms: 1 });
  const slow = wordsOf(ask('/slow', never));
  await until(() => programs.children.length === 1);
  const leaving = new AbortController();
  const waiting = ['/a', '/b', '/c'].map((folder) => wordsOf(ask(folder, leaving.signal)));
  await Promise.resolve();
  leaving.abort(new Error('enough'));
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['Error: enough']));
  const next = ['/a', '/d'].map((folder) => wordsOf(ask(folder, never)));
  programs.answer.resolve(usage);
  expect(await slow).toBe('answered');
  await programs.end(0);
  expect(await Promise.all(next)).toEqual(['answered', 'answered']);
});

it('a volume of many pods that hangs has one program, and other volumes are asked meanwhile', async () => {
  const programs = new Stubborn();
  const pods = Array.from({ length: 70 }, (_, index) => `/pods/${index}/dead`);
  for (const pod of pods) programs.hanging.add(pod);
  const fileSystemOf = async (folder: string) => ({ key: folder.split('/').at(-1) ?? '', group: 'server' });
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf });
  const clock = new FakeClock();
  const turns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  const asking = pods.map((pod) => wordsOf(turns.requireAnswer(pod, never)));
  await until(() => programs.children.length === 1);
  await clock.advance(10_000);
  for (const words of await Promise.all(asking)) expect(words).toContain('it took longer than 10 s');
  await turns.requireAnswer('/pods/1/well', never);
  expect(programs.children).toHaveLength(2);
});

it('file systems of one server that hang leave places to others, and the log names each once', async () => {
  const programs = new Stubborn();
  const warnings: unknown[] = [];
  const logger = { warn: (fields: unknown) => warnings.push(fields) };
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, mostOfGroup: 2, logger });
  for (const folder of ['/a1', '/a2']) {
    programs.hanging.add(folder);
    const leaving = new AbortController();
    const asking = wordsOf(ask(folder, leaving.signal));
    await until(() => programs.children.length === programs.hanging.size);
    leaving.abort(new Error('enough'));
    await asking;
  }
  const why = '2 programs that ask other file systems of the same server or type hang, and no more are started';
  expect([await wordsOf(ask('/a3', never)), await wordsOf(ask('/a4', never))]).toEqual(Array(2).fill(`ProgramFailure: ${why}`));
  expect(warnings).toEqual([{ path: '/a1' }, { path: '/a2' }]);
  expect(await ask('/b', never)).toEqual(usage);
});

it('the time of a question begins with its program; where no place comes, nobody could ask', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/slow');
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, mostPrograms: 1 });
  const clock = new FakeClock();
  const turns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  void ask('/slow', never);
  await until(() => programs.children.length === 1);
  const well = wordsOf(turns.requireAnswer('/well', never));
  await clock.advance(10_000);
  expect(await well).toContain('nobody could ask whether it answers: the programs that may run at once are busy');
  programs.hanging.add('/late');
  const late = wordsOf(turns.requireAnswer('/late', never));
  await clock.advance(9000);
  programs.answer.resolve(usage);
  programs.answer = Promise.withResolvers();
  await programs.end(0);
  await until(() => programs.children.length === 2);
  await clock.advance(9000);
  programs.answer.resolve(usage);
  expect(await late).toBe('answered');
});

it('a disk in the place of one that hangs is asked by a program of its own', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/mnt');
  let device = '8:1';
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: async () => ({ key: device, group: device }) });
  const leaving = new AbortController();
  const first = wordsOf(ask('/mnt', leaving.signal));
  await until(() => programs.children.length === 1);
  leaving.abort(new Error('enough'));
  await first;
  programs.hanging.clear();
  device = '8:16';
  expect(await ask('/mnt', never)).toEqual(usage);
});

it('programs that hang are as many as may be, and then others hear that nobody could be asked; one that ends makes room', async () => {
  const programs = new Stubborn();
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, mostPrograms: 2 });
  for (const folder of ['/a', '/b']) {
    programs.hanging.add(folder);
    const leaving = new AbortController();
    const asking = wordsOf(ask(folder, leaving.signal));
    await until(() => programs.children.length === programs.hanging.size);
    leaving.abort(new Error('enough'));
    await asking;
  }
  expect(await wordsOf(ask('/c', never))).toContain('2 programs that ask other file systems hang, and no more are started');
  await expect(ask('/c', never)).rejects.toMatchObject({ name: 'ProgramFailure', code: 'EAGAIN' });
  await programs.end(0);
  await until(async () => (await wordsOf(ask('/c', never))) === 'answered');
  programs.hanging.clear();
  const next = ask('/b', never);
  await programs.end(1);
  expect(await next).toEqual(usage);
});

it('those that are well wait for a place among the programs', async () => {
  const programs = new Stubborn();
  const { ask } = new FileSystemProbes({ run: programs.run, fileSystemOf: eachItsOwn, mostPrograms: 1 });
  const folders = Array.from({ length: 5 }, (_, index) => `/${index}`);
  expect(await Promise.all(folders.map((folder) => ask(folder, never)))).toEqual(folders.map(() => usage));
  expect(programs.children).toHaveLength(5);
});

it('the program of the system says how full a file system is, and fails where nothing is', async () => {
  const folder = await tempDir();
  const { ask } = new FileSystemProbes();
  const { bsize, blocks } = await statfs(folder);
  expect((await ask(folder, never)).capacityBytes).toBe(bsize * blocks);
  await expect(ask('/no/such/folder', never)).rejects.toThrow('stat ended with exit code 1');
  // nothing of it is left
  await expect(ask('/no/such/folder', never)).rejects.toThrow('stat ended with exit code 1');
});
