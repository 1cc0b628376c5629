import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { downwardFiles, ShownFields } from '../../../../src/node/pod-files/shown-fields.ts';
import { failureOf, modeOf, never, podWith, setUp } from './volumes-world.ts';

describe('configMap, secret, downwardAPI and projected', () => {
  it('hold all keys, or the items, with their modes', async () => {
    const { manager, configMaps, secrets, folderOf, mounter } = await setUp();
    configMaps.set('shop/settings', { colour: 'green', size: '7' });
    secrets.set('shop/login', { user: 'me', password: 'hidden' });
    const mounted = await manager.mountVolumes(
      podWith([
        { name: 'all', configMap: { name: 'settings' } },
        {
          name: 'some',
          configMap: {
            name: 'settings',
            defaultMode: 0o600,
            items: [
              { key: 'size', path: 'a/b' },
              { key: 'bin', path: 'c', mode: 0o444 },
            ],
          },
        },
        { name: 'login', secret: { secretName: 'login', defaultMode: 0o400 } },
        {
          name: 'about',
          downwardAPI: {
            items: [
              { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
              { path: 'memory', resourceFieldRef: { containerName: 'app', resource: 'limits.memory' } },
            ],
          },
        },
      ]),
      never,
    );
    const read = (name: string, path: string): Promise<string> => readFile(join(mounted.get(name)?.hostPath ?? '', path), 'utf8');
    expect([
      await read('all', 'colour'),
      await read('all', 'size'),
      await read('some', 'a/b'),
      await read('login', 'password'),
    ]).toEqual(['green', '7', '7', 'hidden']);
    expect([await read('about', 'labels'), await read('about', 'memory')]).toEqual(['app="web"', String(64 * 2 ** 20)]);
    const modes = ['all/colour', 'some/a/b', 'some/c'].map((path) => modeOf(join(folderOf('configmap', ''), path)));
    expect(await Promise.all([...modes, modeOf(join(folderOf('secret', 'login'), 'user'))])).toEqual([
      '644',
      '600',
      '444',
      '400',
    ]);
    expect(await readFile(join(folderOf('configmap', 'some'), 'c'))).toEqual(Buffer.from([0xff]));
    expect(mounter.mounts.map(({ target }) => target).sort()).toEqual([
      folderOf('downward-api', 'about'),
      folderOf('secret', 'login'),
    ]);
    expect([...mounted.values()].map(({ type, readonly }) => `${type} ${readonly}`)).toEqual([
      'configMap true',
      'configMap true',
      'secret true',
      'downwardAPI true',
    ]);
  });

  it('are brought up to date by each call, and written only when they have changed', async () => {
    const { manager, configMaps, folderOf } = await setUp();
    const pod = podWith([{ name: 'c', configMap: { name: 'settings' } }]);
    configMaps.set('shop/settings', { colour: 'green', size: '7' });
    await manager.mountVolumes(pod, never);
    const folder = folderOf('configmap', 'c');
    const before = (await readdir(folder)).sort();
    await manager.mountVolumes(pod, never);
    expect((await readdir(folder)).sort()).toEqual(before);
    configMaps.set('shop/settings', { colour: 'blue' });
    await manager.mountVolumes(pod, never);
    expect([await readFile(join(folder, 'colour'), 'utf8'), (await readdir(folder)).includes('size')]).toEqual(['blue', false]);
  });

  it('follow the labels of the pod', async () => {
    const { manager, folderOf } = await setUp();
    const pod = podWith([
      { name: 'd', downwardAPI: { items: [{ path: 'app', fieldRef: { fieldPath: "metadata.labels['app']" } }] } },
    ]);
    await manager.mountVolumes(pod, never);
    await manager.mountVolumes({ ...pod, metadata: { ...pod.metadata, labels: { app: 'new' } } }, never);
    expect(await readFile(join(folderOf('downward-api', 'd'), 'app'), 'utf8')).toBe('new');
  });

  it.each([
    [{ configMap: { name: 'x' } }, 'configmap "x" not found'],
    [{ secret: { secretName: 'x' } }, 'secret "x" not found'],
    [{ configMap: { name: 'there', items: [{ key: 'k', path: 'p' }] } }, 'configmap references non-existent config key: k'],
    [{ secret: { secretName: 'there', items: [{ key: 'k', path: 'p' }] } }, 'references non-existent secret key: k'],
    [{ configMap: { name: 'there', items: [{ key: 'a', path: '../p' }] } }, "invalid path: must not contain '..': ../p"],
    [
      { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] } },
      'unsupported fieldPath: spec.nodeName',
    ],
    [
      { downwardAPI: { items: [{ path: 'p', resourceFieldRef: { containerName: 'no', resource: 'limits.cpu' } }] } },
      'container no not found',
    ],
    [
      { projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }] } },
      '[configmap "x" not found, secret "y" not found]',
    ],
    [
      { projected: { sources: [{ clusterTrustBundle: { path: 'p', name: 'n' } }] } },
      'projected source clusterTrustBundle is not supported',
    ],
    [
      { projected: { sources: [{ podCertificate: { keyType: 'ED25519', signerName: 'a/b' } }] } },
      'projected source podCertificate is not supported',
    ],
    [{ persistentVolumeClaim: { claimName: 'x' } }, 'volume type persistentVolumeClaim is not supported by this agent'],
    [{ csi: { driver: 'x' } }, 'volume type csi is not supported by this agent'],
    [{ nfs: { server: 's', path: '/' } }, 'volume type nfs is not supported by this agent'],
    [{ constructor: {} }, 'volume type constructor is not supported by this agent'],
    [{ emptyDir: {}, nfs: { server: 's', path: '/' } }, 'the volume has more than one type'],
  ])('%j is refused', async (source, message) => {
    const { manager, configMaps, secrets } = await setUp();
    configMaps.set('shop/there', { a: '1' });
    secrets.set('shop/there', { a: '1' });
    const failure = await failureOf(
      manager.mountVolumes(
        podWith([
          { name: 'v', ...source },
          { name: 'fine', emptyDir: {} },
        ]),
        never,
      ),
    );
    expect(failure).toContain(`v FailedMount MountVolume.SetUp failed for volume "v" : ${message}`);
  });

  it('may be missing where they are optional', async () => {
    const { manager, configMaps, folderOf } = await setUp();
    configMaps.set('shop/there', { a: '1' });
    const sources = [
      { configMap: { name: 'x', optional: true } },
      { secret: { name: 'x', optional: true } },
      {
        configMap: {
          name: 'there',
          optional: true,
          items: [
            { key: 'k', path: 'k' },
            { key: 'a', path: 'a' },
          ],
        },
      },
    ];
    const volumes = [
      { name: 'c', configMap: { name: 'x', optional: true } },
      { name: 's', secret: { secretName: 'x', optional: true } },
      { name: 'p', projected: { sources } },
    ];
    const mounted = await manager.mountVolumes(podWith(volumes), never);
    expect(mounted.size).toBe(3);
    expect((await readdir(folderOf('projected', 'p'))).filter((name) => !name.startsWith('..'))).toEqual(['a']);
    configMaps.set('shop/x', { late: '1' });
    await manager.mountVolumes(podWith(volumes), never);
    expect(await readFile(join(folderOf('configmap', 'c'), 'late'), 'utf8')).toBe('1');
  });

  it('make folders where other volumes of a container are mounted', async () => {
    const { manager, configMaps, folderOf } = await setUp();
    configMaps.set('shop/settings', { a: '1' });
    const pod = podWith([
      { name: 'c', configMap: { name: 'settings' } },
      { name: 'e', emptyDir: {} },
    ]);
    const volumeMounts = [
      { name: 'c', mountPath: '/etc/app/' },
      { name: 'e', mountPath: '/etc/app/work/here' },
      { name: 'e', mountPath: '/etc/app/work/here/below' },
      { name: 'e', mountPath: '/etc/apple' },
    ];
    await manager.mountVolumes({ ...pod, spec: { ...pod.spec, containers: [{ name: 'app', image: 'i', volumeMounts }] } }, never);
    const folder = folderOf('configmap', 'c');
    expect((await readdir(folder)).filter((name) => !name.startsWith('..')).sort()).toEqual(['a', 'bin', 'work']);
    expect(await readdir(join(folder, 'work', 'here'))).toEqual([]);
  });
});

describe('a service account token', () => {
  const token = {
    name: 'p',
    projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 3607 } }] },
  };

  it.each([
    ['nobody in particular', {}, undefined, '644', {}],
    ['the user of all containers', { runAsUser: 7 }, undefined, '600', { uid: 7 }],
    ['the group of the pod', { fsGroup: 123 }, undefined, '640', { gid: 123 }],
    ['the user and the group', { runAsUser: 7, fsGroup: 123 }, undefined, '640', { uid: 7, gid: 123 }],
    ['nobody where users differ', { runAsUser: 7 }, 8, '644', {}],
  ])('belongs to %s', async (_, securityContext, otherUser, mode, owner) => {
    const { manager, mounter, folderOf, tokens } = await setUp();
    const extra = { name: 'other', image: 'i', securityContext: otherUser === undefined ? {} : { runAsUser: otherUser } };
    await manager.mountVolumes(podWith([token], { securityContext, initContainers: [extra] }), never);
    const path = join(folderOf('projected', 'p'), 'token');
    expect([await modeOf(path), await readFile(path, 'utf8')]).toEqual([mode, 'token-1']);
    const [, owned] = [...mounter.owners].find(([name]) => /\d\.\w+\/token$/.test(name)) ?? [];
    expect(JSON.parse(JSON.stringify(owned ?? {}))).toEqual(owner);
    expect(tokens.asked).toEqual([{ serviceAccountName: 'robot', audience: 'vault', expirationSeconds: 3607 }]);
  });

  it('is written anew when there is a new one', async () => {
    const { manager, folderOf, tokens } = await setUp();
    await manager.mountVolumes(podWith([token]), never);
    tokens.next = 'token-2';
    await manager.mountVolumes(podWith([token]), never);
    expect(await readFile(join(folderOf('projected', 'p'), 'token'), 'utf8')).toBe('token-2');
  });
});

describe('fields of a pod', () => {
  const pod = podWith([]);
  const item = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });

  it('are made once, however many files of however many volumes show them', () => {
    let read = 0;
    const annotations = new Proxy<Record<string, string>>(
      { a: 'x'.repeat(1000) },
      {
        get: (target, key) => {
          read += 1;
          return Reflect.get(target, key);
        },
      },
    );
    const fields = new ShownFields({ ...pod, metadata: { ...pod.metadata, annotations } }, () => ({}));
    const items = Array.from({ length: 400 }, (_, index) => item(`f${index}`, 'metadata.annotations'));
    const all = [downwardFiles({ fields }, items, 0o644), downwardFiles({ fields }, items, 0o600)];
    expect(new Set(all.flatMap((files) => [...files.values()].map(({ data }) => data))).size).toBe(1);
    expect(read).toBe(1);
  });

  it('are asked of the node once', () => {
    let asked = 0;
    const fields = new ShownFields(pod, () => {
      asked += 1;
      return { cpu: '4' };
    });
    const cpu = (path: string, divisor: string) => ({
      path,
      resourceFieldRef: { containerName: 'app', resource: 'limits.cpu', divisor },
    });
    const files = downwardFiles({ fields }, [cpu('a', '1'), cpu('b', '1m'), cpu('c', '1')], 0o644);
    expect(Array.from(files.values(), ({ data }) => Buffer.from(data).toString())).toEqual(['4', '4000', '4']);
    expect(asked).toBe(1);
  });

  it('come to eight megabytes in all volumes of the pod', () => {
    const annotations = { a: 'x'.repeat(1024 * 1024) };
    const fields = new ShownFields({ ...pod, metadata: { ...pod.metadata, annotations } }, () => ({}));
    const items = Array.from({ length: 7 }, (_, index) => item(`f${index}`, 'metadata.annotations'));
    expect(downwardFiles({ fields }, items, 0o644).size).toBe(7);
    expect(() => downwardFiles({ fields }, items, 0o644)).toThrow(
      'the fields that the volumes of the pod show have more than 8388608 bytes together',
    );
  });

  it('of another volume of the same pod count as well', async () => {
    const { manager } = await setUp();
    const source = { items: [item('a', 'metadata.annotations'), item('b', 'metadata.annotations')] };
    const volumes = [
      { name: 'd', downwardAPI: source },
      { name: 'p', projected: { sources: [{ downwardAPI: source }] } },
    ];
    const shown = podWith(volumes);
    const annotations = { a: 'x'.repeat(2.5 * 1024 * 1024) };
    await expect(manager.mountVolumes({ ...shown, metadata: { ...shown.metadata, annotations } }, never)).rejects.toThrow(
      'MountVolume.SetUp failed for volume "p" : the fields that the volumes of the pod show',
    );
  });
});
