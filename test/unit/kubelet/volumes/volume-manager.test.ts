import { lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VolumeManager } from '../../../../src/kubelet.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakeMounter } from '../../../../src/testing.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { failureOf, never, podWith, setUp } from './volumes-world.ts';

describe('VolumeManager', () => {
  it('makes image volumes of the reference that pulling gave', async () => {
    const { manager } = await setUp({ ensureImage: async (_pod, { image }) => `sha256:${image?.reference}` });
    const mounted = await manager.mountVolumes(podWith([{ name: 'i', image: { reference: 'web:1' } }]), never);
    expect(mounted.get('i')).toMatchObject({ type: 'image', imageRef: 'sha256:web:1', hostPath: '', readonly: true });
    const failing = await setUp({ ensureImage: async () => Promise.reject(new Error('no such image')) });
    expect(await failureOf(failing.manager.mountVolumes(podWith([{ name: 'i', image: {} }]), never))).toContain('no such image');
  });

  it('leaves out volumes that no container uses', async () => {
    const { manager } = await setUp();
    const pod = podWith([{ name: 'used', emptyDir: {} }]);
    const volumes = [...(pod.spec?.volumes ?? []), { name: 'unused', nfs: { server: 's', path: '/' } }];
    expect([...(await manager.mountVolumes({ ...pod, spec: { containers: [], ...pod.spec, volumes } }, never)).keys()]).toEqual([
      'used',
    ]);
  });

  it('removes a pod with all that it had, also in a new process, and tells what is left of others', async () => {
    const { rootDirectory, manager, options, secrets, mounter, tokens, podFolder } = await setUp();
    secrets.set('shop/login', { user: 'me' });
    const pod = podWith([
      { name: 's', secret: { secretName: 'login' } },
      { name: 'e', emptyDir: { medium: 'Memory' } },
    ]);
    await manager.mountVolumes(pod, never);
    await mkdir(join(podFolder, 'containers', 'app'), { recursive: true });
    await writeFile(join(podFolder, 'etc-hosts'), '');
    for (const name of ['u2', '.hidden', '50%']) await mkdir(join(rootDirectory, 'pods', name));
    await writeFile(join(rootDirectory, 'pods', 'file'), '');
    const restarted = new VolumeManager(options);
    expect([...(await restarted.orphans(new Set()))].sort()).toEqual(['u1', 'u2']);
    expect(await restarted.orphans(new Set(['u1']))).toEqual(['u2']);
    await restarted.unmountVolumes('u1');
    await restarted.unmountVolumes('u1');
    expect([mounter.mounts, (await readdir(join(rootDirectory, 'pods'))).sort(), tokens.deleted]).toEqual([
      [],
      ['.hidden', '50%', 'file', 'u2'],
      ['u1', 'u1'],
    ]);
  });

  it('deletes nothing below a mount that cannot be ended, and goes on later', async () => {
    const { manager, mounter, folderOf, podFolder } = await setUp();
    await manager.mountVolumes(
      podWith([
        { name: 'm', emptyDir: { medium: 'Memory' } },
        { name: 'e', emptyDir: {} },
      ]),
      never,
    );
    await writeFile(join(folderOf('empty-dir', 'm'), 'kept'), '');
    await writeFile(join(folderOf('empty-dir', 'e'), 'kept'), '');
    const { unmount } = mounter;
    mounter.unmount = () => Promise.reject(new Error('busy'));
    await expect(manager.unmountVolumes('u1')).rejects.toThrow(
      `volumes in ${podFolder} are still mounted: ${folderOf('empty-dir', 'm')}`,
    );
    expect([await readdir(folderOf('empty-dir', 'm')), await readdir(folderOf('empty-dir', 'e'))]).toEqual([['kept'], ['kept']]);
    mounter.unmount = unmount;
    await manager.unmountVolumes('u1');
    await expect(lstat(podFolder)).rejects.toThrow('ENOENT');
  });

  it('wipes secrets that cannot be unmounted', async () => {
    const { manager, mounter, secrets, folderOf } = await setUp();
    secrets.set('shop/login', { user: 'me' });
    await manager.mountVolumes(podWith([{ name: 's', secret: { secretName: 'login' } }]), never);
    mounter.unmount = () => Promise.reject(new Error('busy'));
    await expect(manager.unmountVolumes('u1')).rejects.toThrow('still mounted');
    expect(await readdir(folderOf('secret', 's'))).toEqual([]);
  });

  it('unmounts through no symbolic link in place of a pod', async () => {
    const { rootDirectory, manager } = await setUp();
    const outside = await tempDir();
    await writeFile(join(outside, 'kept'), '');
    await mkdir(join(rootDirectory, 'pods'));
    await symlink(outside, join(rootDirectory, 'pods', 'u1'));
    await manager.unmountVolumes('u1');
    expect([await readdir(outside), await readdir(join(rootDirectory, 'pods'))]).toEqual([['kept'], []]);
  });

  it('gives up with the reason of its signal, and the next call of the pod goes on', async () => {
    const { manager, options } = await setUp({ configMaps: { getConfigMap: () => new Promise(() => {}) } });
    const pod = podWith([{ name: 'c', configMap: { name: 'never' } }]);
    const leaving = new AbortController();
    const left = expect(manager.mountVolumes(pod, leaving.signal)).rejects.toThrow('gone');
    const removed = manager.unmountVolumes('u1');
    await settle();
    leaving.abort(new Error('gone'));
    await left;
    await removed;
    expect(await manager.orphans(new Set())).toEqual([]);
    await expect(new VolumeManager(options).mountVolumes(pod, AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });

  it.each(['..', '.', 'a/b', '', '.hidden', 'a\0b'])('refuses the uid %j', async (uid) => {
    const { manager } = await setUp();
    await expect(manager.unmountVolumes(uid)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' });
    const pod = podWith([]);
    await expect(manager.mountVolumes({ ...pod, metadata: { ...pod.metadata, uid } }, never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    });
  });

  it.each(['../x', 'A', 'a/b', '..', ''])('refuses the volume name %j', async (name) => {
    const { manager } = await setUp();
    expect(await failureOf(manager.mountVolumes(podWith([{ name, emptyDir: {} }]), never))).toContain('is no DNS label');
  });

  it('refuses options that it does not know, and broken parts', async () => {
    const { options } = await setUp();
    // @ts-expect-error
    expect(() => new VolumeManager({ ...options, root: '/' })).toThrow('options.root');
    expect(() => new VolumeManager({ ...options, rootDirectory: 'relative' })).toThrow('an absolute path');
    // @ts-expect-error
    expect(() => new VolumeManager({ ...options, mounter: {} })).toThrow('mountTmpfs');
    const mounter = Object.assign(new FakeMounter(), { prepareFileSystem: undefined });
    expect(() => new VolumeManager({ ...options, mounter })).toThrow('prepareFileSystem');
  });
});
