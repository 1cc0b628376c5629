import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CredentialsFailure } from '../../../../src/client/credentials/credentials.ts';
import { ExecPlugin, readExecConfig } from '../../../../src/client/credentials/exec-plugin.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf } from '../transport/scripted-server.ts';
import { isRunning, printCredential, type Scratch, scratch, shellPlugin, v1 } from './shell-plugin.ts';
import { waiter } from './waiters.ts';

const secret = 'a-very-secret-token';
const cluster = { name: 'test', server: 'https://10.0.0.1:6443', skipTLSVerify: false };
const start = Date.UTC(2026, 0, 1);
/** Gives the tokens token-1, token-2 and so on, one a run. */
const counting = `echo run >> "$1/runs"; n=$(wc -l < "$1/runs" | tr -d ' ')\n`;

function pluginOf(script: string, files: Scratch, rest: object = {}) {
  const clock = new FakeClock({ start });
  const logged: unknown[] = [];
  const log = (...entry: unknown[]): void => void logged.push(entry);
  const logger = { debug: log, info: log, warn: log, error: log };
  const exec = shellPlugin(script, { args: [files.folder], ...rest });
  return { clock, logged, plugin: new ExecPlugin(readExecConfig(exec, cluster), { clock, logger }) };
}

/** The process that a script has written to the file `pid`. */
async function pidOf(files: Scratch): Promise<number> {
  await until(() => files.lines('pid') === 1);
  return Number(files.read('pid'));
}

describe('ExecPlugin', () => {
  it('runs one process for all that need credentials at once, and gives them the same ones', async () => {
    using files = scratch();
    const { plugin } = pluginOf(counting + printCredential('{"token":"token-$n"}'), files);
    const given = await Promise.all(Array.from({ length: 16 }, () => plugin.get(waiter())));
    expect(new Set(given).size).toBe(1);
    expect(given[0]).toEqual({ authorization: 'Bearer token-1', cert: undefined, key: undefined });
    expect(files.lines('runs')).toBe(1);
  });

  it('keeps credentials without an expiry until they are refused, and replaces them once', async () => {
    using files = scratch();
    const { clock, plugin } = pluginOf(counting + printCredential('{"token":"token-$n"}'), files);
    const first = await plugin.get(waiter());
    await clock.advance(24 * 3600_000);
    expect(await plugin.get(waiter())).toBe(first);
    plugin.refuse(first);
    const second = await plugin.get(waiter());
    expect(second.authorization).toBe('Bearer token-2');
    // an answer to a request of before comes late
    plugin.refuse(first);
    expect(await plugin.get(waiter())).toBe(second);
    expect(files.lines('runs')).toBe(2);
  });

  it.each([
    ['ten seconds before they expire', '2026-01-01T01:00:00Z', 3600_000 - 10_000],
    ['when a tenth of a short life is left', '2026-01-01T00:00:50Z', 45_000],
  ])('replaces credentials %s', async (_when, expirationTimestamp, servesMs) => {
    using files = scratch();
    const status = `{"token":"token-$n","expirationTimestamp":"${expirationTimestamp}"}`;
    const { clock, plugin } = pluginOf(counting + printCredential(status), files);
    const first = await plugin.get(waiter());
    await clock.advance(servesMs - 1);
    expect(await plugin.get(waiter())).toBe(first);
    await clock.advance(1);
    expect((await plugin.get(waiter())).authorization).toBe('Bearer token-2');
  });

  it.each([
    ['set back', -86_400_000, 3_600_000 - 10_000],
    ['set forward', 3_590_000, 0],
  ])('replaces credentials in time also where the clock was %s since', async (_how, jumpMs, servesMs) => {
    using files = scratch();
    const status = '{"token":"token-$n","expirationTimestamp":"2026-01-01T01:00:00Z"}';
    const { clock, plugin } = pluginOf(counting + printCredential(status), files);
    await plugin.get(waiter());
    clock.jump(jumpMs);
    await clock.advance(servesMs);
    expect((await plugin.get(waiter())).authorization).toBe('Bearer token-2');
  });

  it('gives expired credentials to those who waited for them, and asks again for the next', async () => {
    using files = scratch();
    const status = '{"token":"token-$n","expirationTimestamp":"2025-12-31T00:00:00Z"}';
    const { plugin } = pluginOf(counting + printCredential(status), files);
    expect((await plugin.get(waiter())).authorization).toBe('Bearer token-1');
    expect((await plugin.get(waiter())).authorization).toBe('Bearer token-2');
  });

  it('tells the plugin what it is asked for', async () => {
    using files = scratch();
    const script = `echo "$KUBERNETES_EXEC_INFO" > "$1/info"\n${printCredential('{"token":"t"}')}`;
    await pluginOf(script, files, { provideClusterInfo: true }).plugin.get(waiter());
    const spec = { interactive: false, cluster: { server: cluster.server } };
    expect(JSON.parse(files.read('info'))).toEqual({ apiVersion: v1, kind: 'ExecCredential', spec });
  });

  it('asks a plugin that has failed again for the next request', async () => {
    using files = scratch();
    const script = `${counting}[ "$n" -gt 1 ] || exit 7\n${printCredential('{"token":"token-$n"}')}`;
    const { plugin } = pluginOf(script, files);
    const failures = [failureOf(plugin.get(waiter())), failureOf(plugin.get(waiter()))];
    for (const failure of failures) {
      expect(await failure).toMatchObject({
        reason: 'NoCredentials',
        message: 'The credential plugin "/bin/sh" ended with exit code 7',
      });
    }
    expect((await plugin.get(waiter())).authorization).toBe('Bearer token-2');
  });

  it('says how to install a plugin that is not there, and says it of no other failure', async () => {
    using files = scratch();
    const hint = { installHint: 'Get it from example.test.' };
    const missing = pluginOf('', files, { ...hint, command: '/nowhere/plugin' }).plugin;
    expect(await failureOf(missing.get(waiter()))).toMatchObject({
      reason: 'NoCredentials',
      message: 'The credential plugin "/nowhere/plugin" was not found. Get it from example.test.',
    });
    const failing = pluginOf('exit 1', files, hint).plugin;
    expect(await failureOf(failing.get(waiter()))).toMatchObject({
      message: 'The credential plugin "/bin/sh" ended with exit code 1',
    });
  });

  it('fails where the CA that the plugin is to be told of cannot be read', async () => {
    using files = scratch();
    const config = readExecConfig(shellPlugin('', { provideClusterInfo: true }), { ...cluster, caFile: files.path('none') });
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const plugin = new ExecPlugin(config, { clock: new FakeClock(), logger });
    expect(await failureOf(plugin.get(waiter()))).toMatchObject({
      reason: 'NoCredentials',
      message: 'The credential plugin "/bin/sh" could not be asked (Error ENOENT)',
    });
  });

  it('goes on for those who wait when one of them leaves', async () => {
    using files = scratch();
    const script = `${counting}until [ -e "$1/go" ]; do [ -d "$1" ] || exit 1; sleep 0.01; done\n${printCredential('{"token":"token-$n"}')}`;
    const { plugin } = pluginOf(script, files);
    const [first, second] = [waiter(), waiter()];
    const leaving = plugin.get(first);
    const staying = plugin.get(second);
    await until(() => files.lines('runs') === 1);
    first.leave();
    await settle();
    files.write('go', '');
    expect(await staying).toMatchObject({ authorization: 'Bearer token-1' });
    await leaving;
    expect(files.lines('runs')).toBe(1);
  });

  it.each([
    ['no request waits for it any longer', async (_clock: FakeClock, leave: () => void) => leave()],
    ['the time of the request is up', async (clock: FakeClock) => clock.advance(300)],
  ])('ends a plugin that hangs when %s, and says so once', async (_when, pass) => {
    using files = scratch();
    const { clock, logged, plugin } = pluginOf('echo $$ > "$1/pid"; exec sleep 600', files);
    const request = waiter(300);
    const failure = failureOf(plugin.get(request));
    const pid = await pidOf(files);
    await pass(clock, request.leave);
    expect(await failure).toBeInstanceOf(CredentialsFailure);
    await until(() => !isRunning(pid));
    expect(logged).toEqual([[{ plugin: '/bin/sh', reason: expect.any(String) }, 'a credential plugin was ended']]);
    await plugin.close(new CredentialsFailure('Aborted', 'closed'));
  });

  it('leaves no process when it is closed', async () => {
    using files = scratch();
    const { plugin } = pluginOf('echo $$ > "$1/pid"; exec sleep 600', files);
    const failure = failureOf(plugin.get(waiter()));
    const pid = await pidOf(files);
    const reason = new CredentialsFailure('Aborted', 'closed');
    await plugin.close(reason);
    expect(isRunning(pid)).toBe(false);
    expect(await failure).toBe(reason);
  });

  it('shows no token, no argument and no variable in errors and in the log', async () => {
    using files = scratch();
    const rest = { args: [secret], env: [{ name: 'SECRET', value: secret }] };
    const broken = pluginOf(`echo ${secret}; echo ${secret} >&2`, files, rest);
    const failing = pluginOf(`echo ${secret} >&2; exit 1`, files, rest);
    const hanging = pluginOf('exec sleep 600', files, rest);
    const request = waiter();
    const errors = [failureOf(broken.plugin.get(waiter())), failureOf(failing.plugin.get(waiter()))];
    errors.push(failureOf(hanging.plugin.get(request)));
    request.leave();
    const said = [...(await Promise.all(errors)), broken.logged, failing.logged, hanging.logged];
    expect(inspect(said, { depth: 20, showHidden: true })).not.toContain(secret);
  });
});
