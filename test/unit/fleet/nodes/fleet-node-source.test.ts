import { describe, expect, it, onTestFinished } from 'vitest';
import type { FleetNode, FleetNodes } from '../../../../src/fleet/nodes/fleet-node-options.ts';
import { FleetNodeSource } from '../../../../src/fleet/nodes/fleet-node-source.ts';
import { KubeTransport } from '../../../../src/index.ts';
import { type ResourceTransport, resources } from '../../../../src/reflector.ts';
import { FakeClock, InMemoryApiServer, settle } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { until } from '../../../support/until.ts';

const noTransport = { request: () => Promise.reject(new Error('none')), stream: () => Promise.reject(new Error('none')) };

function world(nodes: FleetNodes, transport: ResourceTransport = noTransport) {
  const told: string[] = [];
  const lines = recordedLines();
  const sink = {
    added: ({ name, options }: FleetNode) => void told.push(`+${name}${options === undefined ? '' : ' with options'}`),
    removed: (name: string) => void told.push(`-${name}`),
  };
  const clock = new FakeClock();
  const source = new FleetNodeSource({ nodes, transport, clock, random: () => 0, logger: lines.logger }, sink);
  onTestFinished(() => source.stop());
  return { source, told, lines };
}

/** An iterable whose answers are these, in order; then it never answers again. */
function iterable(answers: readonly (() => unknown)[], ended: () => unknown = () => ({})): AsyncIterable<never> {
  const left = [...answers];
  const next = async (): Promise<never> => {
    const answer = left.shift();
    if (answer === undefined) return new Promise(() => {});
    return { done: false, value: answer() } as never;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: async () => ended() as never }) };
}

describe('the source of the nodes of a fleet', () => {
  it('tells of a list at once, and once', async () => {
    const { source, told } = world(['a', { name: 'b', options: {} }]);
    expect([told.length, source.hasTold]).toEqual([2, true]);
    source.start();
    expect([told, source.failure]).toEqual([['+a', '+b with options'], undefined]);
  });

  it('tells of changes as they come, and passes over what is none, which it says', async () => {
    const rubbish = [undefined, 7, {}, { type: 'changed', node: 'a' }, { type: 'added', node: 'Not A Name' }, { type: 'added' }];
    const { source, told, lines } = world(
      iterable([
        () => ({ type: 'added', node: 'a' }),
        ...rubbish.map((value) => () => value),
        () => ({ type: 'added', node: { name: 'b', options: { kubeConfig: {} } } }),
        () => ({ type: 'removed', node: 'a' }),
        () => ({ type: 'added', node: { name: 'c', options: {} } }),
      ]),
    );
    source.start();
    await settle();
    expect(told).toEqual(['+a', '-a', '+c with options']);
    const [ofChange, ofNode] = [lines.lines.at(0)?.fields, lines.lines.at(-1)?.fields];
    expect(ofChange).toMatchObject({ problemKind: 'fleet-nodes', help: expect.stringContaining('Mend the source of the nodes') });
    expect(ofNode).toMatchObject({
      node: 'b',
      problemKind: 'fleet-nodes',
      help: expect.stringContaining('Mend what the message'),
    });
    expect(lines.of('error').length).toBe(rubbish.length + 1);
    expect(String(source.failureOf('b')?.error)).toContain('kubeConfig');
    expect(String(source.failure?.error)).toContain('change.node');
  });

  it('keeps what it has told where the iterable fails, and says so', async () => {
    const fails = (): never => {
      throw new Error('the database is gone');
    };
    const { source, told, lines } = world(iterable([() => ({ type: 'added', node: 'a' }), fails]));
    source.start();
    await settle();
    expect([told, String(source.failure?.error)]).toEqual([['+a'], 'Error: the database is gone']);
    const help = 'Mend the source of the nodes that the fleet was given: what it has told before stays.';
    expect(lines.lines).toMatchObject([{ level: 'error', fields: { problemKind: 'fleet-nodes', help } }]);
  });

  it('says so where the iterable makes no iterator', async () => {
    const broken = {
      [Symbol.asyncIterator]: () => {
        throw new Error('no iterator');
      },
    };
    const { source } = world(broken);
    source.start();
    await settle();
    expect(String(source.failure?.error)).toBe('Error: no iterator');
  });

  it.each([
    ['never ends', () => new Promise(() => {})],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
  ])('stops, and tells of nothing afterwards, where the return of the iterator %s', async (_, ended) => {
    const late = Promise.withResolvers<unknown>();
    const next = (): Promise<never> => late.promise as Promise<never>;
    const { source, told } = world({ [Symbol.asyncIterator]: () => ({ next, return: ended as never }) });
    source.start();
    await source.stop();
    late.resolve({ done: false, value: { type: 'added', node: 'a' } });
    await settle();
    expect([told, source.failure]).toEqual([[], undefined]);
  });

  it('tells of Node objects by their labels, as they come and go, and leaves out those whose options cannot be made', async () => {
    const server = await InMemoryApiServer.start();
    onTestFinished(() => server.stop());
    const transport = new KubeTransport(server.kubeConfig());
    onTestFinished(() => transport.close());
    const objects = server.objects(resources.nodes);
    const create = (name: string, fleet: string): void => {
      objects.create({ metadata: { name, labels: { fleet } } });
    };
    const options = ({ metadata }: { metadata?: { name?: string } }): object => {
      if (metadata?.name === 'broken') throw new Error('no options for it');
      return {};
    };
    create('a', 'edge');
    create('b', 'other');
    create('broken', 'edge');
    const { source, told, lines } = world({ labelSelector: 'fleet=edge', options }, transport);
    source.start();
    await until(() => told.length === 1 && lines.of('error').length === 1);
    create('c', 'edge');
    await until(() => told.length === 2);
    objects.delete({ name: 'a' });
    await until(() => told.length === 3);
    expect(told).toEqual(['+a with options', '+c with options', '-a']);
    expect(String(source.failureOf('broken')?.error)).toBe('Error: no options for it');
    const help = expect.stringContaining('Mend what the message names');
    const leftOut = lines.saying('the options of a node of the fleet could not be made: the node is left out');
    expect(leftOut).toMatchObject([{ fields: { node: 'broken', problemKind: 'fleet-nodes', help } }]);
    objects.delete({ name: 'broken' });
    await until(() => source.failureOf('broken') === undefined);
  });

  it('tells of a node whose options could not be made once its object has changed, and again with other options, not with the same', async () => {
    const server = await InMemoryApiServer.start();
    onTestFinished(() => server.stop());
    const transport = new KubeTransport(server.kubeConfig());
    onTestFinished(() => transport.close());
    const objects = server.objects(resources.nodes);
    let calls = 0;
    const options = ({ metadata }: { metadata?: { annotations?: Record<string, string> } }): object => {
      calls += 1;
      const { cpu } = metadata?.annotations ?? {};
      if (cpu === undefined) throw new Error('no cpu');
      return { capacity: { cpu }, readiness: () => ({}) };
    };
    const annotate = (annotations: Record<string, string>): void => {
      const [node] = objects.list();
      objects.update({ ...node, metadata: { ...node?.metadata, name: 'a', annotations } });
    };
    objects.create({ metadata: { name: 'a', labels: { fleet: 'edge' } } });
    const { source, told } = world({ labelSelector: 'fleet=edge', options }, transport);
    source.start();
    await until(() => source.failureOf('a') !== undefined);
    annotate({ cpu: '4' });
    await until(() => told.length === 1);
    expect([...source.failures]).toEqual([]);
    annotate({ cpu: '4', other: 'x' });
    await until(() => calls === 3);
    annotate({ cpu: '8' });
    await until(() => told.length === 2);
    annotate({});
    await until(() => source.failureOf('a') !== undefined);
    expect(told).toEqual(['+a with options', '+a with options']);
  });

  it('lets the event loop have its turns where the iterable never waits for anything', async () => {
    async function* changes() {
      for (;;) yield { type: 'added' as const, node: 'a' };
    }
    const { source, told } = world(changes());
    source.start();
    await until(() => told.length > 0);
    await source.stop();
    expect(new Set(told)).toEqual(new Set(['+a']));
  });
});
