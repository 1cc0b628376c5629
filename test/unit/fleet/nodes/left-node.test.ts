import { describe, expect, it, onTestFinished } from 'vitest';
import { removeLeftNode } from '../../../../src/fleet/nodes/left-node.ts';
import { ApiError, GuardedTransport, type KubeRequest, KubeTransport } from '../../../../src/index.ts';
import { type ResourceTransport, resources } from '../../../../src/reflector.ts';
import { InMemoryApiServer } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

type Store = Awaited<ReturnType<typeof world>>['nodes'];

async function world() {
  const server = await InMemoryApiServer.start();
  onTestFinished(() => server.stop());
  const transport = new KubeTransport(server.kubeConfig());
  onTestFinished(() => transport.close());
  const nodes = server.objects(resources.nodes);
  const leases = server.objects(resources.leases);
  nodes.create({ metadata: { name: 'n1' } });
  leases.create({ metadata: { name: 'n1', namespace: 'kube-node-lease' } });
  leases.create({ metadata: { name: 'n1', namespace: 'default' } });
  const lines = recordedLines();
  return {
    server,
    transport,
    nodes,
    leases,
    lines,
    ofLines: { isWanted: () => false, leftAt: Number.POSITIVE_INFINITY, logger: lines.logger },
  };
}

const relabel = (nodes: Store, changed: string): unknown =>
  nodes.patch({ name: 'n1' }, { type: 'application/merge-patch+json', body: { metadata: { labels: { changed } } } });

/** A transport on which something happens before each request of a method. */
function preceded(transport: ResourceTransport, method: string, happens: (request: KubeRequest) => void): ResourceTransport {
  const request: ResourceTransport['request'] = (asked) => {
    if (asked.method === method) happens(asked);
    return transport.request(asked);
  };
  return { request, stream: (stream) => transport.stream(stream) };
}

const notDeleted = 'a node has left the fleet, and its object or its Lease could not be deleted';

describe('a node that has left the fleet', () => {
  it('is deleted, with its own Lease and no other', async () => {
    const { transport, nodes, leases, lines, ofLines } = await world();
    await removeLeftNode('n1', { transport, ...ofLines });
    expect([nodes.list().length, leases.list().map(({ metadata }) => metadata?.namespace)]).toEqual([0, ['default']]);
    expect(lines.of('info')).toEqual(['the node has left the fleet, and is deleted']);
  });

  it('stays where it was made after the node had left: it is somebody else’s', async () => {
    const { transport, nodes, leases, ofLines } = await world();
    expect(await removeLeftNode('n1', { transport, ...ofLines, leftAt: Date.now() - 3_600_000 })).toBe(true);
    expect([nodes.list().length, leases.list().length]).toEqual([1, 2]);
  });

  it('is no problem where it is gone already', async () => {
    const { transport, lines, ofLines } = await world();
    await removeLeftNode('n2', { transport, ...ofLines });
    expect(lines.of('warn', 'error')).toEqual([]);
  });

  it('stays where the shard is another member’s by now, which is told', async () => {
    const { transport, nodes, leases, lines, ofLines } = await world();
    const guarded = new GuardedTransport(transport, () => {
      throw new ApiError({ reason: 'NotOwner', message: 'another member owns it' });
    });
    await removeLeftNode('n1', { transport: guarded, ...ofLines });
    expect([nodes.list().length, leases.list().length]).toEqual([1, 2]);
    expect(lines.of('warn')).toEqual([notDeleted]);
    expect(lines.saying(notDeleted)).toMatchObject([{ fields: { node: 'n1', problemKind: 'not-owner', attempt: 1 } }]);
  });

  it('stays where a right is missing, and the line says which would help', async () => {
    const { transport, lines, ofLines } = await world();
    const forbidden = preceded(transport, 'DELETE', () => {
      throw new ApiError({ status: 403, reason: 'Forbidden', message: 'cannot delete resource "nodes"' });
    });
    expect(await removeLeftNode('n1', { transport: forbidden, ...ofLines })).toBe(false);
    const help = expect.stringContaining("Give this agent's user the right that is missing");
    expect(lines.saying(notDeleted)).toMatchObject([{ fields: { node: 'n1', problemKind: 'forbidden', help } }]);
  });

  it('is read again where somebody has changed it since, and is deleted then', async () => {
    const { transport, nodes, leases, lines, ofLines } = await world();
    let isFirst = true;
    const changing = preceded(transport, 'DELETE', () => {
      if (isFirst) relabel(nodes, 'once');
      isFirst = false;
    });
    await removeLeftNode('n1', { transport: changing, ...ofLines });
    expect([nodes.list().length, leases.list().length, lines.of('warn', 'error')]).toEqual([0, 1, []]);
  });

  it('is given up, and told, where somebody changes it without end', async () => {
    const { transport, nodes, lines, ofLines } = await world();
    let changes = 0;
    const changing = preceded(transport, 'DELETE', ({ path }) => {
      if (!path.endsWith('/nodes/n1')) return;
      changes += 1;
      relabel(nodes, String(changes));
    });
    await removeLeftNode('n1', { transport: changing, ...ofLines });
    expect([nodes.list().length, changes, lines.of('warn').length]).toEqual([1, 5, 1]);
  });

  it('is left alone from the moment on in which it comes again', async () => {
    const { server, transport, nodes, leases, lines } = await world();
    let isWanted = false;
    const coming = preceded(transport, 'GET', () => {
      isWanted = true;
    });
    await removeLeftNode('n1', {
      transport: coming,
      isWanted: () => isWanted,
      leftAt: Number.POSITIVE_INFINITY,
      logger: lines.logger,
    });
    expect([nodes.list().length, leases.list().length]).toEqual([1, 2]);
    expect(server.requestsOn('*').filter(({ verb }) => verb === 'delete')).toEqual([]);
    expect(lines.of('info')).toEqual(['the node has left the fleet, and has come again']);
  });

  it('is asked for once where the server refuses, which is said, and where nothing is left or it has come again nothing is', async () => {
    const { transport, lines, ofLines } = await world();
    const sent: KubeRequest[] = [];
    const failing: ResourceTransport = {
      request: (request) => {
        sent.push(request);
        if (request.method !== 'DELETE') return transport.request(request);
        return Promise.reject(new ApiError({ status: 500, reason: 'InternalError', message: 'no' }));
      },
      stream: (stream) => transport.stream(stream),
    };
    expect(await removeLeftNode('n1', { transport: failing, ...ofLines })).toBe(false);
    const deletions = sent.filter(({ method }) => method === 'DELETE');
    expect(new Set(deletions.map(({ path }) => path)).size).toBe(deletions.length);
    for (const { body } of deletions) {
      const preconditions = { uid: expect.any(String), resourceVersion: expect.any(String) };
      expect(body).toMatchObject({ preconditions });
    }
    expect(lines.of('warn').length).toBe(1);
    sent.splice(0);
    expect(await removeLeftNode('n1', { transport: failing, ...ofLines, isWanted: () => true })).toBe(true);
    expect(sent).toEqual([]);
    expect(await removeLeftNode('n2', { transport: failing, ...ofLines })).toBe(true);
    expect(lines.of('info')).toEqual(['the node has left the fleet, and has come again']);
  });
});
