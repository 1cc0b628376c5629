import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import type { NodeNetwork } from '../../../../src/kubelet.ts';
import { networkOf } from '../../../support/network-of.ts';
import { NodeWorld } from '../agent/node-world.ts';

const ipsOf = (world: NodeWorld) => {
  const [node] = world.objects.target('/api/v1/nodes').store.list();
  return (node as { status?: { addresses?: unknown } } | undefined)?.status?.addresses;
};
const withHostname = (...ips: string[]) => [
  ...ips.map((address) => ({ type: 'InternalIP', address })),
  { type: 'Hostname', address: 'node-1' },
];

describe('the addresses of an agent without given ones', () => {
  it('follow its name, in the Node and in its pods', async () => {
    await using world = await NodeWorld.make();
    let name = ['192.0.2.7'];
    const network: NodeNetwork = { ...networkOf('192.0.2.1', '192.0.2.7', '192.0.2.8'), lookup: async () => name };
    const agent = world.agent({ nodeIPs: [], network });
    await world.through(agent.start());
    expect(ipsOf(world)).toEqual(withHostname('192.0.2.7'));
    name = ['203.0.113.1', '192.0.2.8'];
    await world.pass(15_000);
    expect(ipsOf(world)).toEqual(withHostname('192.0.2.8'));
    world.create('web');
    await world.pass(5000);
    expect(world.pod('web')?.status?.hostIP).toBe('192.0.2.8');
    await world.through(agent.stop());
    expect(world.warnings).toEqual([]);
  });

  it('do not hold up its start for longer than five seconds, nor its stop', async () => {
    await using world = await NodeWorld.make();
    const network = { ...networkOf('192.0.2.1'), lookup: () => new Promise<never>(() => {}) };
    const agent = world.agent({ nodeIPs: [], network });
    await world.through(agent.start(), 6000);
    expect(ipsOf(world)).toEqual(withHostname('192.0.2.1'));
    await world.pass(12_000);
    await world.through(agent.stop(), 1000);
    expect(world.timersLeft).toBe(0);
  });
});

describe('addresses that an agent does not find', () => {
  it('stay as the Node has them, for its pods, too', async () => {
    await using world = await NodeWorld.make();
    const before = world.agent();
    await world.through(before.start());
    await world.through(before.stop());
    const agent = world.agent({ nodeIPs: [], network: networkOf() });
    await world.through(agent.start());
    world.create('web');
    await world.pass(15_000);
    expect(ipsOf(world)).toEqual(withHostname('192.0.2.1'));
    expect(world.pod('web')?.status?.hostIP).toBe('192.0.2.1');
    expect(world.warnings).toEqual(['the addresses of the node could not be found; those found before stay']);
    await world.through(agent.stop());
  });

  it('are none of a new Node, which has its name alone', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent({ nodeIPs: [], network: networkOf() });
    await world.through(agent.start());
    expect(ipsOf(world)).toEqual(withHostname());
    await world.through(agent.stop());
  });
});

it.each([
  [['192.0.2.1', '192.0.2.2']],
  [['192.0.2.1', '2001:db8::1', '192.0.2.2']],
  [['192.0.2.1', '::']],
  [['0.0.0.0', '2001:db8::1']],
  [['192.0.2.1', '0:0:0:0:0:0:0:0']],
])('the addresses %j are refused', async (nodeIPs) => {
  await using world = await NodeWorld.make();
  expect(() => world.agent({ nodeIPs })).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining('nodeIPs') }),
  );
});

it.each([[['192.0.2.1', '2001:db8::1']], [['::']], [['0.0.0.0']], [[]]])('the addresses %j are taken', async (nodeIPs) => {
  await using world = await NodeWorld.make();
  expect(world.agent({ nodeIPs }).state).toBe('idle');
});

describe('a node that a cloud initializes', () => {
  it('has the taint and the annotation for it, and keeps the addresses that the cloud gives', async () => {
    await using world = await NodeWorld.make();
    const taint = { key: 'mine', effect: 'NoSchedule' };
    const agent = world.agent({ externalCloudProvider: true, nodeIPs: ['192.0.2.1'], registerWithTaints: [taint] });
    await world.through(agent.start());
    const { store } = world.objects.target('/api/v1/nodes');
    const [node] = store.list() as WireNode[];
    const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
    expect(node?.spec?.taints).toEqual(expect.arrayContaining([taint, uninitialized]));
    expect(node?.metadata?.annotations).toMatchObject({ 'alpha.kubernetes.io/provided-node-ip': '192.0.2.1' });
    expect(ipsOf(world)).toEqual(withHostname());
    const addresses = [{ type: 'InternalIP', address: '198.51.100.7' }];
    store.updateStatus({ ...node, status: { ...node?.status, addresses } } as never);
    await world.pass(25_000);
    expect(ipsOf(world)).toEqual(addresses);
    world.create('web');
    await world.pass(5000);
    expect(world.pod('web')?.status?.hostIP).toBe('198.51.100.7');
    await world.through(agent.stop());
  });

  it('is none without the setting', async () => {
    await using world = await NodeWorld.make();
    const agent = world.agent();
    await world.through(agent.start());
    const [node] = world.objects.target('/api/v1/nodes').store.list() as WireNode[];
    expect(JSON.stringify(node)).not.toMatch(/uninitialized|provided-node-ip/);
    await world.through(agent.stop());
    expect(() => world.agent({ externalCloudProvider: 'yes' as never })).toThrow('`externalCloudProvider`');
  });
});
