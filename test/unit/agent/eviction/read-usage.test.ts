import { link, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNodeUsage, readPodUsages } from '../../../../src/agent/eviction/read-usage.ts';
import { treeSize } from '../../../../src/agent/eviction/tree-size.ts';
import { buildPod } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const signal = new AbortController().signal;

describe('what the machine has', () => {
  it('is read from the kernel and the file systems', async () => {
    const folder = await tempDir();
    const proc = join(folder, 'proc');
    await mkdir(join(proc, 'sys/kernel'), { recursive: true });
    await writeFile(
      join(proc, 'meminfo'),
      'MemTotal:  1000 kB\nMemFree:   100 kB\nInactive(anon): 7 kB\nInactive(file):   50 kB\n',
    );
    await writeFile(join(proc, 'sys/kernel/pid_max'), '32768\n');
    await writeFile(join(proc, 'loadavg'), '0.00 0.01 0.05 1/768 12345\n');
    const usage = await readNodeUsage({ rootDirectory: folder, podLogsDirectory: folder, proc });
    expect(usage).toMatchObject({
      memory: { available: 150 * 1024, capacity: 1000 * 1024 },
      pids: { available: 32_000, capacity: 32_768 },
      hasDedicatedImagefs: false,
    });
    expect(usage.nodefs?.capacity).toBeGreaterThan(usage.nodefs?.available ?? Number.NaN);
    expect(usage.nodefs?.available).toBeGreaterThan(0);
  });

  it('is not known where it cannot be read, and on its own where images lie elsewhere', async () => {
    const folder = await tempDir();
    const nowhere = await readNodeUsage({ rootDirectory: join(folder, 'none'), podLogsDirectory: folder, proc: folder });
    expect(nowhere).toEqual({ hasDedicatedImagefs: false });
    const apart = await readNodeUsage({ rootDirectory: folder, podLogsDirectory: folder, imagefsPath: '/proc' });
    expect(apart.hasDedicatedImagefs).toBe(true);
  });
});

describe('what lies below a folder', () => {
  it('is counted as du does: blocks, links once, no symbolic links', async () => {
    const folder = await tempDir();
    const empty = await treeSize(folder, signal);
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a/file'), Buffer.alloc(100_000));
    const once = await treeSize(folder, signal);
    expect(once - empty).toBeGreaterThanOrEqual(100_000);
    await link(join(folder, 'a/file'), join(folder, 'a/again'));
    await symlink('/usr', join(folder, 'a/link'));
    await writeFile(join(folder, 'a/sparse'), '');
    await truncate(join(folder, 'a/sparse'), 2 ** 30);
    expect((await treeSize(folder, signal)) - once).toBeLessThan(20_000);
  });

  it('is nothing where there is no folder, and is not counted on after an abort', async () => {
    const folder = await tempDir();
    expect(await treeSize(join(folder, 'none'), signal)).toBe(0);
    await writeFile(join(folder, 'file'), 'x');
    await expect(treeSize(folder, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});

describe('what a pod takes', () => {
  it('is what the runtime says of its containers, and what lies in its volumes and logs', async () => {
    const folder = await tempDir();
    const volumes = join(folder, 'pods/uid-of-web/volumes/kubernetes.io~empty-dir');
    await mkdir(join(volumes, 'scratch'), { recursive: true });
    await writeFile(join(volumes, 'scratch/data'), Buffer.alloc(50_000));
    await mkdir(join(folder, 'logs/default_web_uid-of-web/app'), { recursive: true });
    await writeFile(join(folder, 'logs/default_web_uid-of-web/app/0.log'), Buffer.alloc(30_000));
    const pod = buildPod({
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'app', image: 'i' }], volumes: [{ name: 'scratch', emptyDir: {} }] },
    });
    const stat = { containerID: 'c', at: 1, name: 'app', memoryWorkingSetBytes: 700, writableLayerBytes: 800 };
    const listContainerStats = async () => [
      { ...stat, labels: { 'io.kubernetes.pod.uid': 'uid-of-web' } },
      { ...stat, labels: { 'io.kubernetes.pod.uid': 'another' } },
    ];
    const paths = { rootDirectory: folder, podLogsDirectory: join(folder, 'logs') };
    const usage = (await readPodUsages([pod], { listContainerStats }, paths, signal)).get('uid-of-web');
    expect(usage).toMatchObject({ memory: 700, containers: { app: { memory: 700, rootfs: 800 } } });
    expect(usage?.volumes.scratch).toBeGreaterThanOrEqual(50_000);
    expect(usage?.containers.app?.logs).toBeGreaterThanOrEqual(30_000);
  });
});
