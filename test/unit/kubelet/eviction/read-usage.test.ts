import { link, mkdir, readdir, statfs, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { podTreeSize, podTrees } from '../../../../src/kubelet/eviction/pod-file-counter.ts';
import { podsMemory, readNodeUsage, readPodUsages, type UsagePaths } from '../../../../src/kubelet/eviction/read-usage.ts';
import { namesPerStep, nothing, type TreeSize, treeSize } from '../../../../src/node/files/tree-size.ts';
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
    const usage = await readNodeUsage({ rootDirectory: folder, proc });
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
    const nowhere = await readNodeUsage({ rootDirectory: join(folder, 'none'), proc: folder });
    expect(nowhere).toEqual({ hasDedicatedImagefs: false, hasSplitContainerfs: false });
    const layoutOf = async (paths: Partial<UsagePaths>) => {
      const { hasDedicatedImagefs, hasSplitContainerfs } = await readNodeUsage({ rootDirectory: folder, ...paths });
      return [hasDedicatedImagefs, hasSplitContainerfs];
    };
    expect(await layoutOf({})).toEqual([false, false]);
    expect(await layoutOf({ imagefsPath: '/proc' })).toEqual([true, false]);
    expect(await layoutOf({ imagefsPath: '/proc', containerfsPath: folder })).toEqual([true, true]);
    expect(await layoutOf({ containerfsPath: '/proc' })).toEqual([true, true]);
  });

  it('allows no more processes than threads', async () => {
    const proc = await tempDir();
    await mkdir(join(proc, 'sys/kernel'), { recursive: true });
    await writeFile(join(proc, 'loadavg'), '0.1 0.2 0.3 1/100 9\n');
    await writeFile(join(proc, 'sys/kernel/threads-max'), '5000\n');
    const pids = async () => (await readNodeUsage({ rootDirectory: proc, proc })).pids;
    expect(await pids()).toEqual({ available: 4900, capacity: 5000 });
    await writeFile(join(proc, 'sys/kernel/pid_max'), '4000\n');
    expect(await pids()).toEqual({ available: 3900, capacity: 4000 });
  });
});

/** Counts all of it; how often it has said how far it is. */
async function counted(path: string): Promise<TreeSize & { steps: number }> {
  const count = treeSize(path, signal);
  for (let steps = 0; ; steps += 1) {
    const { value, done } = await count.next();
    if (done) return { ...value, steps };
  }
}

describe('what lies below a folder', () => {
  it('is counted as du does: blocks and inodes, links once, no symbolic links', async () => {
    const folder = await tempDir();
    const empty = await counted(folder);
    await mkdir(join(folder, 'a'));
    await writeFile(join(folder, 'a/file'), Buffer.alloc(100_000));
    const once = await counted(folder);
    expect(once.bytes - empty.bytes).toBeGreaterThanOrEqual(100_000);
    expect([empty.inodes, once.inodes]).toEqual([1, 3]);
    await link(join(folder, 'a/file'), join(folder, 'a/again'));
    await symlink('/usr', join(folder, 'a/link'));
    await writeFile(join(folder, 'a/sparse'), '');
    await truncate(join(folder, 'a/sparse'), 2 ** 30);
    const more = await counted(folder);
    expect(more.bytes - once.bytes).toBeLessThan(20_000);
    expect(more.inodes).toBe(5);
  });

  it('is counted whatever the names are, and said again and again', async () => {
    const folder = await tempDir();
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), Buffer.alloc(50_000));
    expect((await counted(folder)).bytes).toBeGreaterThanOrEqual(50_000);
    for (let name = 0; name < 2 * namesPerStep; name += 1) await writeFile(join(folder, String(name)), '');
    expect(await counted(folder)).toMatchObject({ inodes: 2 * namesPerStep + 2, steps: 2 });
  });

  it('is endless where it is deeper than anybody could count, and leaves no folder open', async () => {
    const folder = await tempDir();
    let deepest = folder;
    for (let level = 0; level < 300; level += 1) deepest = join(deepest, 'd');
    await mkdir(deepest, { recursive: true });
    const open = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
    const before = await open();
    expect(await counted(folder)).toMatchObject({ bytes: Number.POSITIVE_INFINITY, inodes: Number.POSITIVE_INFINITY });
    expect(await open()).toBe(before);
  });

  it('is nothing where there is no folder, a file’s own size, and is not counted on after an abort', async () => {
    const folder = await tempDir();
    expect(await counted(join(folder, 'none'))).toMatchObject(nothing);
    await writeFile(join(folder, 'file'), 'x');
    expect((await counted(join(folder, 'file'))).inodes).toBe(1);
    await expect(treeSize(folder, AbortSignal.abort(new Error('over'))).next()).rejects.toThrow('over');
  });
});

describe('the files of a pod', () => {
  const pod = buildPod({
    metadata: { name: 'web' },
    spec: {
      containers: [{ name: 'app', image: 'i' }],
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'shm', emptyDir: { medium: 'Memory' } },
        { name: 'config', configMap: { name: 'c' } },
        { name: 'secret', secret: { secretName: 's' } },
      ],
    },
  });

  it('are its volumes on the disk and in memory, its logs, and what the agent made for it', () => {
    const paths = podTrees(pod, { rootDirectory: '/root', podLogsDirectory: '/logs' }).map(({ part, path }) => `${part} ${path}`);
    const own = '/root/pods/uid-of-web';
    expect(paths).toEqual([
      `others ${own}/containers`,
      `others ${own}/etc-hosts`,
      'logs /logs/default_web_uid-of-web/app',
      `volumes ${own}/volumes/kubernetes.io~empty-dir/scratch`,
      `memoryVolumes ${own}/volumes/kubernetes.io~empty-dir/shm`,
      `volumes ${own}/volumes/kubernetes.io~configmap/config`,
    ]);
  });

  it('count in memory by what their own file system says, with no folder open, else as on the disk', async () => {
    const folder = await tempDir();
    const walked = await podTreeSize({ part: 'memoryVolumes', name: 'shm', path: folder }, signal).next();
    expect(walked).toMatchObject({ done: true, value: { inodes: 1 } });
    // a mount point of the machine
    const mounted = await podTreeSize({ part: 'memoryVolumes', name: 'shm', path: '/dev' }, signal).next();
    const { blocks, bfree, bsize } = await statfs('/dev');
    expect(mounted).toMatchObject({ done: true, value: { bytes: (blocks - bfree) * bsize } });
  });
});

describe('what a pod takes', () => {
  const pod = buildPod({ metadata: { name: 'web' } });
  const labels = { 'io.kubernetes.pod.uid': 'uid-of-web' };
  const stat = { containerID: 'c', at: 1, name: 'app', memoryWorkingSetBytes: 700, writableLayerBytes: 800 };
  const listContainerStats = async () => [
    { ...stat, labels, writableLayerInodes: 8 },
    { ...stat, labels: { 'io.kubernetes.pod.uid': 'another' } },
  ];
  const processes = { sandboxID: 's', at: 1, containers: [] };
  const listPodSandboxStats = vi.fn(async () => [
    { ...processes, labels, processes: 5 },
    { ...processes, labels, processes: 2 },
  ]);
  const runtime = { listContainerStats, listPodSandboxStats };

  it('is what the runtime says of its containers, and what is known of its files', async () => {
    const size = { bytes: 9, inodes: 2 };
    const files = { volumes: { scratch: size }, memoryVolumes: {}, logs: { app: size, ended: size }, others: nothing };
    const filesOf = (podUID: string) => (podUID === 'uid-of-web' ? files : undefined);
    const usage = (await readPodUsages([pod], runtime, { filesOf }, signal)).get('uid-of-web');
    const app = { memory: 700, rootfs: { bytes: 800, inodes: 8 }, logs: size };
    expect(usage).toMatchObject({ memory: 700, containers: { app, ended: { logs: size } }, volumes: { scratch: size } });
    expect(listPodSandboxStats).not.toHaveBeenCalled();
  });

  it('has the number of its processes where that is asked for, and nothing of files that nobody has counted', async () => {
    const usage = (await readPodUsages([pod], runtime, { withProcesses: true }, signal)).get('uid-of-web');
    expect(usage).toMatchObject({ processes: 7, volumes: {}, others: nothing });
  });
});

describe('the memory of all pods', () => {
  it('is what their group may have, less what cannot be taken back', async () => {
    const cgroups = { usage: async (of: string) => (of === 'pods' ? { at: 1, memoryWorkingSetBytes: 600 } : undefined) };
    expect(await podsMemory(cgroups, '1Ki')).toEqual({ available: 424, capacity: 1024 });
    expect(await podsMemory(cgroups, '500')).toEqual({ available: 0, capacity: 500 });
    expect(await podsMemory({ usage: async () => undefined }, '1Ki')).toBeUndefined();
    expect(await podsMemory(cgroups, undefined)).toBeUndefined();
  });
});
