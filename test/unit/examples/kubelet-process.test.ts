import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath as executable } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loggerOf } from '../../../examples/kubelet/process-log.ts';
import { applyToProcess } from '../../../examples/kubelet/process-settings.ts';
import { until } from '../../support/until.ts';
import { serverWithSigner } from '../node/certificates/apiserver-with-signer.ts';

async function process(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('sleep', ['1000']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child as ChildProcess & { readonly pid: number };
}

describe('the process of the agent', () => {
  it('gets the score and the number of files that the configuration says', async () => {
    const { pid } = await process();
    expect(await applyToProcess({ oomScoreAdj: 700, maxOpenFiles: 321 }, pid)).toEqual([]);
    expect(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('700\n');
    expect(await readFile(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max open files +321 +321 /m);
    // what it has already needs no right
    expect(await applyToProcess({ oomScoreAdj: 700, maxOpenFiles: 321 }, pid)).toEqual([]);
  });

  it('starts all the same where that cannot be done, and says what would help', async () => {
    const child = await process();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const settings = { oomScoreAdj: 700, maxOpenFiles: 321 };
    expect(await applyToProcess(settings, child.pid)).toEqual([
      {
        field: 'oomScoreAdj',
        why: expect.stringMatching(/^oomScoreAdj could not be followed, set OOMScoreAdjust= in the unit: .*ENOENT/),
      },
      {
        field: 'maxOpenFiles',
        why: expect.stringMatching(/^maxOpenFiles could not be followed, set LimitNOFILE= in the unit: ./),
      },
    ]);
  });

  it.each([
    [{ oomScoreAdj: 1001 }, 'oomScoreAdj must be an integer from -1000 to 1000, got 1001'],
    [{ maxOpenFiles: -1 }, 'maxOpenFiles must be an integer of 1 or more, got -1'],
  ])('is refused %j', async (own, message) => {
    await expect(applyToProcess(own)).rejects.toThrow(message);
  });
});

describe('a process that waits for its certificate', () => {
  it('ends in order when it is told to', async () => {
    const world = await serverWithSigner();
    await world.giveToken();
    const { kubeconfig, bootstrapKubeconfig, certificateFolder } = world.files;
    const main = fileURLToPath(new URL('../../../examples/kubelet/main.ts', import.meta.url));
    const child = spawn(executable, [
      ...[main, '--hostname-override=node-1', '--enable-server=false', '--root-dir', join(world.folder, 'root')],
      // whatever machine the test runs on
      ...['--fail-cgroupv1=false', '--fail-swap-on=false'],
      ...['--kubeconfig', kubeconfig, '--bootstrap-kubeconfig', bootstrapKubeconfig, '--cert-dir', certificateFolder],
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    await until(() => world.requests.length === 1 || child.exitCode !== null);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const [out, errors] = await said;
    const ofTheMachine = /^(?:oomScoreAdj|maxOpenFiles) could not be followed/;
    expect([out, errors.split('\n').filter((line) => line !== '' && !ofTheMachine.test(line))]).toEqual(['', []]);
  });
});

describe('the log of the agent', () => {
  function logOf(format: string, verbosity: number) {
    const written: string[] = [];
    const time = { now: Date.UTC(2026, 0, 1) };
    const logger = loggerOf({ format, verbosity }, { write: (line) => void written.push(line), now: () => time.now });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger?.[level]({ pod: 'a' }, `the ${level}`);
    return { written, logger, time };
  }

  it('is the one of the library where nothing else is asked for', () => {
    expect(logOf('text', 0).logger).toBeUndefined();
  });

  it.each([
    [0, ['warn', 'error']],
    [1, ['info', 'warn', 'error']],
    [4, ['debug', 'info', 'warn', 'error']],
  ])('has at verbosity %s the levels %j', (verbosity, levels) => {
    const lines = logOf('json', verbosity).written.map((line) => JSON.parse(line));
    expect(lines).toEqual(levels.map((level) => ({ ts: Date.UTC(2026, 0, 1), level, msg: `the ${level}`, pod: 'a' })));
    const { logger } = logOf('json', verbosity);
    expect(logger?.isLevelEnabled?.('debug')).toBe(verbosity === 4);
  });

  it('is text otherwise', () => {
    expect(logOf('text', 1).written[0]).toBe('2026-01-01T00:00:00.000Z info: the info {"pod":"a"}\n');
  });

  it('has at most twenty lines of a message in a minute, and says how many it has left out', () => {
    const { written, logger, time } = logOf('json', 1);
    for (let i = 0; i < 50; i += 1) logger?.warn({ i }, 'again');
    const of = (message: string) => written.filter((line) => line.includes(`"${message}"`));
    expect(of('again')).toHaveLength(20);
    time.now += 60_000;
    logger?.warn({}, 'again');
    expect(of('again').at(-1)).toContain('"linesLeftOut":30');
  });
});
