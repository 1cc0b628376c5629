import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LogRotation, type LogRotationOptions } from '../../../../src/kubelet/logs/log-rotation.ts';
import { removeContainerLogs } from '../../../../src/kubelet/logs/pod-logs.ts';
import { RuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { ContainerState } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { line, logFile } from './log-files.ts';

const labels = {
  ...{ 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.uid': 'u1' },
  'io.kubernetes.container.name': 'app',
};

/** One running container whose log is at `path`, and a rotation that looks at it. */
function rotating(path: string, options: Partial<LogRotationOptions> = {}, state: ContainerState = 'running') {
  const clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
  const container = {
    state: 'running' as ContainerState,
    reopened: 0,
    looks: 0,
    hasLabels: true,
    reopen: () => writeFile(path, '', { flag: 'a' }),
  };
  const runtime = {
    listContainers: async () => {
      container.looks += 1;
      return [{ id: 'c', state, ...(container.hasLabels && { labels }) }];
    },
    containerStatus: async () => ({ logPath: path }),
    reopenContainerLog: async () => {
      container.reopened += 1;
      await container.reopen();
    },
  } as unknown as LogRotationOptions['runtime'];
  const warnings: object[] = [];
  const nothing = (): void => {};
  const warn = (fields: object): number => warnings.push(fields);
  const logger = { debug: nothing, info: nothing, warn, error: nothing };
  const rotation = new LogRotation({ runtime, clock, logger, maxSize: 1000, maxFiles: 3, ...options });
  onTestFinished(() => rotation.stop());
  rotation.start();
  const lookEnded = async (): Promise<void> => {
    for (let turn = 0; clock.pendingTimers === 0; turn += 1) {
      if (turn > 500_000) throw new Error('the look did not end');
      await setImmediate();
    }
  };
  // The clock stands still during a look, so that the files' names do not depend on how fast the disk is.
  const looked = async (): Promise<void> => {
    await lookEnded();
    const { looks } = container;
    for (let second = 0; container.looks === looks; second += 1) {
      if (second > 10) throw new Error('nobody looked');
      await clock.advance(1000);
    }
    await lookEnded();
  };
  const files = async (): Promise<string[]> => (await readdir(dirname(path))).sort();
  return { clock, container, rotation, warnings, looked, files };
}

const full = 'x'.repeat(1000);

describe('the rotation of logs', () => {
  it('leaves a log that is not full', async () => {
    const path = await logFile('x'.repeat(999));
    const { looked, files, container } = rotating(path);
    await looked();
    await looked();
    expect(await files()).toEqual([basename(path)]);
    expect(container.reopened).toBe(0);
  });

  it('renames a log that is full, and has the runtime begin a new one', async () => {
    const path = await logFile(full);
    const { looked, files, container } = rotating(path);
    await looked();
    const [log = '', rotated = ''] = await files();
    expect(rotated).toBe('0.log.20260101-000000');
    expect(await readFile(path, 'utf8')).toBe('');
    expect(await readFile(`${dirname(path)}/${rotated}`, 'utf8')).toBe(full);
    expect([log, container.reopened]).toEqual(['0.log', 1]);
  });

  it('packs older logs and removes the oldest, whatever a container writes', async () => {
    const path = await logFile(full);
    const { looked, files } = rotating(path);
    for (let round = 1; round < 8; round += 1) {
      await looked();
      await appendFile(path, `${round}`.padEnd(1000, '.'));
    }
    await looked();
    const names = await files();
    expect(names.length).toBe(3);
    expect(names.map((name) => name.replace(/\d{8}-\d{6}/, 'TIME'))).toEqual(['0.log', '0.log.TIME.gz', '0.log.TIME']);
    const bytes = gunzipSync(await readFile(`${dirname(path)}/${names[1]}`));
    expect(bytes.toString()).toMatch(/^6\.+$/);
  });

  it('removes what an interrupted rotation left behind', async () => {
    const path = await logFile(full);
    for (const name of ['.20250101-000000', '.20250101-000000.gz', '.20250101-000001.tmp']) await writeFile(path + name, 'old');
    const { looked, files } = rotating(path);
    await looked();
    expect((await files()).map((name) => name.replace(/2026.*/, 'NEW'))).toEqual([
      '0.log',
      '0.log.20250101-000000.gz',
      '0.log.NEW',
    ]);
  });

  it('takes the log back when the runtime cannot begin a new one', async () => {
    const path = await logFile(full);
    const { looked, files, container, warnings } = rotating(path);
    container.reopen = () => Promise.reject(new RuntimeError('failed', 'ReopenContainerLog', 'no'));
    await looked();
    expect(await files()).toEqual(['0.log']);
    expect(await readFile(path, 'utf8')).toBe(full);
    expect(warnings[0]).toEqual({
      ...{
        err: expect.any(Error),
        podNamespace: 'default',
        podName: 'web',
        podUID: 'u1',
        containerName: 'app',
        containerID: 'c',
      },
    });
  });

  it('goes on where the runtime gave its containers no labels', async () => {
    const { looked, container, warnings } = rotating(await logFile(full));
    container.hasLabels = false;
    container.reopen = () => Promise.reject(new RuntimeError('failed', 'ReopenContainerLog', 'no'));
    for (let i = 0; i < 2; i += 1) await looked();
    expect(warnings.at(-1)).toEqual({ err: expect.any(Error), containerID: 'c' });
  });

  it('keeps the new log when only the answer of the runtime was lost', async () => {
    const path = await logFile(full);
    const { looked, files, container } = rotating(path);
    container.reopen = async () => {
      await writeFile(path, 'new');
      throw new RuntimeError('timeout', 'ReopenContainerLog', 'too late');
    };
    await looked();
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await files()).length).toBe(2);
  });

  it('begins a log that is missing', async () => {
    const path = await logFile('');
    await rm(path);
    const { looked, container } = rotating(path);
    await looked();
    expect(container.reopened).toBe(1);
    expect((await stat(path)).size).toBe(0);
  });

  it.each<ContainerState>(['exited', 'created'])('leaves the log of a container that is %s', async (state) => {
    const { looked, files } = rotating(await logFile(full), {}, state);
    await looked();
    await looked();
    expect(await files()).toEqual(['0.log']);
  });

  it('looks sooner at a log that grows fast', async () => {
    const path = await logFile('');
    const { looked, clock } = rotating(path, { maxSize: 100_000 });
    await looked();
    const quietFrom = clock.now();
    await looked();
    const quietMs = clock.now() - quietFrom;
    await appendFile(path, 'x'.repeat(60_000));
    await looked();
    const busyFrom = clock.now();
    await looked();
    expect(quietMs).toBeGreaterThanOrEqual(10_000);
    expect(clock.now() - busyFrom).toBeLessThan(10_000);
  });

  it('goes on when the runtime fails', async () => {
    const path = await logFile(full);
    const container = { fails: true };
    const listContainers = async () => {
      if (container.fails) throw new RuntimeError('unavailable', 'ListContainers', 'away');
      return [{ id: 'c', state: 'running' }];
    };
    const runtime = {
      listContainers,
      containerStatus: async () => ({ logPath: path }),
      reopenContainerLog: () => writeFile(path, ''),
    };
    const { clock, rotation } = rotating(path, { runtime: runtime as unknown as LogRotationOptions['runtime'] });
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(1000);
    container.fails = false;
    for (let turn = 0; (await readdir(dirname(path))).length < 2; turn += 1) {
      if (turn > 100_000) throw new Error('nothing was rotated');
      await clock.advance(1000);
    }
    await rotation.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [{ maxFiles: 1 }, 'maxFiles'],
    [{ maxSize: 0 }, 'maxSize'],
    [{ checkPeriodMs: 999 }, 'checkPeriodMs'],
    [{ runtime: {} }, 'runtime'],
    [{ maxSizes: 1 }, 'maxSizes'],
  ])('refuses %o', async (options, name) => {
    const runtime = { listContainers: async () => [], containerStatus: async () => {}, reopenContainerLog: async () => {} };
    expect(() => new LogRotation({ runtime, ...options } as unknown as LogRotationOptions)).toThrow(
      `\`${name}\``.slice(0, -1).slice(1),
    );
  });
});

describe('the logs of a container that is removed', () => {
  it('go, with all that was rotated', async () => {
    const path = await logFile(line(1, 'one'));
    await writeFile(`${path}.20260101-000000.gz`, '');
    await writeFile(`${path}.20260101-000001`, '');
    await writeFile(path.replace('0.log', '1.log'), '');
    await removeContainerLogs(path);
    await removeContainerLogs(path);
    expect(await readdir(dirname(path))).toEqual(['1.log']);
  });
});
