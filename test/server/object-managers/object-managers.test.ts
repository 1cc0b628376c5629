import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../../src/client/resources/api-resource.ts';
import { ResourceClient } from '../../../src/client/resources/resource-client.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import { ConfigMapManager, type ObjectManagerOptions } from '../../../src/object-managers.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { startTestServer, type TestServer } from '../../support/servers.ts';
import { ManagedSecrets } from './object-managers-fixture.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const newNamespace = (): Promise<string> => server.admin.createNamespace('objects');
const managed = async (options?: ObjectManagerOptions) => new ManagedSecrets(server, await newNamespace(), options);

const ways: readonly (readonly [string, ObjectManagerOptions])[] = [
  ['watch, streamed lists', { strategy: 'watch', streamLists: true }],
  ['watch, ordinary lists', { strategy: 'watch', streamLists: false }],
  ['cache', { strategy: 'cache', ttlMs: 0 }],
  ['get', { strategy: 'get' }],
];

describe.each(ways)('a secret manager (%s)', (_, options) => {
  it('shows a secret as it is, changed, deleted and created again', async () => {
    await using secrets = await managed(options);
    await secrets.create('s', 'one');
    secrets.manager.registerPod(secrets.pod('p', ['s']));
    expect((await secrets.readUntil('s', 'one')).at(-1)).toBe('one');
    await secrets.change('s', 'two');
    expect((await secrets.readUntil('s', 'two')).filter((value) => value !== 'one')).toEqual(['two']);
    await secrets.remove('s');
    await secrets.create('s', 'three');
    const values = (await secrets.readUntil('s', 'three')).filter((value) => typeof value === 'string');
    expect(values.filter((value) => value !== 'two')).toEqual(['three']);
  });

  it('says what is not there, and, where it counts references, what nobody names', async () => {
    await using secrets = await managed(options);
    secrets.manager.registerPod(secrets.pod('p', ['missing']));
    expect(await secrets.read('missing')).toEqual({ code: 'ERR_NOT_FOUND' });
    const expected = options.strategy === 'get' ? 'ERR_NOT_FOUND' : 'ERR_NOT_REGISTERED';
    expect(await secrets.read('unnamed')).toEqual({ code: expected });
  });
});

describe('a secret manager with watches', () => {
  it('has one watch a secret while a pod of the pod manager names it', async () => {
    await using secrets = await managed();
    const podManager = new BasicPodManager({ secretManager: secrets.manager });
    await secrets.create('shared', 'one');
    const pods = Array.from({ length: 20 }, (_, index) => secrets.pod(`p${index}`, ['shared', `own-${index}`]));
    await Promise.all(pods.map((_, index) => secrets.create(`own-${index}`, `value ${index}`)));
    podManager.setPods(pods);
    const read = await Promise.all(pods.map((_, index) => secrets.readUntil(`own-${index}`, `value ${index}`)));
    expect(read.map((values) => values.at(-1))).toEqual(pods.map((_, index) => `value ${index}`));
    expect(await secrets.read('shared')).toBe('one');
    expect(secrets.transport.log).toHaveLength(21);
    expect(secrets.transport.openStreams).toBe(21);
    for (const pod of pods.slice(1)) podManager.removePod(pod);
    expect(await secrets.read('own-1')).toEqual({ code: 'ERR_NOT_REGISTERED' });
    expect(await secrets.read('shared')).toBe('one');
    podManager.updatePod(secrets.pod('p0', ['shared', 'own-0'], 'Succeeded'));
    await secrets.manager.stop();
    expect(secrets.transport.openStreams).toBe(0);
  });

  it('serves an immutable secret without a watch once it was read', async () => {
    await using secrets = await managed();
    await secrets.create('s', 'one', true);
    secrets.manager.registerPod(secrets.pod('p', ['s']));
    expect((await secrets.readUntil('s', 'one')).at(-1)).toBe('one');
    await secrets.remove('s');
    await secrets.create('s', 'two');
    expect(await secrets.read('s')).toBe('one');
    secrets.manager.registerPod(secrets.pod('p', []));
    secrets.manager.registerPod(secrets.pod('p', ['s']));
    expect((await secrets.readUntil('s', 'two')).at(-1)).toBe('two');
  });

  it('goes on after watches that break off and watches that are too old', async () => {
    await using secrets = await managed();
    await secrets.create('s', 'one');
    secrets.manager.registerPod(secrets.pod('p', ['s']));
    await secrets.readUntil('s', 'one');
    secrets.transport.cutWatches();
    await secrets.change('s', 'two');
    expect(await secrets.readUntil('s', 'two')).toEqual(expect.arrayContaining(['two']));
    secrets.transport.expireWatches();
    await secrets.change('s', 'three');
    const values = await secrets.readUntil('s', 'three');
    expect(values.filter((value) => value !== 'two')).toEqual(['three']);
  });
});

describe('a config map manager', () => {
  it('shows a config map that a volume of a pod names, and each change of it', async () => {
    const namespace = await newNamespace();
    await using transport = new KubeTransport(server.kubeConfig());
    await using manager = new ConfigMapManager({ logger: null, kubeConfig: server.kubeConfig(), syncTimeoutMs: 20_000 });
    const client = new ResourceClient(transport, resources.configMaps);
    await client.create({ metadata: { namespace, name: 'm' }, data: { k: 'one' } });
    const spec = { containers: [], volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'm' } }] } }] };
    manager.registerPod({ metadata: { name: 'p', namespace, uid: 'u' }, spec });
    const patch = { type: 'application/merge-patch+json', body: { data: { k: 'two' } } } as const;
    await client.patch({ namespace, name: 'm' }, patch);
    await expect.poll(async () => (await manager.getConfigMap(namespace, 'm')).data?.k, { timeout: 20_000 }).toBe('two');
  });
});
