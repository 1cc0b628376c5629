import { describe, expect, it } from 'vitest';
import { NodeObject } from '../../../../src/node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { capacity, NodeWorld } from './node-world.ts';

const transport = { request: async () => ({}), stream: async () => {} };
const good = { transport, nodeName: 'node-1', capacity };

function refused(options: unknown): string {
  try {
    new NodeObject({ ...good, ...(options as Partial<NodeObjectOptions>) });
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
  return 'accepted';
}

describe('a node object refuses', () => {
  it.each<[string, object, string]>([
    ['an unknown option', { capacities: {} }, '`options.capacities`'],
    ['no transport', { transport: {} }, '`transport`'],
    ['a name that no node has', { nodeName: 'Node_1' }, '`nodeName`'],
    ['no capacity', { capacity: undefined }, '`capacity`'],
    ['a capacity without pods', { capacity: { cpu: '1', memory: '1Gi' } }, '`capacity.pods`'],
    ['a quantity that is none', { capacity: { ...capacity, cpu: 'four' } }, '`capacity.cpu`'],
    ['a quantity that is a number', { capacity: { ...capacity, cpu: 4 } }, '`capacity.cpu`'],
    ['a negative quantity', { capacity: { ...capacity, memory: '-1Gi' } }, '`capacity.memory`'],
    ['half a pod', { capacity: { ...capacity, pods: '1500m' } }, '`capacity.pods`'],
    ['half a device', { capacity: { ...capacity, 'example.com/device': '500m' } }, '`capacity.example.com/device`'],
    ['a resource of a name that is none', { capacity: { ...capacity, 'a b': '1' } }, 'the resource name'],
    ['something allocatable that it has not', { allocatable: { disk: '1' } }, '`allocatable.disk`'],
    ['an address of an unknown type', { addresses: [{ type: 'IP', address: '10.0.0.1' }] }, '`addresses[0].type`'],
    ['an empty address', { addresses: [{ type: 'InternalIP', address: '' }] }, '`addresses[0].address`'],
    [
      'an address twice',
      {
        addresses: [
          { type: 'InternalIP', address: '::1' },
          { type: 'InternalIP', address: '::1' },
        ],
      },
      '`addresses[1]`',
    ],
    ['a label of a key that is none', { labels: { 'a b': '' } }, 'the key'],
    ['a label of a key with two slashes', { labels: { 'a/b/c': '' } }, 'the key'],
    ['a label of a value that is none', { labels: { a: 'no value' } }, '`labels["a"]`'],
    ['a long label', { labels: { a: 'x'.repeat(64) } }, '`labels["a"]`'],
    ['labels that are a list', { labels: ['a'] }, '`labels`'],
    ['an annotation that is a number', { annotations: { a: 1 } }, '`annotations["a"]`'],
    ['a taint without effect', { taints: [{ key: 'a' }] }, '`taints[0].effect`'],
    ['a taint without key', { taints: [{ effect: 'NoSchedule' }] }, '`taints[0].key`'],
    ['a taint of a bad value', { taints: [{ key: 'a', value: '!', effect: 'NoSchedule' }] }, '`taints[0].value`'],
    [
      'a taint twice',
      {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', value: 'b', effect: 'NoSchedule' },
        ],
      },
      '`taints[1]`',
    ],
    ['an unknown member of the info', { nodeInfo: { kernel: '6' } }, '`nodeInfo.kernel`'],
    ['an info that is no text', { nodeInfo: { osImage: 6 } }, '`nodeInfo.osImage`'],
    ['a port that is none', { daemonEndpoints: { kubeletEndpoint: { Port: 70_000 } } }, 'kubeletEndpoint.Port'],
    ['an empty provider id', { providerID: '' }, '`providerID`'],
    ['a readiness that is no function', { readiness: true }, '`readiness`'],
    ['a removal that is no boolean', { removeOnStop: 'yes' }, '`removeOnStop`'],
    ['a look without pause', { statusUpdateFrequencyMs: 0 }, '`statusUpdateFrequencyMs`'],
    ['a Lease of no time', { leaseDurationSeconds: 0 }, '`leaseDurationSeconds`'],
    ['a holder without name', { holderIdentity: '' }, '`holderIdentity`'],
    ['no time for a request', { requestTimeoutMs: 0 }, '`requestTimeoutMs`'],
    ['a random that is no function', { random: 1 }, '`random`'],
    ['a clock that is none', { clock: {} }, '`clock`'],
    ['a logger that is none', { logger: {} }, '`logger`'],
  ])('%s', (_, options, named) => {
    expect(refused(options)).toMatch('ERR_INVALID_OPTION');
    expect(refused(options)).toContain(named);
  });

  it('nothing of what a server takes', () => {
    const labels = { 'node-role.kubernetes.io/agent': '', 'example.com/a_b': '1.x' };
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
    ];
    expect(refused({ labels, taints, capacity: { ...capacity, cpu: '2500m', 'ephemeral-storage': '1e9' } })).toBe('accepted');
  });
});

describe('what is given', () => {
  it('is copied, and setStatus refuses as the constructor does and changes nothing then', async () => {
    const labels: Record<string, string> = { mine: 'first' };
    const mine: Record<string, string> = { ...capacity };
    const world = new NodeWorld({ labels, capacity: mine });
    labels.mine = 'second';
    mine.cpu = '99';
    await world.start();
    expect(world.stored()).toMatchObject({ metadata: { labels: { mine: 'first' } }, status: { capacity: { cpu: '4' } } });
    const { node } = world;
    expect(() => node.setStatus({ capacity: { cpu: '1' } })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    expect(() => node.setStatus({ labels: {} } as object)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
    await world.clock.advance(6 * 60_000);
    expect(world.stored()?.status?.capacity).toEqual(capacity);
    node.setStatus({ addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] });
    await world.clock.advance(1000);
    expect(world.stored()?.status).toMatchObject({ capacity, addresses: [{ address: '10.0.0.1' }] });
    node.setStatus({ addresses: null, capacity: { ...capacity, pods: '7' } });
    await world.clock.advance(1000);
    expect(world.stored()?.status).toMatchObject({ capacity: { pods: '7' }, addresses: [{ address: '10.0.0.1' }] });
    const copy = node.node;
    if (copy?.metadata) copy.metadata.name = 'changed';
    expect(node.node?.metadata?.name).toBe('node-1');
    await node.stop();
  });
});
