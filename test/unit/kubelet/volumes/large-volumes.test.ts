import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../../src/api/json/types.ts';
import { VolumeManager } from '../../../../src/kubelet.ts';
import { failureOf, never, podWith, setUp } from './volumes-world.ts';

const mebibyte = 1024 * 1024;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const megabyte = 'x'.repeat(1_000_000);
const unlimited = { resources: undefined };

/** A pod like {@link podWith}'s, of another name and with other members of its container. */
function podOf(uid: string, volumes: Parameters<typeof podWith>[0], container: object = unlimited): Pod {
  const containers = (podWith(volumes).spec?.containers ?? []).map((each) => ({ ...each, ...container }));
  return podWith(volumes, { containers }, { name: uid, uid });
}
const atPaths = (count: number, key = 'k') => numbers(count).map((index) => ({ key, path: `f${index}` }));

describe('a file system in memory', () => {
  const volumes = [
    { name: 's', secret: { secretName: 'login' } },
    { name: 'd', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'p', projected: { sources: [{ secret: { name: 'login' } }] } },
  ];

  it.each([
    ['the memory limit of the pod', undefined, 64 * mebibyte],
    ['the memory of the node, where the pod has no limit', unlimited, 1024 * mebibyte],
    ['the memory of the node, where the pod may have more', { resources: { limits: { memory: '2Gi' } } }, 1024 * mebibyte],
  ])('of a secret, a projected volume and the downward API is as large as %s', async (_, container, sizeBytes) => {
    const { manager, secrets, mounter } = await setUp();
    secrets.set('shop/login', { user: 'me' });
    await manager.mountVolumes(podOf('u1', volumes, container ?? {}), never);
    expect(mounter.mounts.map(({ options }) => options)).toEqual(volumes.map(() => expect.objectContaining({ sizeBytes })));
  });

  it('stays empty for files that are more than that, and other volumes are made', async () => {
    const { manager, secrets, folderOf } = await setUp();
    secrets.set('shop/login', { k: megabyte });
    const pod = podWith([
      { name: 's', secret: { secretName: 'login', items: atPaths(200) } },
      { name: 'p', projected: { sources: [{ secret: { name: 'login', items: atPaths(3) } }] } },
    ]);
    expect(await failureOf(manager.mountVolumes(pod, never))).toBe(
      's FailedMount MountVolume.SetUp failed for volume "s" : the files of the volume take 200704000 bytes, and the pod may have 67108864 bytes of memory',
    );
    expect([await readdir(folderOf('secret', 's')), (await readdir(folderOf('projected', 'p'))).includes('f2')]).toEqual([
      [],
      true,
    ]);
  });
});

describe('config maps on disk', () => {
  it('have no more files than the pod may have on the disk', async () => {
    const { manager, configMaps, folderOf } = await setUp();
    configMaps.set('shop/large', { k: megabyte });
    const volume = { name: 'c', configMap: { name: 'large', items: atPaths(20) } };
    const pod = podOf('u1', [volume], { resources: { limits: { 'ephemeral-storage': '10Mi' } } });
    expect(await failureOf(manager.mountVolumes(pod, never))).toMatch(/may have 10485760 bytes of ephemeral storage$/);
    await expect(readdir(folderOf('configmap', 'c'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the files that volumes have in memory', () => {
  const limits = { maxFileBytesPerPod: 4 * mebibyte, maxFileBytes: 6 * mebibyte };
  const volumesOf = (count: number) =>
    numbers(count).map((index) => ({ name: `v${index}`, secret: { secretName: 'login', items: atPaths(1) } }));

  it('are bounded for one pod, over all its volumes', async () => {
    const { manager, secrets } = await setUp(limits);
    secrets.set('shop/login', { k: megabyte });
    const failure = await failureOf(manager.mountVolumes(podOf('evil', volumesOf(6)), never));
    expect(failure.split('\n')).toHaveLength(2);
    expect(failure).toMatch(
      /the files that pod shop\/evil has in memory take 50\d+ bytes, more than volumeBudget\.maxFileBytesPerPod, 4194304 bytes\. Let the pod use less/,
    );
    expect((await manager.mountVolumes(podOf('good', volumesOf(1)), never)).size).toBe(1);
  });

  it('are bounded for all pods, and each pod has its share in any case, also after a restart', async () => {
    const { options, secrets } = await setUp(limits);
    secrets.set('shop/login', { k: megabyte });
    for (const manager of [new VolumeManager(options), new VolumeManager(options)]) {
      await manager.mountVolumes(podOf('a', volumesOf(4)), never);
      await manager.mountVolumes(podOf('a', volumesOf(4)), never);
      const late = () => manager.mountVolumes(podOf('b', volumesOf(3)), never);
      expect(await failureOf(late())).toMatch(
        /the files that all pods have in memory would take \d+ bytes, more than volumeBudget\.maxFileBytes/,
      );
      expect((await manager.mountVolumes(podOf('small', volumesOf(1)), never)).size).toBe(1);
      await manager.unmountVolumes('a');
      expect((await late()).size).toBe(3);
    }
  });
});

describe('what a volume is made from', () => {
  it('is read once, however many sources and items show it', async () => {
    const asked: string[] = [];
    const getConfigMap = async (_: string, name: string) => {
      asked.push(name);
      return { data: { k: megabyte } };
    };
    const { manager } = await setUp({ configMaps: { getConfigMap } });
    const sources = numbers(300).map((index) => ({ configMap: { name: 'c', items: [{ key: 'k', path: `f${index % 2}` }] } }));
    await manager.mountVolumes(podWith([{ name: 'p', projected: { sources } }]), never);
    expect(asked).toEqual(['c']);
  });

  it('is asked for a few at a time', async () => {
    let now = 0;
    let most = 0;
    const getToken = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise(setImmediate);
      now -= 1;
      return { token: 't', expiresAt: 0 };
    };
    const { manager } = await setUp({ tokens: { getToken, deletePod: () => {} } });
    const sources = numbers(50).map((index) => ({ serviceAccountToken: { path: `t${index}`, audience: `${index}` } }));
    await manager.mountVolumes(podWith([{ name: 'p', projected: { sources } }]), never);
    expect(most).toBe(8);
  });

  it('may make no more than 100,000 files of one volume, those that are replaced included', async () => {
    const data = Object.fromEntries(numbers(2000).map((index) => [`k${index}`, '']));
    const { manager } = await setUp({ configMaps: { getConfigMap: async () => ({ data }) } });
    const sources = numbers(51).map(() => ({ configMap: { name: 'c' } }));
    const failure = await failureOf(manager.mountVolumes(podWith([{ name: 'p', projected: { sources } }]), never));
    expect(failure).toMatch(/the volume has more than 100000 files$/);
  });

  it('may make no more than 10,000 folders of one volume', async () => {
    const { manager } = await setUp({ configMaps: { getConfigMap: async () => ({ data: { k: '' } }) } });
    const items = numbers(6).map((index) => ({ key: 'k', path: `${index}${'/a'.repeat(2000)}` }));
    const failure = await failureOf(manager.mountVolumes(podWith([{ name: 'c', configMap: { name: 'c', items } }]), never));
    expect(failure).toMatch(/the files of the volume are in more than 10000 folders$/);
  });

  it('is nothing for a pod that uses more than 500 volumes', async () => {
    const { manager, podFolder } = await setUp();
    const volumes = numbers(501).map((index) => ({ name: `v${index}`, emptyDir: {} }));
    await expect(manager.mountVolumes(podWith(volumes), never)).rejects.toMatchObject({
      code: 'ERR_OVER_BUDGET',
      message:
        "pod shop/web uses 501 volumes, and this node makes 500 for one pod. Let the pod use fewer, or set volumeBudget.maxVolumesPerPod of the node's agent higher",
    });
    expect(await readdir(join(podFolder, 'volumes'))).toEqual([]);
    expect((await manager.mountVolumes({ ...podWith(volumes.slice(1)) }, never)).size).toBe(500);
  });

  it('is told in short where very much of it is missing', async () => {
    const { manager } = await setUp();
    const sources = numbers(5000).map((index) => ({ configMap: { name: `c${index}` } }));
    const failure = await failureOf(manager.mountVolumes(podWith([{ name: 'p', projected: { sources } }]), never));
    expect(failure).toMatch(/configmap "c9" not found, and more\]$/);
    const volumes = numbers(500).map((index) => ({ name: `v${index}`, configMap: { name: `c${index}` } }));
    const error = await manager.mountVolumes(podWith(volumes), never).catch((reason: Error) => reason);
    expect((error as Error).message).toMatch(/configmap "c9" not found; 490 more volumes are not ready$/);
  });
});

describe('the folders for other volumes', () => {
  it('are found with work that grows as the number of mounts', async () => {
    const { manager, configMaps } = await setUp();
    configMaps.set('shop/settings', { a: '1' });
    const pod = podWith([
      { name: 'c', configMap: { name: 'settings' } },
      { name: 'e', emptyDir: {} },
    ]);
    const below = numbers(300).map((index) => ({ name: 'e', mountPath: `/etc/app/${index}-` }));
    const volumeMounts = [{ name: 'c', mountPath: '/etc/app' }, ...below];
    const compared = vi.spyOn(String.prototype, 'startsWith');
    try {
      await manager.mountVolumes(
        { ...pod, spec: { ...pod.spec, containers: [{ name: 'app', image: 'i', volumeMounts }] } },
        never,
      );
      expect(compared.mock.calls.filter(([text]) => /etc.app/.test(text)).length).toBeLessThan(3000);
    } finally {
      compared.mockRestore();
    }
  });

  it('are not made for a path that no kernel takes', async () => {
    const { manager, configMaps } = await setUp();
    configMaps.set('shop/settings', { a: '1' });
    const pod = podWith([
      { name: 'c', configMap: { name: 'settings' } },
      { name: 'e', emptyDir: {} },
    ]);
    const volumeMounts = [
      { name: 'c', mountPath: '/etc/app' },
      { name: 'e', mountPath: `/etc/app${'/a'.repeat(5000)}` },
    ];
    const deep = { ...pod, spec: { ...pod.spec, containers: [{ name: 'app', image: 'i', volumeMounts }] } };
    expect(await failureOf(manager.mountVolumes(deep, never))).toMatch(/the path of a mount is longer than 4096 characters$/);
  });
});
