// npm run bench:ways [-- --tree DIR]
// How many files of src a reader meets who follows one thing through the code: the files of which something ran, by the engine's own
// coverage, while it happened. `--tree` measures another checkout. Files of transport, credentials and testing are not counted: they
// serve every way.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { tree: { type: 'string', default: '.' } } });
const root = resolve(values.tree);
const load = (name: string) => import(pathToFileURL(join(root, `src/${name}.ts`)).href);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true });

/** The files of which a function has run since the last call. */
async function visited(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes(`${root}/src/`))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges: [range] }) => functionName !== '' && (range?.count ?? 0) > 0),
    )
    .map(({ url }) => url.slice(url.indexOf('/src/') + '/src/'.length))
    .filter((path) => !/^(?:testing|client\/transport|client\/credentials)\//.test(path));
}

const { StatusManager, BasicPodManager, KubePodClient, ApiServerPodSource } = await load('index');
const { InMemoryApiServer, FakeRuntime, FakeMounter } = await load('testing');
const { Scheduler } = await load('scheduler');
// before it had an entry point of its own, the agent was in ./node
const { NodeAgent } = await load('kubelet').catch(() => load('node'));
const ways: Record<string, readonly string[]> = {};

const status = (phase: string, ready: string) => ({
  phase,
  conditions: [{ type: 'Ready', status: ready }],
  containerStatuses: [{ name: 'app', image: 'app:1', imageID: 'a', ready: true, restartCount: 0, state: { running: {} } }],
});

async function measureStatus(): Promise<void> {
  const server = await InMemoryApiServer.start();
  const kubeConfig = server.kubeConfig();
  server.store.create({ metadata: { name: 'web' }, spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] } });
  const podManager = new BasicPodManager();
  const podSource = new ApiServerPodSource({ kubeConfig, nodeName: 'node-1', podManager });
  const podClient = KubePodClient.fromKubeConfig(kubeConfig);
  const podDeletionSafety = { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false };
  const manager = new StatusManager({ podClient, podManager, podSource, podDeletionSafety });
  await podSource.start();
  manager.start();
  const [pod] = podManager.getPods();
  manager.setPodStatus(pod, status('Pending', 'False'));
  await manager.flush();
  await sleep(300);
  await visited();
  manager.setPodStatus(pod, status('Running', 'True'));
  ways['set to cached'] = await visited();
  await new Promise<void>((resolve) => manager.once('synced', resolve));
  ways['cached to PATCH'] = await visited();
  await sleep(300);
  await visited();
  const { resourceVersion: _, ...metadata } = server.store.get('default', 'web').metadata;
  server.store.put({ ...server.store.get('default', 'web'), metadata: { ...metadata, labels: { foreign: 'write' } } });
  await sleep(200);
  ways['watch event to look'] = await visited();
  await manager.stop();
  await podSource.stop();
  await podClient.close();
  await server.stop();
}

async function measureAgent(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ways-'));
  const server = await InMemoryApiServer.start();
  const runtime = new FakeRuntime();
  const agent = new NodeAgent({
    kubeConfig: server.kubeConfig(),
    nodeName: 'node-1',
    nodeIPs: ['192.0.2.1'],
    runtime,
    rootDirectory: join(folder, 'kubelet'),
    podLogsDirectory: join(folder, 'logs'),
    mounter: new FakeMounter(),
    cgroupsPerQOS: false,
    resolvConf: '',
    staticPodPath: folder,
    fileCheckFrequencyMs: 200,
    logger: null,
  });
  await agent.start();
  await sleep(1000);
  await visited();
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'app', image: 'app:1' }] },
  };
  await writeFile(join(folder, 'web.json'), JSON.stringify(manifest));
  while (!(await runtime.listContainers({})).some(({ state }: { state: string }) => state === 'running')) await sleep(5);
  ways['manifest to container'] = await visited();
  await agent.stop();
  await runtime.close();
  await server.stop();
  await rm(folder, { recursive: true });
}

async function measureScheduler(): Promise<void> {
  const bound = Promise.withResolvers<void>();
  const scheduler = new Scheduler({ client: { bind: async () => bound.resolve() } });
  scheduler.setNode({ metadata: { name: 'node-1' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
  scheduler.start();
  await sleep(100);
  await visited();
  const containers = [{ name: 'app', image: 'app:1', resources: { requests: { cpu: '1' } } }];
  scheduler.setPod({
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { schedulerName: 'default-scheduler', containers },
  });
  await bound.promise;
  await scheduler.flush();
  ways['pod to binding'] = await visited();
  await scheduler.stop();
}

await measureStatus();
await measureAgent();
await measureScheduler();
session.disconnect();
for (const [way, files] of Object.entries(ways)) process.stdout.write(`${way}: ${files.length} files\n`);
