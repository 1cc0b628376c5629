import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LogindSignals } from '../../../../src/kubelet/shutdown/logind-signals.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { until } from '../../../support/until.ts';

const { signal } = new AbortController();

/** systemd-logind whose programs are scripts of the test. */
async function logind(scripts: { readonly busctl?: string; readonly inhibit?: string } = {}) {
  const folder = await tempDir();
  const program = async (name: string, script: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\ncd ${folder}\n${script}\n`);
    await chmod(path, 0o755);
    return path;
  };
  const configFolder = join(folder, 'logind.conf.d');
  const busctl = await program('busctl', scripts.busctl ?? 'exit 1');
  const systemdInhibit = await program('systemd-inhibit', scripts.inhibit ?? 'exit 1');
  const has = (name: string): Promise<boolean> =>
    readFile(join(folder, name)).then(
      () => true,
      () => false,
    );
  return { folder, configFolder, has, signals: new LogindSignals({ configFolder, busctl, systemdInhibit }) };
}

const shift = 'while expr "x$1" : x-- > /dev/null; do shift; done';
const signalLine = (member: string, data: unknown) => JSON.stringify({ type: 'signal', member, payload: { type: 'b', data } });

describe('systemd-logind', () => {
  it('is asked how long it waits, and whether it shuts down', async () => {
    const { signals } = await logind({ busctl: `echo '{"type":"t","data":5000000}'; echo '{"type":"b","data":true}'` });
    expect(await signals.read(signal)).toEqual({ longestDelayMs: 5000, isShuttingDown: true });
  });

  it.each([
    ['Failed to get property', 'echo "Failed to get property InhibitDelayMaxUSec: not there" >&2; exit 1'],
    ['did not say how long it waits', 'echo nonsense'],
    ['did not say how long it waits', `echo '{"data":1}'; echo '{"data":"no"}'`],
    ['wrote more than 65536 bytes', 'yes'],
  ])('is no answer that it cannot give: %s', async (message, busctl) => {
    const { signals } = await logind({ busctl });
    await expect(signals.read(signal)).rejects.toThrow(message);
  });

  it('is set up by a file of its own, and reads it anew', async () => {
    const { signals, configFolder, folder } = await logind({ busctl: `${shift}; echo "$@" > called` });
    await mkdir(configFolder);
    await writeFile(join(configFolder, '99-kubelet.conf'), 'old');
    await signals.allowDelay(35_000, signal);
    expect(await readFile(join(configFolder, '99-kubelet.conf'), 'utf8')).toMatch(/^\[Login\]\nInhibitDelayMaxSec=35\n/m);
    expect(await readFile(join(folder, 'called'), 'utf8')).toMatch(/Manager KillUnit ssi systemd-logind.service all 1\n$/);
  });

  it('waits from the moment on that the program says so, until that is ended', async () => {
    // as systemd-inhibit does: it holds the delay, and ends with its own program
    const inhibit = `${shift}; "$@" & child=$!; trap 'kill $child; : > over; exit' TERM; wait`;
    const { signals, has } = await logind({ inhibit });
    const delay = await signals.delay(signal);
    expect(await has('over')).toBe(false);
    delay.end();
    delay.end();
    await delay.ended;
    await until(() => has('over'));
  });

  it('says what it has against a delay', async () => {
    const { signals } = await logind({ inhibit: 'echo "Failed to inhibit: Access denied" >&2; exit 1' });
    await expect(signals.delay(signal)).rejects.toThrow('Failed to inhibit: Access denied');
  });

  it('ends a program that nobody waits for any more', async () => {
    const { signals, has } = await logind({ inhibit: `trap ': > over; exit' TERM; : > begun; while :; do sleep 0.01; done` });
    const giveUp = new AbortController();
    const delay = signals.delay(giveUp.signal);
    await until(() => has('begun'));
    giveUp.abort(new Error('too late'));
    await expect(delay).rejects.toThrow('too late');
    await until(() => has('over'));
  });

  it('tells of each shutdown that begins or is called off, and of nothing else', async () => {
    const lines = [
      signalLine('PrepareForShutdown', [true]),
      signalLine('PrepareForSleep', [true]),
      signalLine('PrepareForShutdown', ['yes']),
      signalLine('PrepareForShutdown', null),
      '{ broken',
      signalLine('PrepareForShutdown', [false]),
    ];
    const script = `echo 'Monitoring bus message stream.' >&2; cat <<'END'\n${lines.join('\n')}\nEND\nexec sleep 100`;
    const { signals } = await logind({ busctl: script });
    const told: boolean[] = [];
    const listening = await signals.listen((value) => told.push(value), signal);
    await until(() => told.length === 2);
    expect(told).toEqual([true, false]);
    listening.end();
    await listening.ended;
  });

  it.each([
    ['it is started anew', signalLine('NameOwnerChanged', ['org.freedesktop.login1', ':1.1', ''])],
    ['one line never ends', 'x'.repeat(70_000)],
  ])('is not heard any more when %s', async (_, line) => {
    const script = `echo 'Monitoring bus message stream.' >&2; sleep 0.1; printf %s '${line}'; echo; exec sleep 100`;
    const { signals } = await logind({ busctl: script });
    const listening = await signals.listen(() => {}, signal);
    expect(await listening.ended).toBeUndefined();
  });

  it('is not heard where its program is missing', async () => {
    const signals = new LogindSignals({ busctl: '/no/such/busctl' });
    await expect(signals.listen(() => {}, signal)).rejects.toThrow(/busctl.*(?:not found|No such file)/s);
    await expect(signals.read(signal)).rejects.toThrow('/no/such/busctl was not found');
  });
});
