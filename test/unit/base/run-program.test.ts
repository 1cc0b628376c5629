import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { type ProgramCall, ProgramFailure, runProgram } from '../../../src/base/run-program.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

const never = new AbortController().signal;
const shell = (script: string, call: Partial<ProgramCall> = {}): Promise<string> =>
  runProgram({ command: '/bin/sh', args: ['-c', script], mostOutputBytes: 65_536, signal: never, ...call });
const failureOf = async (run: Promise<string>): Promise<unknown> =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );
const hasEnded = async (pid: string): Promise<boolean> =>
  readFile(`/proc/${pid.trim()}/status`, 'utf8').then(
    (status) => /^State:\s+Z/m.test(status),
    () => true,
  );

describe('a program that is run', () => {
  it('gets arguments, variables and input, and gives what it writes', async () => {
    const env = { EXTRA: 'more' };
    expect(await shell('cat; echo "$EXTRA"', { env, input: 'read\n' })).toBe('read\nmore\n');
    expect(await shell('cat; echo end')).toBe('end\n');
  });

  it('may leave its input unread', async () => {
    expect(await shell('exec <&-; echo end', { input: 'x'.repeat(1_000_000) })).toBe('end\n');
  });

  it.each([
    ['ends with a code', 'echo secret; echo why >&2; exit 3', '/bin/sh ended with exit code 3', 'why\n'],
    ['is killed', 'echo why >&2; kill -9 $$', '/bin/sh was ended by SIGKILL', 'why\n'],
    ['writes too much', 'yes secret', '/bin/sh wrote more than 65536 bytes', ''],
  ])('fails when it %s, with its words beside the message', async (_, script, message, stderr) => {
    const error = await failureOf(shell(script));
    expect(error).toBeInstanceOf(ProgramFailure);
    expect(error).toMatchObject({ message, stderr });
  });

  it.each([
    ['is not there', '/no/such/program', '/no/such/program was not found', 'ENOENT'],
    ['is no program', '/etc/passwd', '/etc/passwd could not be started: EACCES', 'EACCES'],
    ['has an impossible name', 'a\0b', 'a\0b could not be started: ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_VALUE'],
  ])('fails when it %s', async (_, command, message, code) => {
    expect(await failureOf(shell('', { command }))).toMatchObject({ message, code });
  });

  it('is killed with all that it has started when the signal aborts', async () => {
    const folder = await tempDir();
    const stop = new AbortController();
    const run = failureOf(shell(`trap "" TERM; sleep 600 & echo $! > ${folder}/pid; wait`, { signal: stop.signal }));
    const written = () => readFile(join(folder, 'pid'), 'utf8').catch(() => '');
    await until(async () => (await written()) !== '');
    const pid = await written();
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await run).toBe(reason);
    await until(() => hasEnded(pid));
  });

  it.each<[string, Partial<ProgramCall>, boolean]>([
    ['has ended', {}, false],
    ['was not there', { command: '/no/such/program' }, true],
    ['had an impossible name', { command: 'a\0b' }, true],
    ['was not begun', { signal: AbortSignal.abort(new Error('too late')) }, true],
  ])('tells once that nothing of it is left when it %s', async (_, call, fails) => {
    const whenEnded = vi.fn();
    const error = await failureOf(shell('echo a', { ...call, whenEnded }));
    expect([error !== undefined, whenEnded.mock.calls.length]).toEqual([fails, 1]);
  });

  it('tells that nothing of it is left only once it has ended, also where its call was rejected before', async () => {
    const stop = new AbortController();
    const whenEnded = vi.fn();
    const run = failureOf(shell('sleep 600', { signal: stop.signal, whenEnded }));
    stop.abort(new Error('enough'));
    expect(await run).toMatchObject({ message: 'enough' });
    expect(whenEnded).not.toHaveBeenCalled();
    await until(() => whenEnded.mock.calls.length === 1);
  });

  it('leaves nothing behind that holds its output', async () => {
    const pid = await shell('sleep 600 & echo $!');
    await until(() => hasEnded(pid));
  });

  it('keeps the beginning of its words', async () => {
    const error = await failureOf(shell('yes complaint | head -c 1000000 >&2; exit 1'));
    expect(error instanceof ProgramFailure && [error.stderr.length, error.isCut]).toEqual([2000, true]);
  });

  it.each([
    ['has written all of them', 'echo why >&2; exit 1', false],
    ['has written as much as is kept', 'head -c 2000 /dev/zero >&2; exit 1', false],
    ['has written one more', 'head -c 2001 /dev/zero >&2; exit 1', true],
    ['was killed meanwhile', 'echo why >&2; kill -9 $$', true],
    ['was killed for its output', 'yes secret', true],
  ])('says whether there may be more of its words: it %s', async (_, script, isCut) => {
    expect(await failureOf(shell(script))).toMatchObject({ isCut });
  });

  it('may write a character in pieces', async () => {
    const pieces = String.raw`printf '\303' >&2; sleep 0.1; printf '\244' >&2; exit 1`;
    expect(await failureOf(shell(pieces))).toMatchObject({ stderr: 'ä' });
  });

  it('fails without file descriptors, as one that goes on, and can be run once there are some', async () => {
    const script = fileURLToPath(new URL('without-descriptors.ts', import.meta.url));
    const child = spawn('/bin/sh', ['-c', 'ulimit -n 60; exec "$0" "$1"', process.execPath, script]);
    const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(complaint).toBe('');
    expect(JSON.parse(said)).toEqual({ short: ['sh could not be started: EMFILE', 'spawn sh EMFILE'], after: ['a\n', 'begun'] });
  });
});
