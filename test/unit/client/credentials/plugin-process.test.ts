import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runPlugin } from '../../../../src/client/credentials/exec-plugin.ts';
import { until } from '../../../support/until.ts';
import { failureOf } from '../transport/scripted-server.ts';
import { isRunning, scratch } from './shell-plugin.ts';

const secret = 'a-very-secret-token';

function shell(script: string, { signal = new AbortController().signal, args = [] as string[], env = {} } = {}) {
  return runPlugin({ command: '/bin/sh', args: ['-c', script, 'plugin', ...args], env }, signal);
}

describe('runPlugin', () => {
  it('gives what the plugin writes, with its arguments and its variables beside ours', async () => {
    const plugin = shell('printf "%s %s %s" "$1" "$EXTRA" "$PATH"', { args: ['a b'], env: { EXTRA: 'x' } });
    expect(await plugin.output).toBe(`a b x ${process.env.PATH}`);
    await plugin.ended;
  });

  it('gives it an empty input and no terminal', async () => {
    expect(await shell('cat; (: </dev/tty) 2>/dev/null && echo terminal; echo end').output).toBe('end\n');
  });

  it.each([
    ['exits with 3', 'exit 3', 'ended with exit code 3'],
    ['is killed', 'kill -9 $$', 'was ended by SIGKILL'],
    ['writes and fails', `echo ${secret}; exit 1`, 'ended with exit code 1'],
    ['complains and fails', `echo ${secret} >&2; exit 1`, 'ended with exit code 1'],
  ])('fails when it %s, and says nothing of what it wrote', async (_what, script, message) => {
    const plugin = shell(script);
    const error = await failureOf(plugin.output);
    expect(error).toMatchObject({ message, isMissing: false });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret);
    await plugin.ended;
  });

  it.each([
    ['is not there', '/nowhere/plugin', [secret], { message: 'was not found', isMissing: true }],
    ['is no program', '/etc/passwd', [secret], { message: 'could not be started (EACCES)', isMissing: false }],
    [
      'has an argument no process can take',
      '/bin/sh',
      [`${secret}\0`],
      { message: 'could not be started (ERR_INVALID_ARG_VALUE)' },
    ],
  ])('fails when it %s, and shows no argument', async (_what, command, args, expected) => {
    const plugin = runPlugin({ command, args, env: {} }, new AbortController().signal);
    const error = await failureOf(plugin.output);
    expect(error).toMatchObject(expected);
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(secret);
    await plugin.ended;
  });

  it('ends a plugin that writes without end', async () => {
    const plugin = shell('while :; do echo 0123456789012345678901234567890123456789; done');
    expect(await failureOf(plugin.output)).toMatchObject({ message: 'wrote more than 1048576 bytes' });
    await plugin.ended;
  });

  it('kills the plugin and its children when it is aborted', async () => {
    using files = scratch();
    const stop = new AbortController();
    const plugin = shell('trap "" TERM; sleep 600 & echo $$ $! > "$1"; wait', {
      signal: stop.signal,
      args: [files.path('pids')],
    });
    await until(() => files.lines('pids') === 1);
    const pids = files.read('pids').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await failureOf(plugin.output)).toBe(reason);
    await plugin.ended;
    await until(() => !pids.some(isRunning));
  });

  it('leaves no child of a plugin that has answered', async () => {
    using files = scratch();
    const plugin = shell('sleep 600 >/dev/null & echo $! > "$1"; echo answer', { args: [files.path('pid')] });
    expect(await plugin.output).toBe('answer\n');
    await until(() => !isRunning(Number(files.read('pid'))));
  });

  it('kills a child that holds the output of an ended plugin open, and gives all that the plugin wrote before', async () => {
    using files = scratch();
    const plugin = shell('(sleep 600; echo late) & echo $! > "$1"; head -c 60000 /dev/zero | tr "\\0" x', {
      args: [files.path('pid')],
    });
    expect(await plugin.output).toBe('x'.repeat(60_000));
    await plugin.ended;
    await until(() => !isRunning(Number(files.read('pid'))));
  });

  it('waits for a process that has left the group and holds the output open, until it is aborted', async () => {
    using files = scratch();
    const stop = new AbortController();
    const leave = `const { spawn } = require('node:child_process');
      const child = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
      require('node:fs').writeFileSync(process.argv[1], process.pid + ' ' + child.pid + '\\n');
      child.unref();`;
    const command = { command: process.execPath, args: ['-e', leave, files.path('pids')], env: {} };
    const plugin = runPlugin(command, stop.signal);
    const failure = failureOf(plugin.output);
    await until(() => files.lines('pids') === 1);
    const [leader = 0, child = 0] = files.read('pids').split(' ').map(Number);
    await until(() => !isRunning(leader));
    stop.abort(new Error('enough'));
    expect(await failure).toMatchObject({ message: 'enough' });
    await plugin.ended;
    expect(isRunning(child)).toBe(true);
    process.kill(child);
  });
});
