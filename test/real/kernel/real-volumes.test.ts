import { spawnSync } from 'node:child_process';
import { lstat, mkdir, open, readdir, readFile, realpath, rename, stat, statfs, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LinuxMounter, VolumeManager, type VolumeManagerOptions } from '../../../src/kubelet.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { never, podWith, setUp as setUpFake } from '../../unit/kubelet/volumes/volumes-world.ts';
import { requireOwnMounts } from './own-mounts.ts';

requireOwnMounts();

async function setUp(options: Partial<VolumeManagerOptions> = {}) {
  const mounter = new LinuxMounter();
  const world = await setUpFake({ mounter, ...options });
  world.configMaps.set('shop/settings', { colour: 'green' });
  world.secrets.set('shop/login', { password: 'hidden' });
  const root = world.options.rootDirectory;
  const end = async (): Promise<void> => {
    for (const path of await mounter.mountsBelow(root)) await mounter.unmount(path);
  };
  return { ...world, mounter, [Symbol.asyncDispose]: end };
}

const isInMemory = async (path: string): Promise<boolean> => (await statfs(path)).type === 0x01021994;

/** What is in a folder: path, mode, user and group. The names of the writer's own folders are left out. */
async function listed(folder: string): Promise<string[]> {
  const lines: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, uid, gid } = await lstat(path);
    const shown = relative(folder, path).replace(/\.\.\d{4}[\d_]+\.\w+/, '..DATE');
    lines.push(`${shown} ${(mode & 0o7777).toString(8)} ${uid}:${gid}`);
  }
  return lines.sort();
}

const allVolumes = [
  { name: 'plain', emptyDir: {} },
  { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '64Ki' } },
  { name: 'settings', configMap: { name: 'settings' } },
  { name: 'login', secret: { secretName: 'login', defaultMode: 0o400 } },
  { name: 'about', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
  { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 'token' } }, { secret: { name: 'login' } }] } },
];

describe('volumes of a real node', () => {
  it('have secrets, tokens and what tells of the pod in memory alone', async () => {
    await using test = await setUp();
    const mounted = await test.manager.mountVolumes(podWith(allVolumes), never);
    const inMemory: string[] = [];
    for (const { name, hostPath } of mounted.values()) if (await isInMemory(hostPath)) inMemory.push(name);
    expect(inMemory).toEqual(['memory', 'login', 'about', 'all']);
    // what is mounted is taken away: only the disk is left
    for (const path of await test.mounter.mountsBelow(test.rootDirectory)) await test.mounter.unmount(path);
    const found = spawnSync('grep', ['-r', '-e', 'hidden', '-e', 'token-1', '-e', 'green', test.rootDirectory], {
      encoding: 'utf8',
    });
    expect(found.stdout).toMatch(/^[^\n]*colour:green\n$/);
  });

  it('belong to the group of the pod, and a token to its user', async () => {
    await using test = await setUp();
    const pod = podWith(allVolumes, { securityContext: { fsGroup: 123, runAsUser: 7 } });
    await test.manager.mountVolumes(pod, never);
    expect(await listed(join(test.podFolder, 'volumes'))).toMatchInlineSnapshot(`
      [
        "kubernetes.io~configmap 750 0:0",
        "kubernetes.io~configmap/settings 2777 0:123",
        "kubernetes.io~configmap/settings/..DATE 2755 0:123",
        "kubernetes.io~configmap/settings/..DATE/bin 644 0:123",
        "kubernetes.io~configmap/settings/..DATE/colour 644 0:123",
        "kubernetes.io~configmap/settings/..data 777 0:123",
        "kubernetes.io~configmap/settings/bin 777 0:123",
        "kubernetes.io~configmap/settings/colour 777 0:123",
        "kubernetes.io~downward-api 750 0:0",
        "kubernetes.io~downward-api/about 3777 0:123",
        "kubernetes.io~downward-api/about/..DATE 2755 0:123",
        "kubernetes.io~downward-api/about/..DATE/name 644 0:123",
        "kubernetes.io~downward-api/about/..data 777 0:123",
        "kubernetes.io~downward-api/about/name 777 0:123",
        "kubernetes.io~empty-dir 750 0:0",
        "kubernetes.io~empty-dir/memory 3777 0:123",
        "kubernetes.io~empty-dir/plain 2777 0:123",
        "kubernetes.io~projected 750 0:0",
        "kubernetes.io~projected/all 3777 0:123",
        "kubernetes.io~projected/all/..DATE 2755 0:123",
        "kubernetes.io~projected/all/..DATE/password 644 0:123",
        "kubernetes.io~projected/all/..DATE/token 640 7:123",
        "kubernetes.io~projected/all/..data 777 0:123",
        "kubernetes.io~projected/all/password 777 0:123",
        "kubernetes.io~projected/all/token 777 7:123",
        "kubernetes.io~secret 750 0:0",
        "kubernetes.io~secret/login 3777 0:123",
        "kubernetes.io~secret/login/..DATE 2755 0:123",
        "kubernetes.io~secret/login/..DATE/password 440 0:123",
        "kubernetes.io~secret/login/..data 777 0:123",
        "kubernetes.io~secret/login/password 777 0:123",
      ]
    `);
  });

  it('bound memory', async () => {
    await using test = await setUp();
    await test.manager.mountVolumes(podWith(allVolumes), never);
    await expect(writeFile(join(test.folderOf('empty-dir', 'memory'), 'x'), Buffer.alloc(131_072))).rejects.toThrow('ENOSPC');
    expect(((await stat(test.folderOf('empty-dir', 'memory'))).mode & 0o7777).toString(8)).toBe('1777');
  });

  it('are mounted once, however often they are asked for and whichever process asks, and gone with the pod', async () => {
    await using test = await setUp();
    const pod = podWith(allVolumes);
    await test.manager.mountVolumes(pod, never);
    const mounts = await test.mounter.mountsBelow(test.rootDirectory);
    await writeFile(join(test.folderOf('empty-dir', 'memory'), 'kept'), 'kept');
    const restarted = new VolumeManager(test.options);
    await restarted.mountVolumes(pod, never);
    expect(await test.mounter.mountsBelow(test.rootDirectory)).toEqual(mounts);
    expect(await readFile(join(test.folderOf('empty-dir', 'memory'), 'kept'), 'utf8')).toBe('kept');
    await new VolumeManager(test.options).unmountVolumes('u1');
    expect([await test.mounter.mountsBelow(test.rootDirectory), await readdir(join(test.rootDirectory, 'pods'))]).toEqual([
      [],
      [],
    ]);
  });

  it('come back where somebody has unmounted them', async () => {
    await using test = await setUp();
    const pod = podWith(allVolumes);
    await test.manager.mountVolumes(pod, never);
    await test.mounter.unmount(test.folderOf('secret', 'login'));
    await test.manager.mountVolumes(pod, never);
    expect(await isInMemory(test.folderOf('secret', 'login'))).toBe(true);
    expect(await readFile(join(test.folderOf('secret', 'login'), 'password'), 'utf8')).toBe('hidden');
  });

  it('work where the folder of the agent is behind a symbolic link', async () => {
    const link = join(await tempDir(), 'link');
    await using test = await setUp({ rootDirectory: link });
    await symlink(await realpath(test.rootDirectory), link);
    const mounted = await test.manager.mountVolumes(podWith(allVolumes), never);
    expect(mounted.get('login')?.hostPath).toBe(test.folderOf('secret', 'login'));
    await test.manager.unmountVolumes('u1');
    expect([await test.mounter.mountsBelow(link), await readdir(join(link, 'pods'))]).toEqual([[], []]);
  });

  it('stay as they were where the disk is full, and nothing half-written is left', async () => {
    const disk = await realpath(await tempDir());
    await using test = await setUp({ rootDirectory: disk });
    await test.mounter.mountTmpfs(disk, { sizeBytes: 262_144 });
    const pod = podWith([{ name: 'settings', configMap: { name: 'settings' } }]);
    const mounted = await test.manager.mountVolumes(pod, never);
    const folder = mounted.get('settings')?.hostPath ?? '';
    const before = (await readdir(folder)).sort();
    test.configMaps.set('shop/settings', { colour: 'x'.repeat(500_000) });
    await expect(test.manager.mountVolumes(pod, never)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "settings" : ENOSPC',
    );
    expect([(await readdir(folder)).sort(), await readFile(join(folder, 'colour'), 'utf8')]).toEqual([before, 'green']);
    test.configMaps.set('shop/settings', { colour: 'blue' });
    await test.manager.mountVolumes(pod, never);
    expect(await readFile(join(folder, 'colour'), 'utf8')).toBe('blue');
  });

  it('go with a mount that somebody still uses, and a secret is wiped before', async () => {
    await using test = await setUp();
    await test.manager.mountVolumes(podWith(allVolumes), never);
    const used = await open(test.folderOf('secret', 'login'));
    await test.manager.unmountVolumes('u1');
    expect(await readdir(`/proc/self/fd/${used.fd}`)).toEqual([]);
    await used.close();
  });

  it('are deleted without a step outside, while somebody swaps their folders for links', async () => {
    await using test = await setUp();
    const outside = await tempDir();
    await mkdir(join(outside, 'in'));
    await writeFile(join(outside, 'in', 'kept'), 'kept');
    for (let round = 0; round < 20; round += 1) {
      await test.manager.mountVolumes(podWith([{ name: 'plain', emptyDir: {} }]), never);
      const folder = test.folderOf('empty-dir', 'plain');
      for (let n = 0; n < 20; n += 1) await mkdir(join(folder, `d${n}`, 'in', 'deep'), { recursive: true });
      let isOver = false;
      const attack = (async () => {
        for (let n = 19; n >= 0 && !isOver; n -= 1) {
          const path = join(folder, `d${n}`);
          await rename(path, `${path}-moved`).catch(() => {});
          await symlink(outside, path).catch(() => {});
          await symlink(outside, join(`${path}-moved`, 'in', 'deep', 'out')).catch(() => {});
        }
      })();
      const removed = await test.manager.unmountVolumes('u1').then(
        () => true,
        () => false,
      );
      isOver = true;
      await attack;
      if (!removed) await test.manager.unmountVolumes('u1');
      expect(await readFile(join(outside, 'in', 'kept'), 'utf8')).toBe('kept');
      await expect(lstat(test.podFolder)).rejects.toThrow('ENOENT');
    }
  });
});
