import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { KubeRequest, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';
import { BasicPodManager } from '../../../../src/index.ts';
import { AgentApiHost, type AgentApiHostOptions } from '../../../../src/kubelet/agent/agent-api-host.ts';
import { MainKubelet } from '../../../../src/kubelet/agent/main-kubelet.ts';
import type { ResolvedAgentOptions } from '../../../../src/kubelet/agent/node-agent-options.ts';
import { noPodCgroups } from '../../../../src/kubelet/machine/machine.ts';
import { NodeAgent, type StatsSummary } from '../../../../src/kubelet.ts';
import { buildPod, FakeClock } from '../../../../src/testing.ts';
import { createCertificateAuthority } from '../../../support/certificate-authority.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { NodeWorld } from './node-world.ts';

/** An agent of which nothing but these options is asked. */
function hostOf(agent: Partial<ResolvedAgentOptions>, given: object, parts: Partial<AgentApiHostOptions> = {}): AgentApiHost {
  const noPods = (): never => {
    throw new Error('the runtime is asked for nothing here');
  };
  return new AgentApiHost({ ...agent, given, settings: {} } as ResolvedAgentOptions, {
    statusManager: { getPodStatus: () => undefined },
    pleg: { getPods: noPods, get: noPods, refresh: noPods },
    cpu: { nanoCores: undefined },
    allocationManager: { memoryLimitsOf: () => () => undefined },
    garbageCollection: { filesOf: () => undefined },
    volumes: { usages: async () => [] },
    loop: { lastIterationAt: () => undefined },
    cgroups: noPodCgroups,
    ...parts,
  });
}

it.each([
  -3_600_000, 3_600_000,
])('a loop that has not begun is silent for the time that passes, also when the wall clock is moved by %i ms', async (ms) => {
  const clock = new FakeClock();
  const [loop] = hostOf({ clock }, {}).healthChecks();
  clock.jump(ms);
  expect(() => loop?.check()).not.toThrow();
  await clock.advance(3_600_000);
  expect(() => loop?.check()).toThrow('sync Loop took longer than expected: 3600000 ms');
});

it('the summary of an agent has the limits of its pods, their volumes, and the file system of images', async () => {
  await using world = await NodeWorld.make();
  const resources = { limits: { memory: '64Mi' } };
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const containers = [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', resources, volumeMounts }];
  world.create('web', { containers, volumes: [{ name: 'data', emptyDir: {} }] });
  const options = { ...world.agentOptions(), podManager: new BasicPodManager() };
  const agent = new NodeAgent(options);
  await world.through(agent.start());
  await world.pass(5000);
  const uid = options.podManager.getPodByName('default', 'web')?.metadata?.uid ?? '';
  const kubelet = new MainKubelet(options);
  const volume = join(kubelet.options.settings.rootDirectory, 'pods', uid, 'volumes/kubernetes.io~empty-dir/data');
  await writeFile(join(volume, 'file'), 'x'.repeat(5000));
  kubelet.garbageCollection.start();
  await world.pass(1000);
  const { node, pods } = await world.through(kubelet.apiHost.statsSummary(new AbortController().signal));
  await world.through(kubelet.garbageCollection.stop());
  const [stats] = pods;
  const [container] = stats?.containers ?? [];
  expect(container?.memory?.availableBytes).toBe(64 * 1024 ** 2 - (container?.memory?.workingSetBytes ?? 0));
  expect(stats?.memory?.availableBytes).toBeDefined();
  expect(stats?.volume?.map(({ name, usedBytes = 0 }) => [name, usedBytes > 5000])).toEqual([['data', true]]);
  expect(stats?.['ephemeral-storage']?.usedBytes).toBeGreaterThan(5000);
  expect(container?.logs).toBeDefined();
  expect(node.runtime?.imageFs?.usedBytes).toBeDefined();
  expect(node.rlimit?.maxpid).toBeGreaterThan(0);
  await world.through(agent.stop());
});

it('an agent with an API shows what is taken of its processors now', async () => {
  await using world = await NodeWorld.make();
  const authority = createCertificateAuthority('all');
  const { cert, key } = authority.issue();
  const folder = await tempDir();
  const server = {
    tlsCertFile: join(folder, 'tls.crt'),
    tlsPrivateKeyFile: join(folder, 'tls.key'),
    clientCAFile: join(folder, 'ca.crt'),
  };
  await Promise.all([
    writeFile(server.tlsCertFile, cert),
    writeFile(server.tlsPrivateKeyFile, key),
    writeFile(server.clientCAFile, authority.cert),
  ]);
  const { transport: wire, ...options } = world.agentOptions();
  const transport = {
    ...wire,
    request: (request: KubeRequest) =>
      request.path.endsWith('reviews') ? Promise.resolve({ status: { allowed: true } }) : wire?.request(request),
  } as unknown as KubeTransport;
  const agent = new NodeAgent({ ...options, transport, server: { ...server, address: '127.0.0.1', port: 0 } });
  await world.throughSockets(agent.start());
  await world.pass(12_000);
  const port = agent.nodeObject.node?.status?.daemonEndpoints?.kubeletEndpoint?.Port;
  const client = authority.issueClient({ commonName: 'metrics' });
  const address = { host: '127.0.0.1', port, path: '/stats/summary', ca: [authority.cert], agent: false, ...client };
  const answer = new Promise<IncomingMessage>((resolve, reject) => void get(address, resolve).on('error', reject));
  const summary = JSON.parse(await world.throughSockets(answer.then(text))) as StatsSummary;
  expect(summary.node.cpu?.usageNanoCores).toBeGreaterThanOrEqual(0);
  expect(summary.node.runtime?.imageFs?.usedBytes).toBeGreaterThanOrEqual(0);
  await world.throughSockets(agent.stop());
  expect(world.timersLeft).toBe(0);
});

it('the metrics of an agent have how full claimed volumes are, before those that it was given', async () => {
  const podManager = new BasicPodManager();
  podManager.addPod(buildPod({ metadata: { uid: 'u1' } }));
  const usage = { name: 'data', claim: { name: 'disk', namespace: 'shop' }, at: 0, usedBytes: 4 };
  const volumes = { usages: async (uid: string) => (uid === 'u1' ? [usage] : []) };
  const host = hostOf({ clock: new FakeClock(), podManager }, { metricsText: () => 'own 1\n# EOF\n' }, { volumes });
  const lines = (await host.metrics()).split('\n');
  expect(lines.slice(2)).toEqual([
    'kubelet_volume_stats_used_bytes{namespace="shop",persistentvolumeclaim="disk"} 4',
    'own 1',
    '# EOF',
    '',
  ]);
});

it('the configuration of an agent follows from its options, and has what the program says beside them', async () => {
  await using world = await NodeWorld.make();
  const given = { maxPods: 7, syncFrequencyMs: 90_000, kubeletConfiguration: { failSwapOn: false, logging: { format: 'json' } } };
  const { apiHost } = new MainKubelet({ ...world.agentOptions(), ...given, podManager: new BasicPodManager() });
  const told = apiHost.configz();
  expect(told).toMatchObject({ maxPods: 7, syncFrequency: '1m30s', failSwapOn: false, logging: { format: 'json' } });
  // no API is served, somebody else makes the cgroups, and another one than the agent heeds the limit
  for (const field of ['port', 'cgroupDriver', 'runtimeRequestTimeout']) expect(told).not.toHaveProperty(field);
});

it('the configuration of an agent has how its API is served, and no integer with a fraction', async () => {
  await using world = await NodeWorld.make();
  const server = { port: 10_350, enableDebuggingHandlers: false, tlsCertFile: '/pki/c.crt', tlsPrivateKeyFile: '/pki/c.key' };
  const given = { server, kubeAPIQPS: 1.5, registryPullQPS: 2, imageMinimumGCAgeMs: Number.MAX_SAFE_INTEGER, registryBurst: 0 };
  const { apiHost } = new MainKubelet({ ...world.agentOptions(), ...given, podManager: new BasicPodManager() });
  const told = apiHost.configz();
  expect(told).toMatchObject({ ...server, address: '0.0.0.0', registryPullQPS: 2, registryBurst: 0 });
  expect(told).toMatchObject({ imageMinimumGCAge: '2562047h47m16.854s' });
  expect(told).not.toHaveProperty('kubeAPIQPS');
});

it.each([
  [{ maxPods: 7 }, 'kubeletConfiguration.maxPods` to be absent: the option maxPods says it'],
  [{ crashLoopBackOff: { maxContainerRestartPeriod: '1m' } }, 'the option maxContainerRestartPeriodMs says it'],
  [{ port: 1 }, 'the option server.port says it'],
  [{ authorization: { mode: 'AlwaysAllow' } }, 'authorization.mode` to be absent: the agent says it of itself'],
  [[], 'kubeletConfiguration` to be an object of fields of KubeletConfiguration v1beta1'],
  [{ logging: 1n }, 'kubeletConfiguration` to be an object that JSON can hold'],
  [{ toJSON: () => null }, 'kubeletConfiguration` to be an object that JSON can hold'],
  [new Date(0), 'kubeletConfiguration` to be an object that JSON can hold'],
])('no program says of an agent what follows from its options: %#', async (kubeletConfiguration, message) => {
  await using world = await NodeWorld.make();
  const options = { ...world.agentOptions(), kubeletConfiguration: kubeletConfiguration as Readonly<Record<string, unknown>> };
  expect(() => new NodeAgent(options)).toThrow(message);
});
