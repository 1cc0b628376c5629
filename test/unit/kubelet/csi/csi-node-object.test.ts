import { describe, expect, it, onTestFinished } from 'vitest';
import { safeClock, systemClock } from '../../../../src/base/clock.ts';
import { KubeTransport } from '../../../../src/index.ts';
import { CsiNodeObject } from '../../../../src/kubelet/csi/csi-node-object.ts';
import { ResourceClient, resources } from '../../../../src/reflector.ts';
import { InMemoryApiServer } from '../../../../src/testing.ts';
import { until } from '../../../support/until.ts';

const nodeID = 'csi.volume.kubernetes.io/nodeid';
const { signal } = new AbortController();
const driverOf = (name: string, part: object = {}) => ({
  name,
  nodeID: `id-of-${name}`,
  maxVolumesPerNode: 0,
  topology: {},
  ...part,
});

async function setUp() {
  const server = await InMemoryApiServer.start();
  const wire = new KubeTransport(server.kubeConfig());
  /** Called before each request. */
  const hooks = { before: async (_: { readonly method: string; readonly path: string }): Promise<void> => {} };
  const transport = {
    request: async (request: Parameters<typeof wire.request>[0]) => {
      await hooks.before(request);
      return wire.request(request);
    },
    stream: (request: Parameters<typeof wire.stream>[0]) => wire.stream(request),
  };
  const [nodes, csiNodes] = [new ResourceClient(wire, resources.nodes), new ResourceClient(wire, resources.csiNodes)];
  await nodes.create({ metadata: { name: 'node-1', labels: { zone: 'a' } } });
  const warnings: string[] = [];
  const note = (fields: { err?: unknown }, message: string): void => void warnings.push(`${message} ${fields.err}`);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const object = new CsiNodeObject({ transport, nodeName: 'node-1', clock: safeClock(systemClock), random: () => 0, logger });
  onTestFinished(async () => {
    await object.stop();
    await wire.close();
    await server.stop();
  });
  const name = { name: 'node-1' };
  const drivers = async () => (await csiNodes.get(name)).spec?.drivers.map((driver) => driver.name);
  return { hooks, nodes, csiNodes, object, warnings, drivers, name };
}

describe('the CSINode', () => {
  it('names many drivers that come at once, each with what it says', async () => {
    const test = await setUp();
    const names = ['a.example', 'b.example', 'c.example', 'd.example'];
    await Promise.all(names.map((name) => test.object.install(driverOf(name), signal)));
    expect((await test.drivers())?.sort()).toEqual(names);
    const topology = { zone: 'a', rack: '7' };
    await test.object.install(driverOf('a.example', { maxVolumesPerNode: 2 ** 40, topology }), signal);
    expect((await test.csiNodes.get(test.name)).spec?.drivers.find(({ name }) => name === 'a.example')).toEqual({
      ...{ name: 'a.example', nodeID: 'id-of-a.example', topologyKeys: ['rack', 'zone'] },
      allocatable: { count: 2 ** 31 - 1 },
    });
    const { metadata } = await test.nodes.get(test.name);
    expect(metadata?.labels).toMatchObject(topology);
    expect(Object.keys(JSON.parse(metadata?.annotations?.[nodeID] ?? ''))).toEqual(names);
    for (const name of names) await test.object.uninstall(name, signal);
    expect([await test.drivers(), (await test.nodes.get(test.name)).metadata?.annotations?.[nodeID]]).toEqual([[], undefined]);
  });

  it('keeps what somebody else writes between its read and its write', async () => {
    const test = await setUp();
    await test.object.install(driverOf('a.example'), signal);
    const written = new Set<string>();
    test.hooks.before = async ({ method, path }) => {
      if (method === 'GET' || written.has(path)) return;
      written.add(path);
      if (path.includes('csinodes')) {
        const found = await test.csiNodes.get(test.name);
        const drivers = [...(found.spec?.drivers ?? []), { name: 'other.example', nodeID: 'x', topologyKeys: [] }];
        await test.csiNodes.update({ ...found, spec: { drivers } });
        return;
      }
      const annotations = { [nodeID]: '{"other.example":"x","a.example":"id-of-a.example"}' };
      await test.nodes.patch(test.name, { type: 'application/merge-patch+json', body: { metadata: { annotations } } });
    };
    await test.object.install(driverOf('b.example'), signal);
    expect(await test.drivers()).toEqual(['a.example', 'other.example', 'b.example']);
    expect(JSON.parse((await test.nodes.get(test.name)).metadata?.annotations?.[nodeID] ?? '')).toEqual({
      'a.example': 'id-of-a.example',
      'b.example': 'id-of-b.example',
      'other.example': 'x',
    });
  });

  it('of an earlier node of the same name is made anew', async () => {
    const test = await setUp();
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'another' };
    await test.csiNodes.create({ metadata: { name: 'node-1', ownerReferences: [owner] }, spec: { drivers: [] } });
    await test.object.install(driverOf('a.example'), signal);
    const { metadata } = await test.csiNodes.get(test.name);
    expect(metadata?.ownerReferences?.[0]?.uid).toBe((await test.nodes.get(test.name)).metadata?.uid);
    expect(await test.drivers()).toEqual(['a.example']);
  });

  it('never names a driver whose topology is not that of the node, and others come through beside it', async () => {
    const test = await setUp();
    const wrong = test.object.install(driverOf('a.example', { topology: { zone: 'b' } }), signal);
    const right = test.object.install(driverOf('b.example'), signal);
    await expect(wrong).rejects.toThrow('driver reported "zone":"b" but existing label is "zone":"a"');
    await right;
    expect(await test.drivers()).toEqual(['b.example']);
    await expect(test.object.install(driverOf('c.example', { nodeID: '' }), signal)).rejects.toThrow('has no id for the node');
    const annotations = { [nodeID]: 'no JSON' };
    await test.nodes.patch(test.name, { type: 'application/merge-patch+json', body: { metadata: { annotations } } });
    await expect(test.object.install(driverOf('d.example'), signal)).rejects.toThrow(
      `the annotation ${nodeID} of the node is no JSON`,
    );
  });

  it('names no driver again that is gone while it is written', async () => {
    const test = await setUp();
    await test.object.install(driverOf('a.example'), signal);
    const state = { isCurrent: true };
    const gone: Promise<void>[] = [];
    test.hooks.before = async ({ method, path }) => {
      if (method === 'GET' || !path.includes('csinodes') || gone.length > 0) return;
      state.isCurrent = false;
      gone.push(test.object.uninstall('a.example', signal));
    };
    await test.object.install(driverOf('a.example', { maxVolumesPerNode: 5 }), signal, () => state.isCurrent);
    await Promise.all(gone);
    await test.object.install(driverOf('a.example', { maxVolumesPerNode: 6 }), signal, () => state.isCurrent);
    await test.object.install(driverOf('b.example'), signal);
    expect(await test.drivers()).toEqual(['b.example']);
    expect((await test.nodes.get(test.name)).metadata?.annotations?.[nodeID]).toBe('{"b.example":"id-of-b.example"}');
  });

  it('keeps no driver that nobody waits for any more', async () => {
    const test = await setUp();
    test.object.start();
    await until(async () => (await test.drivers().catch(() => undefined))?.length === 0);
    const late = new AbortController();
    test.hooks.before = async ({ method, path }) => {
      if (method === 'GET' || !path.includes('csinodes')) return;
      test.hooks.before = async () => {};
      late.abort(new Error('no answer within 180 s'));
    };
    await expect(test.object.install(driverOf('a.example'), late.signal)).rejects.toThrow('no answer within 180 s');
    await until(async () => (await test.drivers())?.length === 0);
    expect((await test.nodes.get(test.name)).metadata?.annotations?.[nodeID]).toBeUndefined();
    const asked: string[] = [];
    test.hooks.before = async ({ path }) => void asked.push(path);
    await expect(test.object.install(driverOf('b.example'), late.signal)).rejects.toThrow('no answer within 180 s');
    expect([asked, await test.drivers()]).toEqual([[], []]);
  });

  it('is there without drivers, comes back, and a driver that is gone goes from it as soon as the server answers', async () => {
    const test = await setUp();
    test.object.start();
    await until(async () => (await test.drivers().catch(() => undefined))?.length === 0);
    await test.object.install(driverOf('a.example'), signal);
    test.hooks.before = () => Promise.reject(new Error('no server'));
    await expect(test.object.uninstall('a.example', signal)).rejects.toThrow('no server');
    await until(() => test.object.failure !== undefined);
    expect(test.warnings[0]).toContain('the CSINode could not be written; it is tried again Error: no server');
    test.hooks.before = async () => {};
    await until(async () => (await test.drivers())?.length === 0);
    expect(test.object.failure).toBeUndefined();
  });
});
