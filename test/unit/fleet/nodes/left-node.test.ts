import { describe, expect, it, onTestFinished } from 'vitest';
import { removeLeftNode } from '../../../../src/fleet/nodes/left-node.ts';
import { ApiError, GuardedTransport, KubeTransport } from '../../../../src/index.ts';
import { resources } from '../../../../src/reflector.ts';
import { InMemoryApiServer } from '../../../../src/testing.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';

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
  return { server, transport, nodes, leases, lines: recordedLines() };
}

describe('a node that has left the fleet', () => {
  it('is deleted, with its own Lease and no other', async () => {
    const { transport, nodes, leases, lines } = await world();
    await removeLeftNode('n1', { transport, logger: lines.logger });
    expect([nodes.list().length, leases.list().map(({ metadata }) => metadata?.namespace)]).toEqual([0, ['default']]);
    expect(lines.of('info')).toEqual(['the node has left the fleet, and is deleted']);
  });

  it('is no problem where it is gone already', async () => {
    const { transport, lines } = await world();
    await removeLeftNode('n2', { transport, logger: lines.logger });
    expect(lines.of('warn', 'error')).toEqual([]);
  });

  it('stays where the shard is another member’s by now, which is told', async () => {
    const { transport, nodes, leases, lines } = await world();
    const guarded = new GuardedTransport(transport, () => {
      throw new ApiError({ reason: 'NotOwner', message: 'another member owns it' });
    });
    await removeLeftNode('n1', { transport: guarded, logger: lines.logger });
    expect([nodes.list().length, leases.list().length]).toEqual([1, 2]);
    expect(lines.of('warn')).toEqual(['a node has left the fleet, and its object or its Lease could not be deleted']);
  });
});
