import { describe, expect, it, onTestFinished } from 'vitest';
import type { FleetNodeChange, NodeFleet } from '../../../src/fleet.ts';
import { type KubeRequest, KubeTransport } from '../../../src/index.ts';
import { resources } from '../../../src/reflector.ts';
import type { InMemoryApiServer } from '../../../src/testing.ts';
import { until } from '../../support/until.ts';
import { nodes, world } from './fleet-of-cloud.ts';

/** Changes as a test tells them. */
class ToldChanges {
  readonly #told: FleetNodeChange[] = nodes.map((node) => ({ type: 'added', node }));
  #more = Promise.withResolvers<void>();

  tell(...changes: FleetNodeChange[]): void {
    this.#told.push(...changes);
    this.#more.resolve();
  }

  async *all(): AsyncIterable<FleetNodeChange> {
    for (;;) {
      yield* this.#told.splice(0);
      await this.#more.promise;
      this.#more = Promise.withResolvers<void>();
    }
  }
}

const n1 = (server: InMemoryApiServer) =>
  server
    .objects(resources.nodes)
    .list()
    .find(({ metadata }) => metadata?.name === 'n1');
const hasLease = (server: InMemoryApiServer): boolean =>
  server.objects(resources.leases).has({ namespace: 'kube-node-lease', name: 'n1' });

async function runningFleet(removeNodes: boolean) {
  const { server, cloud, member, phases } = await world();
  const transport = new KubeTransport(server.kubeConfig());
  onTestFinished(() => transport.close());
  const changes = new ToldChanges();
  const hold = { deletion: Promise.resolve(), held: 0 };
  const holding: Pick<KubeTransport, 'request' | 'stream'> = {
    request: async (request: KubeRequest) => {
      if (request.method === 'DELETE' && request.path.endsWith('/nodes/n1')) {
        hold.held += 1;
        await hold.deletion;
      }
      return transport.request(request);
    },
    stream: (stream) => transport.stream(stream),
  };
  const fleet = await member('a', { transport: holding, nodes: changes.all(), removeNodes });
  const runs = (): boolean => fleet.explain('n1').state === 'running' && fleet.node('n1')?.snapshot().ready === true;
  await until(() => runs() && phases().every((phase) => phase === 'Running'));
  return { server, cloud, fleet, changes, hold, runs, phases };
}

const hasGone = (fleet: NodeFleet): boolean => fleet.explain('n1').state === 'unknown' && fleet.snapshot().nodeCounts.here === 3;

describe('a node that leaves a fleet', () => {
  it('loses its object and its Lease with removeNodes', async () => {
    const { server, changes, fleet } = await runningFleet(true);
    changes.tell({ type: 'removed', node: 'n1' });
    await until(() => hasGone(fleet) && n1(server) === undefined && !hasLease(server));
    expect(server.objects(resources.nodes).list().length).toBe(3);
  });

  it('keeps them without', async () => {
    const { server, changes, fleet } = await runningFleet(false);
    const { uid } = n1(server)?.metadata ?? {};
    changes.tell({ type: 'removed', node: 'n1' });
    await until(() => hasGone(fleet));
    await fleet.stop();
    expect([n1(server)?.metadata?.uid, hasLease(server)]).toEqual([uid, true]);
  });

  it('and comes again while it is deleted has an object of its own in the end, which stays, and its pods', async () => {
    const { server, cloud, changes, hold, runs, phases } = await runningFleet(true);
    const { uid } = n1(server)?.metadata ?? {};
    const held = Promise.withResolvers<void>();
    hold.deletion = held.promise;
    changes.tell({ type: 'removed', node: 'n1' });
    await until(() => hold.held === 1);
    changes.tell({ type: 'added', node: 'n1' });
    held.resolve();
    await until(() => runs() && n1(server) !== undefined);
    const again = n1(server)?.metadata?.uid;
    expect([again === uid, hold.held]).toEqual([false, 1]);
    await until(() => hasLease(server));
    // the object was created before the node ran again, and nothing has deleted it since
    expect(server.requestsOn('nodes').filter(({ verb }) => verb === 'delete').length).toBe(1);
    expect([phases(), cloud.created.filter((name) => name === 'on-n1')]).toEqual([Array(4).fill('Running'), ['on-n1']]);
  });
});
