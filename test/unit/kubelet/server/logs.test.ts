import { appendFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { RuntimeError } from '../../../../src/kubelet/runtime/container-runtime.ts';
import type { KubeletApiHost } from '../../../../src/kubelet/server/api-options.ts';
import { loggedContainerID } from '../../../../src/kubelet/server/log-answer.ts';
import { readLogQuery } from '../../../../src/node/server/log-query.ts';
import { barePod } from '../../../support/pods.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { line } from '../logs/log-files.ts';
import { apiWorld, fakeHost } from './api-world.ts';

/** A node whose container `app` has a log. */
async function loggingHost(text: string) {
  const path = join(await tempDir(), '0.log');
  await writeFile(path, text);
  const container = { state: 'running' };
  const containerStatus = async (id: string) => {
    if (id !== 'app-1') throw new RuntimeError('not-found', 'ContainerStatus', 'no such container');
    return { ...container, logPath: path };
  };
  const host = fakeHost({ runtime: { ...fakeHost().runtime, containerStatus } as unknown as KubeletApiHost['runtime'] });
  return { path, container, host };
}

const logs = '/containerLogs/default/web/app';
const two = line(1, 'one') + line(2, 'two', { stream: 'stderr' });

describe('a request for logs', () => {
  it.each([
    ['', 'one\ntwo\n'],
    ['?tailLines=1', 'two\n'],
    ['?tail=1', 'two\n'],
    ['?tail=all', 'one\ntwo\n'],
    ['?limitBytes=5', 'one\nt'],
    ['?timestamps=true&tailLines=1', '2026-01-01T00:00:02.000000000Z two\n'],
    ['?sinceTime=2026-01-01T00%3A00%3A02Z', 'two\n'],
    ['?sinceSeconds=1', 'one\ntwo\n'],
    ['?stream=Stderr', 'two\n'],
    ['?stream=All&follow=false', 'one\ntwo\n'],
  ])('%j is answered', async (query, text) => {
    const { host } = await loggingHost(two);
    const { get } = await apiWorld({ host });
    expect(await get(logs + query)).toMatchObject({ status: 200, text });
  });

  it.each([
    [logs.replace('web', 'other'), 404, 'pod "other" does not exist'],
    [logs.replace('app', 'other'), 404, 'container "other" not found in pod "web"'],
    [`${logs}?previous=true`, 400, 'previous terminated container "app" in pod "web" not found'],
    [`${logs}?tailLines=x`, 400, 'Unable to decode query'],
    [`${logs}?sinceTime=yesterday`, 400, 'Unable to decode query'],
    [`${logs}?tailLines=-1`, 422, 'Invalid request'],
    [`${logs}?limitBytes=0`, 422, 'Invalid request'],
    [`${logs}?sinceSeconds=0`, 422, 'Invalid request'],
    [`${logs}?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z`, 422, 'Invalid request'],
    [`${logs}?stream=Other`, 422, 'Invalid request'],
    [`${logs}?stream=Stdout&tailLines=1`, 422, 'Invalid request'],
  ])('%s is answered with %d', async (path, status, text) => {
    const { host } = await loggingHost(two);
    const { get } = await apiWorld({ host });
    expect(await get(path)).toMatchObject({ status, text: expect.stringContaining(text) });
  });

  it('of a file that is gone is answered with 400', async () => {
    const { host, path } = await loggingHost(two);
    const { get } = await apiWorld({ host });
    await rm(path);
    expect(await get(logs)).toMatchObject({ status: 400, text: expect.stringContaining('ENOENT') });
  });

  it('with follow shows more until the container ends', async () => {
    const { host, path, container } = await loggingHost(line(1, 'one'));
    const { send, clock } = await apiWorld({ host });
    const answer = await send(`${logs}?follow=true`);
    let text = '';
    let hasEnded = false;
    answer.on('data', (chunk) => {
      text += chunk;
    });
    answer.on('end', () => {
      hasEnded = true;
    });
    const until = async (isSo: () => boolean): Promise<void> => {
      for (let turn = 0; !isSo(); turn += 1) {
        if (turn > 500_000) throw new Error(`it did not come to that: ${text}`);
        await clock.advance(100);
        await setImmediate();
      }
    };
    await until(() => text === 'one\n');
    await appendFile(path, line(2, 'two'));
    await until(() => text === 'one\ntwo\n');
    container.state = 'exited';
    await until(() => hasEnded);
  });

  it('with follow is answered at once, also when there is no line yet, and ends with the client', async () => {
    const { host } = await loggingHost('');
    const { send, clock } = await apiWorld({ host });
    const pending = clock.pendingTimers;
    const answer = await send(`${logs}?follow=true`);
    expect(answer.statusCode).toBe(200);
    while (clock.pendingTimers === pending) await setImmediate();
    answer.destroy();
    while (clock.pendingTimers !== pending) await setImmediate();
    expect(clock.pendingTimers).toBe(pending);
  });

  it('is cut off when what is read is no log', async () => {
    const { host } = await loggingHost('no log\n');
    const { send } = await apiWorld({ host });
    const answer = await send(logs);
    await expect(answer.toArray()).rejects.toThrow('aborted');
  });

  it('of a client that takes nothing costs no memory', async () => {
    const { host, path } = await loggingHost(Array.from({ length: 1000 }, (_, i) => line(i, 'x'.repeat(100_000))).join(''));
    const { send } = await apiWorld({ host });
    const before = process.memoryUsage().arrayBuffers;
    const answer = await send(logs);
    // each takes as long as a read of the log
    for (let turn = 0; turn < 1000; turn += 1) await stat(path);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024);
    let bytes = 0;
    for await (const chunk of answer) bytes += chunk.length;
    expect([bytes, path.endsWith('0.log')]).toEqual([1000 * 100_001, true]);
  });
});

describe('the container whose log is shown', () => {
  const unsaid = { name: 'app', image: '', imageID: '', ready: false, restartCount: 0 };
  const podWith = (status: object): Pod =>
    barePod({ metadata: { name: 'web' }, status: { containerStatuses: [{ ...unsaid, ...status }] } });
  const terminated = (containerID?: string) => ({ terminated: { containerID } });

  it.each([
    [{ state: { running: {} }, containerID: 'containerd://a' }, false, 'a'],
    [{ state: terminated('containerd://b') }, false, 'b'],
    [{ state: terminated(), lastState: terminated('containerd://c') }, false, 'c'],
    [{ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: terminated('containerd://d') }, false, 'd'],
    [{ state: { running: {} }, containerID: 'containerd://a', lastState: terminated('containerd://e') }, true, 'e'],
  ])('is found: %#', (status, previous, id) => {
    expect(loggedContainerID(podWith(status), 'app', previous)).toBe(id);
  });

  it.each([
    [{ state: { waiting: { reason: 'ContainerCreating' } } }, 'is waiting to start: ContainerCreating'],
    [{ state: { waiting: { reason: 'ErrImagePull' } } }, "is waiting to start: image can't be pulled"],
    [{ state: { waiting: { reason: 'ImagePullBackOff' } } }, 'is waiting to start: trying and failing to pull image'],
    [{ state: terminated() }, 'is terminated'],
    [{}, 'is waiting to start - no logs yet'],
  ])('is none: %#', (status, text) => {
    expect(() => loggedContainerID(podWith(status), 'app', false)).toThrow(`container "app" in pod "web" ${text}`);
    expect(() => loggedContainerID(podWith(status), 'other', false)).toThrow('container "other" in pod "web" is not available');
  });
});

describe('the query for logs', () => {
  it('takes a boolean that is there for true', () => {
    const read = (text: string): boolean | undefined => readLogQuery(new URLSearchParams(text), 0).follow;
    expect([read('follow'), read('follow=true'), read('follow=1'), read('follow=0'), read('follow=False'), read('')]).toEqual([
      ...[true, true, true, false, false, false],
    ]);
  });

  it('counts seconds back from now', () => {
    expect(readLogQuery(new URLSearchParams('sinceSeconds=10'), 50_000).since).toEqual({ ms: 40_000, nanos: 0 });
  });
});
