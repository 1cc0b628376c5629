import { describe, expect, it } from 'vitest';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUp } from './setup.ts';

const metadata = { name: 'pod-a', uid: 'a', namespace: 'default', attempt: 1 };
const second = 1_000_000_000n;

describe('a sandbox', () => {
  const sandbox = { id: 's1', metadata, state: 1, createdAt: 7n * second, labels: { a: 'b' }, annotations: { c: 'd' } };
  const record = { id: 's1', metadata, state: 'notready', createdAt: 7000, labels: { a: 'b' }, annotations: { c: 'd' } };

  it('is listed as the runtime tells it', async () => {
    const { runtime } = await setUp({
      ListPodSandbox: () => ({ items: [{ ...sandbox, runtimeHandler: 'kata' }, { id: 's2' }] }),
    });
    const nobody = { name: '', uid: '', namespace: '', attempt: 0 };
    expect(await runtime.listPodSandboxes()).toEqual([
      { ...record, runtimeHandler: 'kata' },
      { id: 's2', metadata: nobody, state: 'ready', createdAt: 0, labels: {}, annotations: {}, runtimeHandler: '' },
    ]);
  });

  it('has all its addresses, the primary one first, and its namespaces', async () => {
    const network = { ip: '10.0.0.1', additionalIps: [{ ip: 'fd00::1' }] };
    const linux = { namespaces: { options: { network: 2, pid: 3, ipc: 1, targetId: 'c0' } } };
    const { runtime } = await setUp({ PodSandboxStatus: () => ({ status: { ...sandbox, network, linux } }) });
    const namespaces = { network: 'node', pid: 'target', ipc: 'container', targetID: 'c0' };
    expect(await runtime.podSandboxStatus('s1')).toEqual({
      ...record,
      runtimeHandler: '',
      ips: ['10.0.0.1', 'fd00::1'],
      namespaces,
    });
  });

  it('has no address in the network of the node', async () => {
    const { runtime } = await setUp({ PodSandboxStatus: () => ({ status: { ...sandbox, network: {} } }) });
    expect((await runtime.podSandboxStatus('s1')).ips).toEqual([]);
  });
});

describe('a container', () => {
  const container = { id: 'c1', metadata: { name: 'app', attempt: 2 }, image: { image: 'busybox' }, imageRef: 'sha256:1' };
  const status = {
    ...container,
    state: 2,
    createdAt: second,
    startedAt: 2n * second + 1n,
    finishedAt: 3n * second,
    exitCode: 137,
    reason: 'OOMKilled',
    message: 'out of memory',
    imageId: 'sha256:2',
    logPath: '/logs/0.log',
    mounts: [
      { containerPath: '/data', hostPath: '/host', readonly: true, propagation: 1, image: { image: 'i' }, imageSubPath: 's' },
    ],
    resources: { linux: { cpuQuota: -1n, memoryLimitInBytes: 2n ** 40n, hugepageLimits: [{ pageSize: '2MB', limit: 5n }] } },
    user: { linux: { uid: 0n, gid: 5n, supplementalGroups: [6n] } },
    stopSignal: 23,
  };

  it('is told with all that the runtime says', async () => {
    const { runtime } = await setUp({
      ContainerStatus: () => ({ status }),
      ListContainers: () => ({ containers: [{ id: 'c1', podSandboxId: 's1' }] }),
    });
    expect(await runtime.containerStatus('c1')).toEqual({
      id: 'c1',
      sandboxID: 's1',
      metadata: { name: 'app', attempt: 2 },
      image: 'busybox',
      imageRef: 'sha256:1',
      imageID: 'sha256:2',
      state: 'exited',
      createdAt: 1000,
      startedAt: 2000,
      finishedAt: 3000,
      exitCode: 137,
      reason: 'OOMKilled',
      message: 'out of memory',
      logPath: '/logs/0.log',
      labels: {},
      annotations: {},
      mounts: [
        {
          ...{ containerPath: '/data', hostPath: '/host', readonly: true, selinuxRelabel: false },
          ...{ propagation: 'hostToContainer', image: 'i', imageSubPath: 's' },
        },
      ],
      resources: { cpuQuota: -1, memoryLimitInBytes: 2 ** 40, hugepageLimits: [{ pageSize: '2MB', limit: 5 }] },
      user: { uid: 0, gid: 5, supplementalGroups: [6] },
      stopSignal: 'SIGTERM',
    });
  });

  it('lacks what the runtime does not say, and the zero time of Go is no time', async () => {
    const bare = { ...container, state: 9, createdAt: -6_795_364_578_871_345_152n };
    const { runtime } = await setUp({ ContainerStatus: () => ({ status: bare }), ListContainers: () => ({}) });
    const details = await runtime.containerStatus('c1');
    expect(details).toMatchObject({ state: 'unknown', createdAt: 0, startedAt: 0, finishedAt: 0, sandboxID: '' });
    for (const field of ['resources', 'user', 'stopSignal']) expect(details).not.toHaveProperty(field);
  });

  it('is in the sandbox that a list or its making has told, without another question', async () => {
    const { runtime, server } = await setUp({
      CreateContainer: () => ({ containerId: 'c2' }),
      ContainerStatus: ({ request }) => ({ status: { id: request.containerId } }),
      ListContainers: () => ({ containers: [{ ...container, podSandboxId: 's1' }] }),
    });
    await runtime.listContainers();
    await runtime.createContainer('s2', containerConfigOf('a'), sandboxConfigOf('a'));
    expect((await runtime.containerStatus('c1')).sandboxID).toBe('s1');
    expect((await runtime.containerStatus('c2')).sandboxID).toBe('s2');
    expect(server.names()).toEqual(['ListContainers', 'CreateContainer', 'ContainerStatus', 'ContainerStatus']);
  });

  it('is forgotten when it is removed, and when a list of all does not have it', async () => {
    const { runtime, server } = await setUp({
      CreateContainer: () => ({ containerId: 'c2' }),
      ContainerStatus: () => ({ status: { id: 'c2' } }),
      ListContainers: () => ({}),
      RemoveContainer: () => ({}),
    });
    for (const forget of [() => runtime.removeContainer('c2'), () => runtime.listContainers()]) {
      await runtime.createContainer('s2', containerConfigOf('a'), sandboxConfigOf('a'));
      await forget();
      expect((await runtime.containerStatus('c2')).sandboxID).toBe('');
    }
    expect(server.names().filter((name) => name === 'ListContainers')).toHaveLength(3);
  });
});

describe('the rest', () => {
  it('images keep a user 0 apart from none', async () => {
    const image = { id: 'sha256:1', repoTags: ['a:1'], repoDigests: ['a@sha256:2'], size: 5n, username: '', pinned: true };
    const { runtime } = await setUp({ ListImages: () => ({ images: [image, { ...image, uid: { value: 0n } }] }) });
    const expected = { id: 'sha256:1', repoTags: ['a:1'], repoDigests: ['a@sha256:2'], sizeBytes: 5, username: '', pinned: true };
    expect(await runtime.listImages()).toEqual([expected, { ...expected, uid: 0 }]);
  });

  it('an image that is not there is undefined', async () => {
    const { runtime } = await setUp({ ImageStatus: () => ({}) });
    expect(await runtime.imageStatus('a')).toBeUndefined();
  });

  it('the file systems of images are told', async () => {
    const usage = { timestamp: second, fsId: { mountpoint: '/var' }, usedBytes: { value: 5n }, inodesUsed: { value: 6n } };
    const { runtime } = await setUp({ ImageFsInfo: () => ({ imageFilesystems: [usage], containerFilesystems: [{}] }) });
    expect(await runtime.imageFilesystems()).toEqual([{ mountpoint: '/var', usedBytes: 5, inodesUsed: 6, at: 1000 }]);
  });

  it('health has conditions, handlers and features', async () => {
    const condition = { type: 'NetworkReady', status: false, reason: 'NoCNI', message: 'no plugin' };
    const runtimeHandlers = [{ name: 'runc', features: { recursiveReadOnlyMounts: true } }, {}];
    const { runtime } = await setUp({ Status: () => ({ status: { conditions: [condition] }, runtimeHandlers }) });
    expect(await runtime.health()).toEqual({
      conditions: [condition],
      handlers: [
        { name: 'runc', recursiveReadOnlyMounts: true, userNamespaces: false },
        { name: '', recursiveReadOnlyMounts: false, userNamespaces: false },
      ],
      features: { supplementalGroupsPolicy: false },
    });
  });

  it.each([
    [{ linux: { cgroupDriver: 1 } }, 'cgroupfs'],
    [{ linux: { cgroupDriver: 0 } }, 'systemd'],
    [{}, undefined],
  ])('the cgroup driver of %j is %s', async (answer, driver) => {
    const { runtime } = await setUp({ RuntimeConfig: () => answer });
    expect(await runtime.cgroupDriver()).toBe(driver);
  });

  it('numbers of stats that are not known are absent, and 0 is known', async () => {
    const labels = { a: 'b' };
    const attributes = { id: 'c1', metadata: { name: 'app' }, labels };
    const cpu = { timestamp: second, usageCoreNanoSeconds: { value: 5n } };
    const memory = { timestamp: 2n * second, workingSetBytes: { value: 0n }, usageBytes: { value: 6n }, rssBytes: { value: 7n } };
    const swap = { timestamp: second, swapUsageBytes: { value: 0n }, swapAvailableBytes: { value: 11n } };
    const stats = { attributes, cpu, memory, swap, writableLayer: { usedBytes: { value: 8n } } };
    const network = { defaultInterface: { rxBytes: { value: 9n }, txBytes: { value: 10n } } };
    const linux = { cpu, network, process: { processCount: { value: 3n } }, containers: [stats] };
    const { runtime } = await setUp({
      ListContainerStats: () => ({ stats: [stats] }),
      ListPodSandboxStats: () => ({ stats: [{ attributes: { id: 's1', labels }, linux }, { attributes: { id: 's2' } }] }),
      ListPodSandbox: () => ({ items: [{ id: 's2' }] }),
    });
    const shown = { at: 2000, cpuNanoseconds: 5, memoryWorkingSetBytes: 0, memoryUsageBytes: 6, memoryRssBytes: 7 };
    const swapped = { swapUsageBytes: 0, swapAvailableBytes: 11 };
    const container = { containerID: 'c1', name: 'app', labels, ...shown, ...swapped, writableLayerBytes: 8 };
    expect(await runtime.listContainerStats()).toEqual([container]);
    const pod = { sandboxID: 's1', labels, at: 1000, cpuNanoseconds: 5, receivedBytes: 9, sentBytes: 10, processes: 3 };
    const bare = { sandboxID: 's2', labels: {}, at: 0, containers: [] };
    expect(await runtime.listPodSandboxStats()).toEqual([{ ...pod, containers: [container] }, bare]);
    expect(await runtime.listPodSandboxStats({ ready: true })).toEqual([bare]);
  });

  it('a command gives its bytes and its exit code', async () => {
    const { runtime, server } = await setUp({ ExecSync: () => ({ stdout: Buffer.from([0, 255]), exitCode: 3 }) });
    const result = await runtime.execSync('c1', ['ls', '-l'], 7);
    expect([[...result.stdout], [...result.stderr], result.exitCode]).toEqual([[0, 255], [], 3]);
    expect(server.seen[0]?.request).toMatchObject({ containerId: 'c1', cmd: ['ls', '-l'], timeout: 7n });
  });

  it('streams have the URL that the runtime gives', async () => {
    const url = { url: 'http://127.0.0.1:1/x' };
    const { runtime, server } = await setUp({ Exec: () => url, Attach: () => url, PortForward: () => url });
    const stream = { tty: true, stdin: true, stdout: true, stderr: false };
    expect(await runtime.exec('c1', ['sh'], stream)).toBe(url.url);
    expect(await runtime.attach('c1', stream)).toBe(url.url);
    expect(await runtime.portForward('s1', [80, 81])).toBe(url.url);
    expect(server.seen.map(({ request }) => request)).toMatchObject([
      { containerId: 'c1', cmd: ['sh'], ...stream },
      { containerId: 'c1', ...stream },
      { podSandboxId: 's1', port: [80, 81] },
    ]);
  });

  it('calls that only do something name what they are about', async () => {
    const names = ['UpdateRuntimeConfig', 'StartContainer', 'StopContainer', 'UpdateContainerResources', 'ReopenContainerLog'];
    const { runtime, server } = await setUp(Object.fromEntries(names.map((name) => [name, () => ({})])));
    await runtime.updatePodCIDR('10.0.0.0/24');
    await runtime.startContainer('c1');
    await runtime.stopContainer('c1', 30);
    await runtime.updateContainerResources('c1', { cpuQuota: 5000 });
    await runtime.reopenContainerLog('c1');
    expect(server.names()).toEqual(names);
    expect(server.seen.map(({ request }) => request)).toMatchObject([
      { runtimeConfig: { networkConfig: { podCidr: '10.0.0.0/24' } } },
      { containerId: 'c1' },
      { containerId: 'c1', timeout: 30n },
      { containerId: 'c1', linux: { cpuQuota: 5000n } },
      { containerId: 'c1' },
    ]);
  });
});
