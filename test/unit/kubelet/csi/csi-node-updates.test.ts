import { describe, expect, it, onTestFinished } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { CsiDrivers } from '../../../../src/kubelet/csi/csi-drivers.ts';
import { CsiNodeUpdates } from '../../../../src/kubelet/csi/csi-node-updates.ts';
import type { CsiNode } from '../../../../src/kubelet.ts';
import { FakeClock } from '../../../../src/testing.ts';

const { signal } = new AbortController();

async function setUp(names: readonly string[], spec: object) {
  const clock = new FakeClock();
  const state = { spec, count: 1, hanging: '', refusal: undefined as Error | undefined };
  const installed: string[] = [];
  const warnings: string[] = [];
  const asked: string[] = [];
  const nodeObject = {
    install: async ({ name, maxVolumesPerNode }: { name: string; maxVolumesPerNode: number }) =>
      void installed.push(`${name} ${maxVolumesPerNode}`),
    uninstall: async () => {},
  };
  const connect = (path: string) =>
    ({
      getInfo: async () => {
        if (path === state.hanging) return new Promise(() => {});
        return { nodeID: 'n', maxVolumesPerNode: state.count, topology: {} };
      },
      close: () => {},
    }) as Partial<CsiNode> as CsiNode;
  const drivers = new CsiDrivers({ connect, nodeObject });
  for (const name of names) {
    await drivers.register({ type: 'CSIPlugin', name, endpoint: `/${name}`, supportedVersions: ['1.0.0'] }, signal);
  }
  const transport = {
    request: async ({ path }: { readonly path: string }) => {
      asked.push(path);
      if (state.refusal !== undefined) throw state.refusal;
      return { metadata: { name: 'x', resourceVersion: '1' }, spec: state.spec };
    },
    stream: async () => {},
  };
  const note = (fields: { err?: unknown }, message: string): void => void warnings.push(`${message} ${fields.err}`);
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
  const updates = new CsiNodeUpdates({ drivers, transport: transport as never, clock: safeClock(clock), logger });
  updates.start();
  onTestFinished(() => updates.stop());
  installed.length = 0;
  return { clock, state, installed, warnings, asked, drivers };
}

describe('how many volumes fit on the node', () => {
  it('is asked of a driver as often as its CSIDriver says', async () => {
    const test = await setUp(['a.example'], { nodeAllocatableUpdatePeriodSeconds: 30 });
    test.state.count = 5;
    await test.clock.advance(30_000);
    expect(test.installed).toEqual([]);
    await test.clock.advance(10_000);
    expect(test.installed).toEqual(['a.example 5']);
    test.state.spec = {};
    await test.clock.advance(300_000);
    expect([test.installed.length, test.asked.length]).toEqual([1, 6]);
    await test.drivers.deregister({ type: 'CSIPlugin', name: 'a.example', endpoint: '', supportedVersions: [] }, signal);
    await test.clock.advance(300_000);
    expect(test.asked.length).toBe(6);
  });

  it('is asked of each driver whatever another one does, and told where nobody knows how often', async () => {
    const test = await setUp(['a.example', 'b.example'], { nodeAllocatableUpdatePeriodSeconds: 10 });
    test.state.hanging = '/a.example';
    await test.clock.advance(40_000);
    expect(test.installed).toEqual(['b.example 1', 'b.example 1', 'b.example 1']);
    test.state.refusal = new Error('no server');
    await test.clock.advance(60_000);
    expect(test.warnings[0]).toBe('a storage driver could not be asked again how many volumes it takes Error: no server');
  });
});
