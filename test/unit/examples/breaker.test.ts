import type { PodProvider } from 'pod-status-manager/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdminClient } from '../../../examples/virtual-node/admin-client.ts';
import { type BrokenCalls, breakable } from '../../../examples/virtual-node/faults/breakable-provider.ts';
import { Breaker } from '../../../examples/virtual-node/faults/breaker.ts';
import { Journal } from '../../../examples/virtual-node/journal.ts';
import { PodOwners } from '../../../examples/virtual-node/pod-owners.ts';
import { Random } from '../../../examples/virtual-node/random.ts';
import { InMemoryApiServer } from '../../../src/testing.ts';
import { barePod } from '../../support/pods.ts';
import { until } from '../../support/until.ts';

/** Owners of three pods that live on, on a server in memory. */
async function setUp() {
  const server = await InMemoryApiServer.start();
  const admin = new AdminClient(server.kubeConfig());
  const ending = new AbortController();
  const owners = new PodOwners({
    ...{ admin, namespace: 'default', runID: 'run', pods: 3, pace: 0.1, seed: 1, life: [10_000, 10_000], sameName: 0 },
    makePod: (suffix) => ({
      metadata: { name: `web-${suffix}` },
      spec: { nodeName: 'node', containers: [{ name: 'a', image: 'i' }] },
    }),
  });
  const run = owners.run(ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await run;
    await admin.close();
    await server.stop();
  });
  await until(() => owners.alive.size === 3);
  return { server, owners, signal: ending.signal };
}

describe('the breaker', () => {
  it('ends every fault, also when the run ends in the middle of them', async () => {
    const { server, owners } = await setUp();
    const ending = new AbortController();
    const broken: BrokenCalls = {};
    const breaker = new Breaker({ server, owners, provider: { broken, notify() {} } }, new Journal());
    const over = breaker.run({ kind: 'virtual', seed: 1, isInMemory: true, seconds: 3600 }, ending.signal);
    expect(breaker.wrong).toEqual([]);
    ending.abort();
    await over;
    const middle = new AbortController();
    const short = breaker.run({ kind: 'virtual', seed: 1, isInMemory: true, seconds: 1 }, middle.signal);
    await until(() => breaker.names.size > 3);
    expect(breaker.wrong[0]).toMatch(/^[\w-]+: \w/);
    middle.abort();
    await short;
    expect([breaker.wrong, breaker.problems]).toEqual([[], []]);
    expect(Object.values(broken).filter((call) => call !== undefined)).toEqual([]);
    const [pod] = owners.alive.values();
    if (pod !== undefined) await owners.touch(pod);
    expect(owners.failures).toBe(0);
  });

  it('names a fault that could not be played', async () => {
    const { server, owners } = await setUp();
    owners.touch = () => Promise.reject(new Error('the server has gone'));
    const breaker = new Breaker({ server, owners }, new Journal());
    await breaker.run({ kind: 'virtual', seed: 1, isInMemory: true, seconds: 1 }, new AbortController().signal);
    expect(breaker.problems).toContain('the fault conflict could not be played: the server has gone');
  });
});

describe('the owners', () => {
  it('have another pod under the same name when one is replaced, and none for one that vanished', async () => {
    const { server, owners, signal } = await setUp();
    const before = server.store.list({ namespace: 'default' });
    const name = await owners.replace(new Random(1), signal);
    const uidOf = (pods: typeof before) => pods.find(({ metadata }) => metadata?.name === name)?.metadata?.uid;
    const after = server.store.list({ namespace: 'default' });
    expect(after).toHaveLength(3);
    expect(uidOf(after)).not.toBe(uidOf(before));
    expect(owners).toMatchObject({ recreated: 1, forced: 1 });
    await owners.replace(new Random(1), signal, false);
    expect([server.store.list({ namespace: 'default' }).length, owners.alive.size]).toEqual([2, 2]);
  });

  it('can hold a deleted pod, and let it go', async () => {
    const { server, owners } = await setUp();
    const [pod] = owners.alive.values();
    if (pod === undefined) throw new Error('no pod');
    const letGo = await owners.hold(pod);
    server.store.delete('default', pod.name, { gracePeriodSeconds: 0 });
    expect(server.store.get('default', pod.name).metadata?.deletionTimestamp).toBeDefined();
    await letGo();
    expect(server.store.list({ namespace: 'default' })).toHaveLength(2);
  });
});

describe('a breakable provider', () => {
  it('answers by itself until a call is broken, and again afterwards', async () => {
    const provider: PodProvider = {
      createPod: () => 'made',
      deletePod: () => 'gone',
      getPodStatus: () => ({ phase: 'Running' }),
    };
    const broken: BrokenCalls = {};
    const wrapped = breakable(provider, broken);
    const { metadata, spec, ...rest } = barePod({ metadata: { name: 'web', uid: 'u1' } });
    const pod = {
      ...rest,
      metadata: { ...metadata, name: 'web', uid: 'u1', namespace: 'default' },
      spec: { containers: [], ...spec },
    };
    const { signal } = new AbortController();
    expect([wrapped.createPod(pod, { signal }), wrapped.deletePod(pod, { signal, gracePeriodSeconds: 1 })]).toEqual([
      'made',
      'gone',
    ]);
    broken.getPodStatus = (_, __, real) => ({ ...real(), phase: 'Sideways' });
    broken.createPod = () => {
      throw new Error('quota exceeded');
    };
    expect(await wrapped.getPodStatus(pod, { signal })).toEqual({ phase: 'Sideways' });
    expect(() => wrapped.createPod(pod, { signal })).toThrow('quota exceeded');
    broken.getPodStatus = undefined;
    expect(await wrapped.getPodStatus(pod, { signal })).toEqual({ phase: 'Running' });
    expect(wrapped.notifyPods).toBeUndefined();
  });
});
