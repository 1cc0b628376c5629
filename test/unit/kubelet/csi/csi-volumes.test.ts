import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PluginCallError, VolumeManager } from '../../../../src/kubelet.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { failureOf, never, podWith } from '../volumes/volumes-world.ts';
import { driver, podOf, setUp } from './csi-world.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const handle = `csi-${sha('u1data')}`;
const final = new PluginCallError('InvalidArgument', 'NodePublishVolume', 'no such disk');
const uncertain = new PluginCallError('DeadlineExceeded', 'NodePublishVolume', 'context deadline exceeded');
const wrong = 'MountVolume.SetUp failed for volume "data" : ';

describe('a volume of a driver that lives with its pod', () => {
  it('is asked for as a kubelet asks for it, and kept as a kubelet keeps it', async () => {
    const test = await setUp({ podInfoOnMount: true });
    const folder = test.folderOf('csi', 'data');
    let kept = '';
    test.state.onPublish = async () => {
      kept = await readFile(join(folder, 'vol_data.json'), 'utf8');
    };
    const csi = { fsType: 'ext4', readOnly: true, volumeAttributes: { size: '1Gi' }, nodePublishSecretRef: { name: 'login' } };
    test.secrets.set('shop/login', { password: 'hidden' });
    const mounted = await test.manager.mountVolumes(podOf(csi), never);
    const targetPath = join(folder, 'mount');
    expect([...mounted.values()]).toEqual([
      { name: 'data', type: 'csi', hostPath: targetPath, readonly: true, selinuxRelabel: false },
    ]);
    expect(test.published).toEqual([
      {
        ...{ volumeID: handle, targetPath, readonly: true, accessMode: 'SINGLE_NODE_WRITER', fsType: 'ext4' },
        secrets: { password: 'hidden' },
        volumeContext: {
          size: '1Gi',
          'csi.storage.k8s.io/pod.name': 'web',
          'csi.storage.k8s.io/pod.namespace': 'shop',
          'csi.storage.k8s.io/pod.uid': 'u1',
          'csi.storage.k8s.io/serviceAccount.name': 'robot',
          'csi.storage.k8s.io/ephemeral': 'true',
        },
      },
    ]);
    const attachment = `csi-${sha(`${handle}${driver}node-1`)}`;
    const names = `"driverName":"${driver}","nodeName":"node-1","specVolID":"data","volumeHandle":"${handle}"`;
    expect(kept).toBe(`{"attachmentID":"${attachment}",${names},"volumeLifecycleMode":"Ephemeral"}\n`);
    await test.manager.mountVolumes(podOf(csi), never);
    expect(test.published).toHaveLength(1);
  });

  it.each([
    [false, 'volumeContext'],
    [true, 'secrets'],
  ] as const)('comes with the tokens that the driver asks for, in its secrets: %s', async (serviceAccountTokenInSecrets, place) => {
    const tokenRequests = [{ audience: 'vault', expirationSeconds: 700 }, { audience: '' }];
    const test = await setUp({ tokenRequests, serviceAccountTokenInSecrets });
    await test.manager.mountVolumes(podOf(), never);
    const expirationTimestamp = '2030-01-01T00:00:00Z';
    expect(JSON.parse(test.published[0]?.[place]?.['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')).toEqual({
      vault: { token: 'token-of-vault', expirationTimestamp },
      '': { token: 'token-of-', expirationTimestamp },
    });
    expect(test.tokens.asked).toEqual([
      { serviceAccountName: 'robot', audience: 'vault', expirationSeconds: 700 },
      { serviceAccountName: 'robot', audience: '', expirationSeconds: 3600 },
    ]);
  });

  it.each([
    ['no CSIDriver', undefined, `volume mode "Ephemeral" not supported by driver ${driver} (no CSIDriver object)`],
    [
      'no such mode',
      { volumeLifecycleModes: ['Persistent'] },
      `not supported by driver ${driver} (only supports ["Persistent"])`,
    ],
  ])('is refused where there is %s', async (_, spec, words) => {
    const test = await setUp();
    test.state.spec = spec;
    expect(await failureOf(test.manager.mountVolumes(podOf(), never))).toContain(words);
    expect(test.published).toEqual([]);
  });

  it('waits for a driver that is not registered, and for a secret', async () => {
    const test = await setUp();
    test.state.isRegistered = false;
    const words = `kubernetes.io/csi: failed to get CSI client: driver name ${driver} not found in the list of registered CSI drivers`;
    expect(await failureOf(test.manager.mountVolumes(podOf(), never))).toBe(`data FailedMount ${wrong}${words}`);
    test.state.isRegistered = true;
    const pod = podOf({ nodePublishSecretRef: { name: 'login' } });
    const secret = 'fetching NodePublishSecretRef shop/login failed: secret "login" not found';
    expect(await failureOf(test.manager.mountVolumes(pod, never))).toContain(secret);
    expect(await readdir(join(test.podFolder, 'volumes'))).toEqual([]);
  });

  it('is made anew after the driver has refused it: nothing is left of the first try', async () => {
    const test = await setUp();
    test.state.onPublish = () => Promise.reject(final);
    const says = `the driver ${driver} says: rpc error: code = InvalidArgument desc = no such disk`;
    expect(await failureOf(test.manager.mountVolumes(podOf(), never))).toBe(`data FailedMount ${wrong}${says}`);
    expect(await readdir(join(test.podFolder, 'volumes', 'kubernetes.io~csi'))).toEqual([]);
    await test.manager.unmountVolumes('u1');
    expect(test.unpublished).toEqual([]);
  });

  it('is taken back where nobody knows what the driver has done', async () => {
    const test = await setUp();
    test.state.onPublish = () => Promise.reject(uncertain);
    await expect(test.manager.mountVolumes(podOf(), never)).rejects.toThrow('DeadlineExceeded');
    await mkdir(join(test.folderOf('csi', 'data'), 'mount'));
    await test.manager.unmountVolumes('u1');
    expect(test.unpublished).toEqual([`${handle} ${join(test.folderOf('csi', 'data'), 'mount')}`]);
    expect(await readdir(join(test.rootDirectory, 'pods'))).toEqual([]);
  });

  it('keeps no pod that is to end meanwhile waiting, and is taken back only after the driver has answered', async () => {
    const test = await setUp();
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    test.state.onPublish = () => {
      asked.resolve();
      return answer.promise;
    };
    const ending = new AbortController();
    const mounting = test.manager.mountVolumes(podOf(), ending.signal);
    await asked.promise;
    const ended: unknown[] = [];
    mounting.catch((error: unknown) => ended.push(error));
    const reason = new Error('it ends');
    ending.abort(reason);
    const unmounting = test.manager.unmountVolumes('u1');
    await settle();
    expect([ended, test.unpublished]).toEqual([[reason], []]);
    answer.resolve();
    await unmounting;
    expect(test.unpublished).toHaveLength(1);
  });

  it('is published anew where the driver asks for it, not more often than needed, and stays where that fails', async () => {
    const test = await setUp({ requiresRepublish: true });
    await test.manager.mountVolumes(podOf(), never);
    await test.manager.mountVolumes(podOf(), never);
    expect(test.published).toHaveLength(1);
    await test.clock.advance(10_000);
    await test.manager.mountVolumes(podOf(), never);
    expect(test.published).toHaveLength(2);
    await test.clock.advance(10_000);
    test.state.onPublish = () => Promise.reject(final);
    const mounted = await test.manager.mountVolumes(podOf(), never);
    expect([mounted.size, test.published.length, test.events]).toEqual([
      1,
      3,
      [`FailedMount ${wrong}the driver ${driver} says: ${final.message}`],
    ]);
    expect(await readdir(test.folderOf('csi', 'data'))).toEqual(['mount', 'vol_data.json']);
  });

  it('of an earlier process is published once more, and stays where that is refused', async () => {
    const test = await setUp();
    await test.manager.mountVolumes(podOf(), never);
    const restarted = new VolumeManager({ ...test.options, drivers: test.newVolumes() });
    test.state.onPublish = () => Promise.reject(final);
    await expect(restarted.mountVolumes(podOf(), never)).rejects.toThrow('no such disk');
    expect(await readdir(test.folderOf('csi', 'data'))).toEqual(['mount', 'vol_data.json']);
    await restarted.unmountVolumes('u1');
    expect(test.unpublished).toHaveLength(1);
  });
});

it('a driver is told paths below the folder that its own pod mounts, also where that is a symbolic link', async () => {
  const test = await setUp({}, true);
  const mounted = await test.manager.mountVolumes(podOf({}, { securityContext: { fsGroup: 77 } }), never);
  const real = join(test.folderOf('csi', 'data'), 'mount');
  expect(mounted.get('data')?.hostPath).toBe(real);
  expect([...test.mounter.owners.keys()]).toEqual([real]);
  const told = join(test.toldRoot, 'pods', 'u1', 'volumes', 'kubernetes.io~csi', 'data', 'mount');
  expect(test.published[0]?.targetPath).toBe(told);
  await test.manager.unmountVolumes('u1');
  expect(test.unpublished).toEqual([`${handle} ${told}`]);
});

describe('the group of the files of such a volume', () => {
  it.each([
    ['File', {}, true],
    ['None', { fsType: 'ext4' }, false],
    ['ReadWriteOnceWithFSType', { fsType: 'ext4' }, true],
    ['ReadWriteOnceWithFSType', {}, false],
    ['File', { readOnly: true }, false],
  ])('is set by the policy %s with %j: %s', async (fsGroupPolicy, csi, isSet) => {
    const test = await setUp({ fsGroupPolicy });
    test.state.onPublish = async ({ targetPath }) => {
      await mkdir(join(targetPath, 'sub'), { recursive: true });
      await writeFile(join(targetPath, 'sub', 'file'), '');
      await chmod(join(targetPath, 'sub', 'file'), 0o400);
    };
    await test.manager.mountVolumes(podOf(csi, { securityContext: { fsGroup: 77 } }), never);
    const paths = [...test.mounter.owners].filter(([, { gid }]) => gid === 77).map(([path]) => path.split('/data/').at(-1));
    expect(paths).toEqual(isSet ? ['mount/sub/file', 'mount/sub', 'mount'] : []);
    expect(test.published[0]?.volumeMountGroup).toBeUndefined();
  });

  it.each([
    undefined,
    'OnRootMismatch',
  ])('is set again whenever the volume is published anew, by the policy %s', async (policy) => {
    const test = await setUp({ requiresRepublish: true });
    const pod = podOf({}, { securityContext: { fsGroup: process.getgid?.() ?? 0, fsGroupChangePolicy: policy } });
    await test.manager.mountVolumes(pod, never);
    const mount = join(test.folderOf('csi', 'data'), 'mount');
    const changed: string[] = [];
    test.mounter.changeOwner = async (path) => void changed.push(await realpath(path));
    const file = join(mount, 'file');
    await writeFile(file, '');
    await test.clock.advance(10_000);
    await test.manager.mountVolumes(pod, never);
    expect(changed).toEqual(policy === undefined ? [file, mount] : []);
    await chmod(mount, 0o700);
    await test.clock.advance(10_000);
    await test.manager.mountVolumes(pod, never);
    expect(changed.slice(-2)).toEqual([file, mount]);
  });

  it('is not set in a volume that hangs', async () => {
    const test = await setUp();
    test.state.hangs = true;
    const failure = failureOf(test.manager.mountVolumes(podOf({}, { securityContext: { fsGroup: 77 } }), never));
    await until(() => test.published.length === 1 && test.clock.pendingTimers === 1);
    await test.clock.advance(10_000);
    const why = "it does not answer: it took longer than 10 s; it is asked again 10 s later, at the pod's next sync";
    expect(await failure).toContain(`applyFSGroup failed for vol ${handle}: ${why}`);
    expect(test.mounter.owners.size).toBe(0);
  });

  it('leaves the pod as it is where it cannot be set again', async () => {
    const test = await setUp({ requiresRepublish: true });
    const pod = podOf({}, { securityContext: { fsGroup: 77 } });
    await test.manager.mountVolumes(pod, never);
    await mkdir(join(test.folderOf('csi', 'data'), 'mount', ...Array<string>(257).fill('d')), { recursive: true });
    await test.clock.advance(10_000);
    expect((await test.manager.mountVolumes(pod, never)).size).toBe(1);
    const words = `applyFSGroup failed for vol ${handle}: the folders of the volume are deeper than 256`;
    expect(test.events).toEqual([`FailedMount ${wrong}${words}`]);
  });

  it('is told to a driver that sets it itself', async () => {
    const test = await setUp();
    test.state.capabilities = ['VOLUME_MOUNT_GROUP', 'SINGLE_NODE_MULTI_WRITER'];
    await test.manager.mountVolumes(podOf({}, { securityContext: { fsGroup: 77 } }), never);
    expect(test.published[0]).toMatchObject({ volumeMountGroup: '77', accessMode: 'SINGLE_NODE_MULTI_WRITER' });
    expect(test.mounter.owners.size).toBe(0);
  });
});

describe('the end of a pod with such a volume', () => {
  it('waits for a driver that is gone: nothing but secrets is deleted', async () => {
    const test = await setUp();
    const csi = podOf().spec?.volumes ?? [];
    const pod = podWith([...csi, { name: 'plain', emptyDir: {} }]);
    await test.manager.mountVolumes(pod, never);
    await writeFile(join(test.folderOf('empty-dir', 'plain'), 'kept'), '');
    test.state.isRegistered = false;
    const restarted = new VolumeManager({ ...test.options, drivers: test.newVolumes() });
    const words = `UnmountVolume.TearDown failed for volume "data" : kubernetes.io/csi: failed to get CSI client: driver name ${driver}`;
    await expect(restarted.unmountVolumes('u1')).rejects.toThrow(words);
    expect(await readdir(test.folderOf('csi', 'data'))).toEqual(['mount', 'vol_data.json']);
    expect(await readdir(test.folderOf('empty-dir', 'plain'))).toEqual(['kept']);
    test.state.isRegistered = true;
    await restarted.unmountVolumes('u1');
    expect(await readdir(join(test.rootDirectory, 'pods'))).toEqual([]);
  });

  it('waits with an agent that speaks with no drivers', async () => {
    const test = await setUp();
    await test.manager.mountVolumes(podOf(), never);
    const { drivers: _, ...options } = test.options;
    await expect(new VolumeManager(options).unmountVolumes('u1')).rejects.toThrow('data. This agent speaks with no plugins');
    expect(test.mounter.mounts).toHaveLength(1);
  });

  it('deletes no file that a driver has left, and unmounts nothing in its place', async () => {
    const test = await setUp();
    await test.manager.mountVolumes(podOf(), never);
    const mount = join(test.folderOf('csi', 'data'), 'mount');
    const { unpublishVolume } = test.node;
    test.node.unpublishVolume = async () => {};
    await expect(test.manager.unmountVolumes('u1')).rejects.toThrow(`${mount} is still mounted`);
    expect(test.mounter.mounts).toHaveLength(1);
    await test.mounter.unmount(mount);
    await writeFile(join(mount, 'precious'), '');
    await expect(test.manager.unmountVolumes('u1')).rejects.toThrow('ENOTEMPTY');
    expect(await readdir(mount)).toEqual(['precious']);
    await rm(join(mount, 'precious'));
    test.node.unpublishVolume = unpublishVolume;
    await test.manager.unmountVolumes('u1');
  });

  it('goes on where the driver does not know the volume, and nothing is mounted', async () => {
    const test = await setUp();
    test.state.onPublish = () => Promise.reject(uncertain);
    await expect(test.manager.mountVolumes(podOf(), never)).rejects.toThrow('DeadlineExceeded');
    test.state.onUnpublish = () => Promise.reject(new PluginCallError('NotFound', 'NodeUnpublishVolume', 'no such volume'));
    await test.manager.unmountVolumes('u1');
    expect(await readdir(join(test.rootDirectory, 'pods'))).toEqual([]);
  });

  it('takes a volume that nothing was made of, and none whose file cannot be read', async () => {
    const test = await setUp();
    await mkdir(test.folderOf('csi', 'data'), { recursive: true });
    await test.manager.unmountVolumes('u1');
    expect(await readdir(join(test.rootDirectory, 'pods'))).toEqual([]);
    await mkdir(test.folderOf('csi', 'data'), { recursive: true });
    await writeFile(join(test.folderOf('csi', 'data'), 'vol_data.json'), '{"driverName":');
    await expect(test.manager.unmountVolumes('u1')).rejects.toThrow('failed to parse volume data file');
    expect(test.unpublished).toEqual([]);
  });
});

it('is refused by an agent that speaks with no plugins', async () => {
  const test = await setUp();
  const { drivers: _, ...options } = test.options;
  const words = 'volume type csi is not supported by this agent: it speaks with no plugins';
  const pod = podWith([{ name: 'data', csi: { driver } }]);
  expect(await failureOf(new VolumeManager(options).mountVolumes(pod, never))).toContain(words);
});
