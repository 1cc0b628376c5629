import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { resolveSettings } from '../../../../src/kubelet/agent/agent-settings.ts';
import { quietMachine } from '../../../support/quiet-machine.ts';
import { NodeWorld } from './node-world.ts';

describe('the settings of pace', () => {
  it('let a processor take so many pods, and the node never more than maxPods', async () => {
    await using world = await NodeWorld.make();
    const machine = { ...quietMachine(), cpus: 4 };
    const podsOf = async (settings: object): Promise<unknown> => {
      const agent = world.agent({ machine, removeOnStop: true, ...settings });
      await world.through(agent.start());
      const node = world.objects.target('/api/v1/nodes').store.get({ name: 'node-1' }) as WireNode;
      await world.through(agent.stop());
      return [node.status?.capacity?.pods, node.status?.allocatable?.pods];
    };
    expect(await podsOf({ podsPerCore: 3 })).toEqual(['12', '12']);
    expect(await podsOf({ podsPerCore: 50 })).toEqual(['110', '110']);
    expect(await podsOf({ podsPerCore: 50, maxPods: 7 })).toEqual(['7', '7']);
    expect(await podsOf({})).toEqual(['110', '110']);
  });

  it.each([
    [30_000, [10_000, 20_000, 30_000, 30_000]],
    [4000, [4000, 4000, 4000, 4000]],
    [undefined, [10_000, 20_000, 40_000, 80_000]],
  ])('end the growth of waits of a container that ends again and again: %s', async (longest, waits) => {
    const starts: number[] = [];
    await using world: NodeWorld = await NodeWorld.make({
      lives: () => {
        starts.push(world.time.elapsedMs);
        return { runsMs: 0, exitCode: 1 };
      },
    });
    const random = randomSequence();
    const agent = world.agent({ random, ...(longest !== undefined && { maxContainerRestartPeriodMs: longest }) });
    await world.through(agent.start());
    world.create('web');
    await world.pass(400_000);
    // the first restart waits for nothing
    const between = starts.slice(2, 6).map((start, index) => start - (starts[index + 1] ?? 0));
    expect(between).toHaveLength(waits.length);
    for (const [index, wait] of waits.entries()) {
      expect(between[index]).toBeGreaterThanOrEqual(wait);
      expect(between[index]).toBeLessThan(wait + 2500);
    }
    await world.through(agent.stop());
  });

  it('give events requests of their own, so many a second', async () => {
    const eventsIn = async (settings: object): Promise<number> => {
      await using world = await NodeWorld.make();
      const agent = world.agent({ kubeAPIQPS: 1000, kubeAPIBurst: 1000, ...settings });
      await world.through(agent.start());
      await world.pass(30_000);
      for (let i = 0; i < 20; i += 1) world.create(`web-${i}`);
      world.requests.length = 0;
      await world.pass(10_000);
      const events = world.requests.filter((request) => request.startsWith('POST') && request.endsWith('/events')).length;
      await world.through(agent.stop());
      return events;
    };
    const [slow, zero, usual] = [
      await eventsIn({ eventRecordQPS: 1, eventBurst: 1 }),
      await eventsIn({ eventRecordQPS: 0, eventBurst: 1 }),
      await eventsIn({}),
    ];
    expect([slow, zero]).toEqual([expect.closeTo(11, -1), expect.closeTo(51, -1)]);
    expect(slow).toBeLessThan(zero);
    expect(usual).toBeGreaterThan(60);
  });

  it('serve /healthz on a port of its own as long as the agent runs', async () => {
    await using world = await NodeWorld.make();
    const probe = await freePort();
    const agent = world.agent({ healthzPort: probe });
    await world.throughSockets(agent.start());
    expect(await world.throughSockets(asked(probe))).toEqual([200, 'ok']);
    await world.throughSockets(agent.stop());
    await expect(asked(probe)).rejects.toThrow('ECONNREFUSED');
  });

  it.each([
    ['podsPerCore', -1],
    ['maxContainerRestartPeriodMs', 999],
    ['maxContainerRestartPeriodMs', 300_001],
    ['eventRecordQPS', -1],
    ['eventBurst', 0],
    ['healthzPort', 65_536],
    ['healthzBindAddress', 'localhost'],
  ])('refuse %s: %s by name', (name, value) => {
    expect(() => resolveSettings({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining(name) }),
    );
  });
});

/** No two are the same: names of files are made of them. */
function randomSequence(): () => number {
  let last = 0;
  return () => {
    last = (last + 0.001_37) % 1;
    return last;
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function asked(port: number): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    get({ port, path: '/healthz', agent: false }, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (part) => (text += part))
        .on('end', () => resolve([response.statusCode, text]));
    }).on('error', reject);
  });
}
