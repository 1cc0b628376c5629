import { chmod, lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VolumeManager } from '../../../../src/kubelet.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { failureOf, modeOf, never, podWith, setUp } from './volumes-world.ts';

describe('emptyDir', () => {
  it('is a folder for everybody, whatever the umask is', async () => {
    const { manager, folderOf } = await setUp();
    const umask = process.umask(0o077);
    const mounted = await manager
      .mountVolumes(podWith([{ name: 'work', emptyDir: {} }, { name: 'bare' }]), never)
      .finally(() => process.umask(umask));
    expect(mounted.get('work')).toEqual({
      ...{ name: 'work', type: 'emptyDir', hostPath: folderOf('empty-dir', 'work') },
      ...{ readonly: false, selinuxRelabel: true },
    });
    expect([await modeOf(folderOf('empty-dir', 'work')), mounted.get('bare')?.type]).toEqual(['777', 'emptyDir']);
  });

  it('belongs to the group once, and stays as the pod leaves it, also after a restart', async () => {
    const { manager, options, mounter, folderOf } = await setUp();
    const pod = podWith([{ name: 'work', emptyDir: {} }], { securityContext: { fsGroup: 123 } });
    await manager.mountVolumes(pod, never);
    const folder = folderOf('empty-dir', 'work');
    expect([await modeOf(folder), [...mounter.owners.values()]]).toEqual(['2777', [{ gid: 123 }]]);
    await writeFile(join(folder, 'file'), 'kept');
    await chmod(folder, 0o700);
    await new VolumeManager(options).mountVolumes(pod, never);
    expect([await modeOf(folder), await readFile(join(folder, 'file'), 'utf8'), mounter.owners.size]).toEqual(['700', 'kept', 1]);
  });

  it.each([
    ['the volume', '16Mi', '64Mi', '1Gi', 16 * 2 ** 20],
    ['the pod', '100Mi', '64Mi', '1Gi', 64 * 2 ** 20],
    ['the pod, with no limit of the volume', undefined, '64Mi', '1Gi', 64 * 2 ** 20],
    ['the node', '4Gi', undefined, '1Gi', 2 ** 30],
    ['nothing', undefined, undefined, undefined, undefined],
    ['the volume, with a limit of zero for the pod', '1000', '0', '1Gi', 1000],
  ])('in memory is as large as %s allows', async (_, sizeLimit, limit, memory, sizeBytes) => {
    const { manager, mounter } = await setUp({ nodeAllocatable: () => (memory === undefined ? {} : { memory }) });
    const volumes = [{ name: 'fast', emptyDir: { medium: 'Memory', ...(sizeLimit !== undefined && { sizeLimit }) } }];
    const pod = podWith(volumes);
    const [container] = pod.spec?.containers ?? [];
    const resources = { limits: limit === undefined ? {} : { memory: limit } };
    await manager.mountVolumes({ ...pod, spec: { ...pod.spec, containers: [{ ...container, name: 'app', resources }] } }, never);
    expect(mounter.mounts.map(({ options }) => options)).toEqual([{ sizeBytes, mode: 0o1777, gid: undefined }]);
  });

  it('in memory is not bounded by a pod with a container without a limit', async () => {
    const { manager, mounter } = await setUp();
    const pod = podWith([{ name: 'fast', emptyDir: { medium: 'Memory' } }], { initContainers: [{ name: 'first', image: 'i' }] });
    await manager.mountVolumes(pod, never);
    expect(mounter.mounts[0]?.options).toMatchObject({ sizeBytes: 2 ** 30 });
  });

  it('refuses another medium', async () => {
    const { manager } = await setUp();
    const pod = podWith([{ name: 'huge', emptyDir: { medium: 'HugePages' } }]);
    expect(await failureOf(manager.mountVolumes(pod, never))).toBe(
      'huge FailedMount MountVolume.SetUp failed for volume "huge" : unknown storage medium "HugePages"',
    );
  });
});

describe('hostPath', () => {
  it.each([
    ['', 'missing', undefined],
    ['Directory', 'folder', undefined],
    ['Directory', 'file', 'is not a directory'],
    ['Directory', 'missing', 'is not a directory'],
    ['Directory', 'file/below', 'is not a directory'],
    ['DirectoryOrCreate', 'new/deep', undefined],
    ['DirectoryOrCreate', 'file', 'is not a directory'],
    ['File', 'file', undefined],
    ['File', 'link', undefined],
    ['File', 'folder', 'is not a file'],
    ['FileOrCreate', 'newfile', undefined],
    ['FileOrCreate', 'folder', 'is not a file'],
    ['FileOrCreate', 'missing/file', 'ENOENT'],
    ['Socket', 'socket', undefined],
    ['Socket', 'file', 'is not a socket file'],
    ['CharDevice', '/dev/null', undefined],
    ['CharDevice', 'file', 'is not a character device'],
    ['BlockDevice', '/dev/null', 'is not a block device'],
    ['Nonsense', 'file', 'Nonsense is an invalid volume type'],
  ])('of type %j at %s', async (type, path, message) => {
    const dir = await tempDir();
    await mkdir(join(dir, 'folder'));
    await writeFile(join(dir, 'file'), 'x');
    await symlink('file', join(dir, 'link'));
    const server = createServer().listen(join(dir, 'socket'));
    const { manager } = await setUp();
    const absolute = path.startsWith('/') ? path : join(dir, path);
    const mounting = manager.mountVolumes(podWith([{ name: 'host', hostPath: { path: absolute, type } }]), never);
    if (message !== undefined) expect(await failureOf(mounting)).toContain(message);
    else expect((await mounting).get('host')).toMatchObject({ hostPath: absolute, readonly: false, selinuxRelabel: false });
    if (path.startsWith('new')) expect((await lstat(absolute)).isDirectory()).toBe(type === 'DirectoryOrCreate');
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(['/a/../b', 'relative', '', '/a\0b'])('refuses the path %j', async (path) => {
    const { manager } = await setUp();
    expect(await failureOf(manager.mountVolumes(podWith([{ name: 'host', hostPath: { path } }]), never))).toContain(
      'invalid HostPath',
    );
  });
});
