import { describe, expect, it } from 'vitest';
import { CsiDrivers } from '../../../../src/kubelet/csi/csi-drivers.ts';
import type { CsiNode } from '../../../../src/kubelet.ts';

const { signal } = new AbortController();
const info = { nodeID: 'n', maxVolumesPerNode: 1, topology: {} };

function setUp() {
  const closed: string[] = [];
  const state = { getInfo: async () => info, install: async (_: () => boolean): Promise<void> => {} };
  const nodeObject = {
    install: async (_driver: object, _signal: AbortSignal, isCurrent = () => true) => state.install(isCurrent),
    uninstall: async () => {},
  };
  const connect = (path: string) =>
    ({ getInfo: () => state.getInfo(), close: () => void closed.push(path) }) as Partial<CsiNode> as CsiNode;
  const drivers = new CsiDrivers({ connect, nodeObject });
  const plugin = (endpoint: string) => ({ type: 'CSIPlugin', name: 'a.example', endpoint, supportedVersions: ['1.0.0'] });
  return { closed, state, drivers, plugin };
}

describe('the drivers of a node', () => {
  it('have none whose registration was given up meanwhile', async () => {
    const test = setUp();
    const late = new AbortController();
    test.state.install = async () => late.abort(new Error('no answer within 180 s'));
    await expect(test.drivers.register(test.plugin('/one'), late.signal)).rejects.toThrow('no answer within 180 s');
    expect([test.drivers.names(), test.closed]).toEqual([[], ['/one']]);
  });

  it('end the connection of one that another takes the place of', async () => {
    const test = setUp();
    await test.drivers.register(test.plugin('/one'), signal);
    await test.drivers.register(test.plugin('/two'), signal);
    expect([test.drivers.names(), test.closed]).toEqual([['a.example'], ['/one']]);
  });

  it('tell of none that was deregistered, or made anew, while it was asked', async () => {
    const test = setUp();
    await test.drivers.register(test.plugin('/one'), signal);
    const told: boolean[] = [];
    test.state.install = async (isCurrent) => {
      told.push(isCurrent());
      await test.drivers.deregister(test.plugin('/one'), signal);
      told.push(isCurrent());
    };
    await test.drivers.update('a.example', signal);
    expect(told).toEqual([true, false]);
    test.state.install = async () => void told.push(true);
    await test.drivers.register(test.plugin('/two'), signal);
    const answer = Promise.withResolvers<typeof info>();
    test.state.getInfo = () => answer.promise;
    const updating = test.drivers.update('a.example', signal);
    test.state.getInfo = async () => info;
    await test.drivers.register(test.plugin('/three'), signal);
    told.length = 0;
    answer.resolve(info);
    await updating;
    expect(told).toEqual([]);
  });
});
