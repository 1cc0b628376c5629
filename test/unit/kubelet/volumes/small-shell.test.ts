// The shell and the programs are real: what is tested is what a shell does with words, ends and signals.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SmallShell } from '../../../../src/kubelet/volumes/small-shell.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';

const limits = { timeoutMs: 60_000 };
let folder = '';
let programs = 0;

beforeAll(async () => {
  folder = await mkdtemp('/tmp/small-shell-');
});
afterAll(() => rm(folder, { recursive: true }));

/** The words of a program that never ends, and where its process id stands once it runs. */
function endless(): { readonly words: readonly string[]; readonly pid: () => Promise<number> } {
  const file = join(folder, `pid-${++programs}`);
  const read = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const pid = async (): Promise<number> => {
    await until(() => read().endsWith('\n'));
    return Number(read());
  };
  return { words: ['-c', 'echo $$ > "$1"; exec sleep 600', 'sh', file], pid };
}

/** Empty for a process that has ended. */
function fileOf(pid: number | string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function isGone(pid: number): boolean {
  const stat = fileOf(pid, 'stat');
  return stat === '' || stat.includes(') Z ');
}

function childrenOf(parent: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => fileOf(pid, 'stat').split(') ')[1]?.split(' ')[1] === parent).length;
}

function isRunning(word: string): boolean {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => fileOf(pid, 'cmdline').split('\0').includes(word));
}

describe('SmallShell', () => {
  it('gives a program its words as they are', async () => {
    const words = ["it's", 'a "b" $HOME `id` $(id) ; & | > <', 'two\nlines', '-n', '', ' blanks ', '\\0101', 'größe', '*'];
    const out = join(folder, 'words');
    await new SmallShell().run('/bin/sh', ['-c', 'out=$1; shift; printf "%s|" "$@" > "$out"', 'sh', out, ...words], limits);
    expect(await readFile(out, 'utf8')).toBe(words.map((word) => `${word}|`).join(''));
  });

  it('rejects with what a failed program says, or else with its code', async () => {
    const shell = new SmallShell();
    await expect(shell.run('/bin/sh', ['-c', 'echo "no room" >&2; exit 32'], limits)).rejects.toThrow(/^no room$/);
    await expect(shell.run('/bin/sh', ['-c', 'exit 7'], limits)).rejects.toThrow(/^it ended with 7$/);
    await expect(shell.run('no-such-program', [], limits)).rejects.toThrow('no-such-program: not found');
    await expect(shell.run('/bin/true', ['a\0b'], limits)).rejects.toThrow('NUL');
  });

  it('keeps no more than 2000 characters of what a program says', async () => {
    const said = new SmallShell().run('/bin/sh', ['-c', 'yes x | head -c 100000 >&2; exit 1'], limits);
    const error: unknown = await said.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/^(?:x\n)+x?$/);
    expect((error as Error).message.length).toBeLessThanOrEqual(2000);
  });

  it('runs programs side by side, and tells each caller of its own', async () => {
    const shell = new SmallShell();
    const { words, pid } = endless();
    const stop = new AbortController();
    const first = shell.run('/bin/sh', words, { ...limits, signal: stop.signal });
    await pid();
    const codes = Array.from({ length: 20 }, (_, code) => code + 1);
    const ends = await Promise.allSettled(codes.map((code) => shell.run('/bin/sh', ['-c', `exit ${code}`], limits)));
    expect(ends.map((end) => end.status === 'rejected' && String(end.reason))).toEqual(
      codes.map((code) => `Error: it ended with ${code}`),
    );
    stop.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
  });

  it('leaves no process of what has ended', async () => {
    const shell = new SmallShell();
    const file = join(folder, 'session');
    await shell.run('/bin/sh', ['-c', 'cut -d " " -f 6 /proc/$$/stat > "$1"', 'sh', file], limits);
    const shellPID = readFileSync(file, 'utf8').trim();
    for (let count = 0; count < 20; count++) await shell.run('/bin/true', [], limits);
    await until(async () => {
      await shell.run('/bin/true', [], limits);
      // that of the last one may still be there
      return childrenOf(shellPID) <= 2;
    });
  });

  it('kills a program whose call is aborted', async () => {
    const { words, pid } = endless();
    const stop = new AbortController();
    const running = new SmallShell().run('/bin/sh', words, { ...limits, signal: stop.signal });
    const started = await pid();
    stop.abort(new Error('not needed any more'));
    await expect(running).rejects.toThrow('not needed any more');
    await until(() => isGone(started));
  });

  it('kills a program whose call was aborted before it had begun', async () => {
    const shell = new SmallShell();
    const stop = new AbortController();
    const length = '600.125';
    const running = shell.run('sleep', [length], { ...limits, signal: stop.signal });
    stop.abort(new Error('too late'));
    await expect(running).rejects.toThrow('too late');
    // the shell has begun it by then
    await shell.run('sleep', ['0.1'], limits);
    await until(() => !isRunning(length));
    await expect(shell.run('/bin/true', [], { ...limits, signal: stop.signal })).rejects.toThrow('too late');
  });

  it('kills a program that takes too long', async () => {
    const clock = new FakeClock();
    const { words, pid } = endless();
    const running = new SmallShell(clock).run('/bin/sh', words, limits);
    const started = await pid();
    const refused = expect(running).rejects.toThrow('it took longer than 60 s');
    await clock.advance(60_000);
    await refused;
    await until(() => isGone(started));
  });

  it('rejects what runs when the shell is killed, and starts another one', async () => {
    const shell = new SmallShell();
    // the shell leads the session
    const killed = shell.run('/bin/sh', ['-c', 'kill -9 "$(cut -d " " -f 6 /proc/$$/stat)"; sleep 20'], limits);
    await expect(killed).rejects.toThrow('/bin/sh, which starts it, ended with SIGKILL');
    await expect(shell.run('/bin/true', [], limits)).resolves.toBeUndefined();
  });
});
