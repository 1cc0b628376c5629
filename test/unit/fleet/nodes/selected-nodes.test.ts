import { describe, expect, it, onTestFinished } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import type { FleetNode, FleetNodeChange, FleetNodes } from '../../../../src/fleet/nodes/fleet-node-options.ts';
import { FleetNodeSource } from '../../../../src/fleet/nodes/fleet-node-source.ts';
import { KubeTransport } from '../../../../src/index.ts';
import { type ResourceTransport, resources } from '../../../../src/reflector.ts';
import { FakeClock, InMemoryApiServer, settle } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { until } from '../../../support/until.ts';

const refused: ResourceTransport = {
  request: () => Promise.reject(new Error('refused')),
  stream: () => Promise.reject(new Error('refused')),
};

function sourceOf(nodes: FleetNodes, transport = refused) {
  const told: string[] = [];
  const sink = {
    added: ({ name }: FleetNode) => void told.push(`+${name}`),
    removed: (name: string) => void told.push(`-${name}`),
  };
  const clock = new FakeClock();
  const { logger } = recordedLines();
  const source = new FleetNodeSource({ nodes, transport, clock, random: () => 0, logger }, sink);
  onTestFinished(() => source.stop());
  const took = (): string[] => told.splice(0);
  return { source, took, clock };
}

/** Node objects of the fleet on a server. */
async function selected(options: (node: WireNode) => object) {
  const server = await InMemoryApiServer.start();
  onTestFinished(() => server.stop());
  const transport = new KubeTransport(server.kubeConfig());
  onTestFinished(() => transport.close());
  const objects = server.objects(resources.nodes);
  const create = (name: string, more: object = {}): unknown =>
    objects.create({ metadata: { name, labels: { fleet: 'edge' } }, ...more });
  const patch = (body: object): unknown => objects.patch({ name: 'a' }, { type: 'application/merge-patch+json', body });
  const { source, took } = sourceOf({ labelSelector: 'fleet=edge', options: options as never }, transport);
  source.start();
  const toldOf = async (count: number): Promise<string[]> => {
    const all: string[] = [];
    await until(() => all.push(...took()) >= 0 && all.length >= count);
    return all;
  };
  return { server, objects, create, patch, source, toldOf };
}

describe('Node objects that are chosen by their labels', () => {
  it('are known once they were listed, and why they are not before', async () => {
    const { source, clock } = sourceOf({ labelSelector: 'fleet=edge' });
    source.start();
    await clock.advance(5000);
    expect([source.hasTold, String(source.failure?.error)]).toEqual([false, 'Error: refused']);
    const { source: other } = await selected(() => ({}));
    await until(() => other.hasTold);
    expect(other.failure).toBe(undefined);
  });

  it('are told again after they have gone, with the same options', async () => {
    const { objects, create, toldOf } = await selected(() => ({ capacity: { cpu: '4' } }));
    create('a');
    expect(await toldOf(1)).toEqual(['+a']);
    objects.delete({ name: 'a' });
    expect(await toldOf(1)).toEqual(['-a']);
    create('a');
    expect(await toldOf(1)).toEqual(['+a']);
  });

  it('are asked for their options again where their spec, their labels or their annotations are others, and with no heartbeat', async () => {
    const calls: number[] = [];
    const { objects, create, patch, toldOf } = await selected(() => {
      calls.push(calls.length);
      return {};
    });
    create('a');
    await toldOf(1);
    objects.patch(
      { name: 'a' },
      { type: 'application/merge-patch+json', body: { status: { phase: 'x' } }, subresource: 'status' },
    );
    patch({ spec: { unschedulable: true } });
    await until(() => calls.length === 2);
    patch({ metadata: { annotations: { mine: 'x' } } });
    await until(() => calls.length === 3);
    patch({ metadata: { labels: { mine: 'x' } } });
    await until(() => calls.length === 4);
  });

  class Policy {
    readonly isOpen = true;
  }

  it.each<[string, object, object, boolean]>([
    ['one more', {}, { labels: {} }, true],
    ['one less', { labels: {} }, {}, true],
    ['another name', { labels: {} }, { capacity: {} }, true],
    ['another function', { readiness: () => ({}) }, { readiness: () => ({}) }, false],
    ['another object of a class', { statusManager: new Policy() }, { statusManager: new Policy() }, false],
    ['an object in place of one of a class', { statusManager: new Policy() }, { statusManager: { isOpen: true } }, true],
  ])('are told again where their options are others: %s', async (_, first, second, isTold) => {
    let isSecond = false;
    const { create, patch, toldOf } = await selected(({ metadata }) => {
      if (metadata?.name === 'b') return {};
      return isSecond ? second : first;
    });
    create('a');
    await toldOf(1);
    isSecond = true;
    patch({ metadata: { annotations: { mine: 'x' } } });
    // what is told of the next node comes after what is told of this one
    create('b');
    expect(await toldOf(isTold ? 2 : 1)).toEqual(isTold ? ['+a', '+b'] : ['+b']);
  });
});

describe('changes of nodes', () => {
  /** An iterable of these, which waits then. */
  function changes(given: readonly unknown[], ended: () => void = () => {}): AsyncIterable<FleetNodeChange> {
    const left = [...given];
    const next = (): Promise<never> =>
      left.length === 0 ? new Promise(() => {}) : Promise.resolve({ done: false, value: left.shift() } as never);
    return {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          ended();
          return { done: true, value: undefined };
        },
      }),
    };
  }
  const broken = (name: string) => ({ type: 'added', node: { name, options: { kubeConfig: {} } } });

  it('are known from the first one on', async () => {
    const { source } = sourceOf(changes([{ type: 'added', node: 'a' }]));
    expect(source.hasTold).toBe(false);
    source.start();
    await settle();
    expect(source.hasTold).toBe(true);
  });

  it('that cannot be used are told until the node comes as it should, or goes', async () => {
    const { source, took } = sourceOf(
      changes([broken('a'), broken('b'), broken('c'), { type: 'added', node: 'a' }, { type: 'removed', node: 'b' }]),
    );
    source.start();
    await settle();
    expect([took(), [...source.failures].map(({ nodeName }) => nodeName)]).toEqual([['+a', '-b'], ['c']]);
  });

  it('that cannot be used are kept of so many nodes, the newest of each', async () => {
    const many = Array.from({ length: 1200 }, (_, i) => broken(`n${i}`));
    const again = { type: 'added', node: { name: 'n3', options: { clock: {} } } };
    const { source } = sourceOf(changes([...many, again]));
    source.start();
    await until(() => String(source.failureOf('n3')?.error).includes('clock'));
    expect([...source.failures].length).toBe(1000);
  });

  it('are asked for no more once the source is stopped: its iterator is ended', async () => {
    let isEnded = false;
    const end = (): void => {
      isEnded = true;
    };
    const { source } = sourceOf(changes([{ type: 'added', node: 'a' }], end));
    source.start();
    await settle();
    await source.stop();
    expect(isEnded).toBe(true);
  });
});

describe('the stop of a source of Node objects', () => {
  it('ends its watch', async () => {
    const { server, create, source, toldOf } = await selected(() => ({}));
    create('a');
    await toldOf(1);
    await until(() => server.countOpenWatches({ resource: 'nodes' }) === 1);
    await source.stop();
    await until(() => server.countOpenWatches({ resource: 'nodes' }) === 0);
  });
});
