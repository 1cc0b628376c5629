import { describe, expect, it } from 'vitest';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/runtime-containers.ts';
import type { PodSandboxConfig } from '../../../../src/kubelet/runtime/runtime-sandboxes.ts';
import type { NamespaceOptions } from '../../../../src/kubelet/runtime/security.ts';
import { containerConfigOf, sandboxConfigOf } from '../../../support/runtime-configs.ts';
import { setUp } from './setup.ts';

type Fields = Record<string, unknown>;

/** A request as the server read it, without what is empty in the proto file, which is not on the wire either. */
function shown(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value];
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value;
  const isThere = ([key, field]: [string, unknown]): boolean =>
    key !== '$typeName' && ![undefined, '', 0, 0n, false].includes(field as undefined) && !isEmpty(field);
  return Object.fromEntries(
    Object.entries(value)
      .filter(isThere)
      .map(([key, field]) => [key, shown(field)]),
  );
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const isMap = typeof value === 'object' && value !== null && !('$typeName' in value) && !(value instanceof Uint8Array);
  return isMap && Object.keys(value).length === 0;
}

async function sentFor(container: Partial<ContainerConfig>, sandbox: Partial<PodSandboxConfig> = {}) {
  const { runtime, server } = await setUp({ CreateContainer: () => ({ containerId: 'c1' }) });
  const made = runtime.createContainer('s1', containerConfigOf('a', 'app', 0, container), sandboxConfigOf('a', 0, sandbox));
  expect(await made).toBe('c1');
  const request = shown(server.seen[0]?.request) as { config: Fields & { linux?: Fields }; sandboxConfig: Fields };
  return { container: request.config, linux: request.config.linux ?? {}, sandbox: request.sandboxConfig };
}

describe('what is absent', () => {
  const namespaces: NamespaceOptions = { network: 'pod', pid: 'pod', ipc: 'pod' };

  it('is not sent', async () => {
    const { container, sandbox } = await sentFor({
      securityContext: { ...bareSecurity, namespaces },
      labels: {},
      annotations: {},
    });
    const security = { namespaceOptions: {} };
    expect(container).toEqual({
      metadata: { name: 'app' },
      image: { image: 'busybox' },
      logPath: 'app/0.log',
      linux: { resources: {}, securityContext: security },
    });
    expect(Object.keys(sandbox).sort()).toEqual(['hostname', 'labels', 'linux', 'logDirectory', 'metadata']);
  });

  it('is told from 0: the user and the group of root', async () => {
    const { linux } = await sentFor({ securityContext: { ...bareSecurity, runAsUser: 0, runAsGroup: 0 } });
    expect(linux.securityContext).toMatchObject({ runAsUser: {}, runAsGroup: {} });
    const { linux: other } = await sentFor({ securityContext: { ...bareSecurity, runAsUser: 1000 } });
    expect(other.securityContext).toMatchObject({ runAsUser: { value: 1000n } });
    expect(other.securityContext).not.toHaveProperty('runAsGroup');
  });

  it('is told from the first of a list: the default profile and an empty DNS configuration', async () => {
    const { linux } = await sentFor({ securityContext: { ...bareSecurity, seccomp: { type: 'RuntimeDefault' } } });
    expect(linux.securityContext).toHaveProperty('seccomp', {});
    expect(linux.securityContext).not.toHaveProperty('apparmor');
    const { sandbox } = await sentFor({}, { dnsConfig: { servers: [], searches: [], options: [] } });
    expect(sandbox).toHaveProperty('dnsConfig', {});
  });

  it('is no credential, and the address of the registry is never sent', async () => {
    const { runtime, server } = await setUp({ PullImage: () => ({ imageRef: 'sha256:1' }) });
    await runtime.pullImage('localhost:5000/a');
    await runtime.pullImage('localhost:5000/a', { auth: { username: 'u', password: 'p' }, runtimeHandler: 'kata' });
    expect(server.seen.map(({ request }) => shown(request))).toEqual([
      { image: { image: 'localhost:5000/a' } },
      { image: { image: 'localhost:5000/a', runtimeHandler: 'kata' }, auth: { username: 'u', password: 'p' } },
    ]);
  });
});

describe('a container', () => {
  it('is sent with all that it is made from', async () => {
    const mount = { containerPath: '/data', hostPath: '/host', readonly: true, selinuxRelabel: true } as const;
    const { container } = await sentFor({
      image: { image: 'sha256:1', userSpecifiedImage: 'busybox:1', runtimeHandler: 'kata' },
      command: ['sh'],
      args: ['-c', 'true'],
      workingDir: '/tmp',
      envs: [
        { key: 'TEXT', value: 'bär' },
        { key: 'BYTES', value: new Uint8Array([0, 255]) },
      ],
      mounts: [
        { ...mount, propagation: 'bidirectional', recursiveReadOnly: true },
        { ...mount, hostPath: '', propagation: 'hostToContainer', image: 'sha256:2', imageSubPath: 'sub' },
      ],
      devices: [{ containerPath: '/dev/a', hostPath: '/dev/b', permissions: 'rw' }],
      cdiDevices: ['vendor.example/class=a'],
      stdin: true,
      stdinOnce: true,
      tty: true,
      stopSignal: 'SIGRTMIN+3',
    });
    expect(container).toMatchObject({
      image: { image: 'sha256:1', userSpecifiedImage: 'busybox:1', runtimeHandler: 'kata' },
      command: ['sh'],
      args: ['-c', 'true'],
      workingDir: '/tmp',
      envs: [
        { key: 'TEXT', value: [98, 195, 164, 114] },
        { key: 'BYTES', value: [0, 255] },
      ],
      mounts: [
        { ...mount, propagation: 2, recursiveReadOnly: true },
        {
          containerPath: '/data',
          readonly: true,
          selinuxRelabel: true,
          propagation: 1,
          image: { image: 'sha256:2' },
          imageSubPath: 'sub',
        },
      ],
      devices: [{ containerPath: '/dev/a', hostPath: '/dev/b', permissions: 'rw' }],
      CDIDevices: [{ name: 'vendor.example/class=a' }],
      stdin: true,
      stdinOnce: true,
      tty: true,
      stopSignal: 38,
    });
  });

  it('is sent with the ids of its own user namespace, and so is what it sees', async () => {
    const users = { hostID: 131_072, containerID: 0, length: 65_536 };
    const mount = {
      containerPath: '/data',
      hostPath: '/host',
      readonly: true,
      selinuxRelabel: true,
      propagation: 'private',
    } as const;
    const { container, linux } = await sentFor({
      mounts: [{ ...mount, users }],
      securityContext: { ...bareSecurity, namespaces: { network: 'pod', pid: 'pod', ipc: 'pod', users } },
    });
    const ids = [{ hostId: 131_072, length: 65_536 }];
    expect(linux.securityContext).toMatchObject({ namespaceOptions: { usernsOptions: { uids: ids, gids: ids } } });
    expect(container.mounts).toMatchObject([{ uidMappings: ids, gidMappings: ids }]);
  });

  it('is sent with its limits and its rights', async () => {
    const { linux } = await sentFor({
      resources: {
        cpuPeriod: 100_000,
        cpuQuota: -1,
        cpuShares: 512,
        memoryLimitInBytes: 2 ** 40,
        memorySwapLimitInBytes: -1,
        oomScoreAdj: -997,
        cpusetCpus: '0-1',
        cpusetMems: '0',
        hugepageLimits: [{ pageSize: '2MB', limit: 2 ** 21 }],
        unified: { 'memory.high': '1000' },
      },
      securityContext: {
        ...bareSecurity,
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
        namespaces: { network: 'node', pid: 'target', ipc: 'container', targetID: 'c0' },
        selinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0' },
        runAsUsername: 'nobody',
        readonlyRootfs: true,
        supplementalGroups: [7, 8],
        supplementalGroupsPolicy: 'Strict',
        noNewPrivs: true,
        maskedPaths: ['/proc/kcore'],
        readonlyPaths: ['/proc/sys'],
        seccomp: { type: 'Localhost', localhostRef: '/seccomp/a.json' },
        apparmor: { type: 'Unconfined' },
      },
    });
    expect(linux).toEqual({
      resources: {
        cpuPeriod: 100_000n,
        cpuQuota: -1n,
        cpuShares: 512n,
        memoryLimitInBytes: 2n ** 40n,
        memorySwapLimitInBytes: -1n,
        oomScoreAdj: -997n,
        cpusetCpus: '0-1',
        cpusetMems: '0',
        hugepageLimits: [{ pageSize: '2MB', limit: 2n ** 21n }],
        unified: { 'memory.high': '1000' },
      },
      securityContext: {
        capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
        namespaceOptions: { network: 2, pid: 3, ipc: 1, targetId: 'c0' },
        selinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0' },
        runAsUsername: 'nobody',
        readonlyRootfs: true,
        supplementalGroups: [7n, 8n],
        supplementalGroupsPolicy: 1,
        noNewPrivs: true,
        maskedPaths: ['/proc/kcore'],
        readonlyPaths: ['/proc/sys'],
        seccomp: { profileType: 2, localhostRef: '/seccomp/a.json' },
        apparmor: { profileType: 1 },
      },
    });
  });
});

describe('a sandbox', () => {
  it('is sent with its network, its cgroup and its rights', async () => {
    const { sandbox } = await sentFor(
      {},
      {
        dnsConfig: { servers: ['10.0.0.10'], searches: ['svc'], options: ['ndots:5'] },
        portMappings: [{ protocol: 'SCTP', containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1' }],
        annotations: { a: 'b' },
        linux: {
          cgroupParent: '/kubepods/poda',
          sysctls: { 'net.core.somaxconn': '10' },
          overhead: { cpuShares: 2 },
          resources: { memoryLimitInBytes: 4096 },
          securityContext: {
            namespaces: { network: 'node', pid: 'pod', ipc: 'node' },
            supplementalGroups: [],
            privileged: true,
            runAsUser: 65535,
            readonlyRootfs: true,
          },
        },
      },
    );
    expect(sandbox).toMatchObject({
      metadata: { name: 'pod-a', uid: 'a', namespace: 'default' },
      dnsConfig: { servers: ['10.0.0.10'], searches: ['svc'], options: ['ndots:5'] },
      portMappings: [{ protocol: 2, containerPort: 80, hostPort: 8080, hostIp: '127.0.0.1' }],
      annotations: { a: 'b' },
      linux: {
        cgroupParent: '/kubepods/poda',
        sysctls: { 'net.core.somaxconn': '10' },
        overhead: { cpuShares: 2n },
        resources: { memoryLimitInBytes: 4096n },
        securityContext: {
          namespaceOptions: { network: 2, ipc: 2 },
          privileged: true,
          runAsUser: { value: 65535n },
          readonlyRootfs: true,
        },
      },
    });
  });
});

describe('a filter', () => {
  const podUID = 'a';
  const labelSelector = { 'io.kubernetes.pod.uid': 'a' };

  it('asks for what it names', async () => {
    const names = ['ListPodSandbox', 'ListContainers', 'ListContainerStats', 'ListPodSandboxStats'];
    const { runtime, server } = await setUp(Object.fromEntries(names.map((name) => [name, () => ({})])));
    await runtime.listPodSandboxes();
    await runtime.listPodSandboxes({ podUID, ready: true });
    await runtime.listPodSandboxes({ ready: false });
    await runtime.listContainers({ podUID, sandboxID: 's', containerID: 'c' });
    await runtime.listContainerStats({ sandboxID: 's' });
    await runtime.listPodSandboxStats({ podUID });
    expect(server.seen.map(({ request }) => shown(request))).toEqual([
      { filter: {} },
      { filter: { labelSelector, state: {} } },
      { filter: { state: { state: 1 } } },
      { filter: { labelSelector, podSandboxId: 's', id: 'c' } },
      { filter: { podSandboxId: 's' } },
      { filter: { labelSelector } },
    ]);
  });
});

const bareSecurity: ContainerConfig['securityContext'] = {
  privileged: false,
  namespaces: { network: 'pod', pid: 'container', ipc: 'pod' },
  readonlyRootfs: false,
  supplementalGroups: [],
  noNewPrivs: false,
  maskedPaths: [],
  readonlyPaths: [],
};
