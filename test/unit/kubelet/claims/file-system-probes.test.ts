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
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => {
      child.kill('SIGTERM');
      reject(signal.reason);
    });
    return promise;
  };

  async end(index: number): Promise<void> {
    const child = this.children[index];
    const ended = child && once(child, 'exit');
    child?.kill('SIGKILL');
    await ended;
  }
}

const wordsOf = (asking: Promise<unknown>): Promise<string> => asking.then(() => 'answered', String);

it('a mount whose program does not end gets no second one, however often it is asked, until that has ended', async () => {
  const programs = new Stubborn();
  programs.hanging.add('/dead');
  const { ask } = new FileSystemProbes({ run: programs.run });
  const clock = new FakeClock();
  const turns = new MountTurns({ clock: safeClock(clock), ask, logger: silentLogger });
  const first = wordsOf(turns.requireAnswer('/dead', never));
  await until(() => programs.children.length === 1);
  await clock.advance(10_000);
  expect(await first).toContain('it took longer than 10 s');
  for (let time = 1; time < 10; time += 1) {
    await clock.advance(120_000);
    expect(await wordsOf(turns.requireAnswer('/dead', never))).toContain('the program that has asked it does not end');
  }
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
  const { ask } = new FileSystemProbes({ run: programs.run });
  const leaving = new AbortController();
  const first = wordsOf(ask('/slow', leaving.signal));
  const second = new AbortController();
  const other = wordsOf(ask('/slow', second.signal));
  leaving.abort(new Error('its pod ends'));
  expect(await first).toBe('Error: its pod ends');
  const third = ask('/slow', AbortSignal.abort(new Error('too late')));
  expect(await wordsOf(third)).toBe('Error: too late');
  const joined = wordsOf(ask('/slow', second.signal));
  second.abort(new Error('enough'));
  expect([await other, await joined]).toEqual(['Error: enough', 'Error: enough']);
  expect(programs.children).toHaveLength(1);
});

it('programs that hang are as many as may be, and then others hear that nobody could be asked; one that ends makes room', async () => {
  const programs = new Stubborn();
  const { ask } = new FileSystemProbes({ run: programs.run, mostPrograms: 2 });
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
  expect(await wordsOf(ask('/b', never))).toContain('does not end');
});

it('those that are well wait for a place among the programs', async () => {
  const programs = new Stubborn();
  const { ask } = new FileSystemProbes({ run: programs.run, mostPrograms: 1 });
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
