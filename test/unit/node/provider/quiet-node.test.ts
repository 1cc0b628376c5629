import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { passUntil } from './pass-until.ts';

let server: InMemoryApiServer;
let clock: FakeClock;
let node: ProviderNode;

beforeEach(async () => {
  server = await InMemoryApiServer.start();
  clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
});
afterEach(async () => {
  let isOver = false;
  void node.stop({ timeoutMs: 2000 }).then(() => {
    isOver = true;
  });
  await passUntil(clock, () => isOver);
  await server.stop();
});

function nodeWith(provider: PodProvider, syncLoop: ProviderNodeOptions['syncLoop'] = {}): ProviderNode {
  const kubeConfig = server.kubeConfig();
  node = new ProviderNode({ kubeConfig, nodeName: 'n', provider, clock, logger: null, rawPods: true, syncLoop });
  return node;
}

/** A provider that writes down when it deleted the first pod. */
function cloud(running: Map<string, object>) {
  const times = { listed: 0, deleted: 0 };
  const provider = {
    createPod: async ({ metadata }: { metadata: { uid: string } }): Promise<void> => void running.set(metadata.uid, { metadata }),
    deletePod: async ({ metadata }: { metadata: { uid: string } }): Promise<void> => {
      times.deleted ||= clock.elapsed();
      running.delete(metadata.uid);
    },
    getPodStatus: ({ metadata }: { metadata: { uid: string } }) =>
      running.has(metadata.uid) ? { phase: 'Running' as const } : undefined,
  };
  return { provider, times };
}

/** When the node's pods are looked at, from now on. */
function looksOf({ statusManager }: ProviderNode): number[] {
  const looks: number[] = [];
  const { removeOrphanedStatuses } = statusManager;
  statusManager.removeOrphanedStatuses = (uids) => {
    looks.push(clock.elapsed());
    removeOrphanedStatuses.call(statusManager, uids);
  };
  return looks;
}

const orphan = { metadata: { uid: 'orphan', name: 'orphan', namespace: 'default' }, spec: { containers: [] } };

describe('a provider node at rest', () => {
  it('ends at the next look what a call has created after its pod was gone', async () => {
    const running = new Map<string, object>();
    const { provider, times } = cloud(running);
    const late = Promise.withResolvers<void>();
    let isAsked = false;
    const createPod: PodProvider['createPod'] = async (pod) => {
      isAsked = true;
      await late.promise;
      running.set(pod.metadata.uid, pod);
    };
    await nodeWith({ ...provider, createPod }).start();
    const uid = server.store.create({
      metadata: { name: 'web' },
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'a' }] },
    }).metadata?.uid;
    await passUntil(clock, () => isAsked);
    server.store.delete('default', 'web', { gracePeriodSeconds: 0 });
    await passUntil(clock, () => node.podManager.getPodByUID(uid ?? '') === undefined);
    const looks = looksOf(node);
    await passUntil(clock, () => (looks.at(-1) ?? 0) - (looks.at(-2) ?? Number.POSITIVE_INFINITY) === 14_000);
    times.deleted = 0;
    const createdAt = clock.elapsed();
    late.resolve();
    await passUntil(clock, () => times.deleted > 0 && running.size === 0);
    expect(times.deleted - createdAt).toBeLessThanOrEqual(4000);
  });

  it('ends at the next look what only a list says that came late', async () => {
    const running = new Map<string, object>([['orphan', orphan]]);
    const { provider, times } = cloud(running);
    let failures = 3;
    const getPods = () => {
      failures -= 1;
      if (failures >= 0) throw new Error('down');
      times.listed ||= clock.elapsed();
      return [...running.values()] as never;
    };
    void nodeWith({ ...provider, getPods }).start();
    await passUntil(clock, () => times.deleted > 0);
    expect(times.deleted - times.listed).toBeLessThanOrEqual(4000);
  });

  it.each([
    [undefined, 14_000],
    [{ housekeepingIntervalMs: 500 }, 500],
    [{ housekeepingIntervalMs: 500, quietHousekeepingIntervalMs: 5000 }, 5000],
    [{ quietHousekeepingIntervalMs: undefined }, 14_000],
  ] as [
    ProviderNodeOptions['syncLoop'],
    number,
  ][])('with %j is looked at every so many milliseconds: %i', async (syncLoop, expected) => {
    const { provider } = cloud(new Map());
    await nodeWith(provider, syncLoop).start();
    const looks = looksOf(node);
    await passUntil(clock, () => looks.length >= 5);
    expect((looks[4] ?? 0) - (looks[3] ?? 0)).toBe(expected);
  });
});
