import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '../../../../src/api/json/types.ts';
import type { NodePod, PodProvider, ProviderCall } from '../../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../../src/node/provider/provider-node.ts';
import type { ProviderNodeOptions } from '../../../../src/node/provider/provider-node-options.ts';
import type { PodSource } from '../../../../src/node/sources/pod-source.ts';
import { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { until } from '../../../support/until.ts';
import { passUntil } from './pass-until.ts';

const nodeName = 'taken';
let server: InMemoryApiServer;
let clock: FakeClock;
beforeEach(async () => {
  server = await InMemoryApiServer.start();
  clock = new FakeClock({ start: Date.UTC(2026, 0, 1) });
});
afterEach(() => server.stop());

const begun: PodStatus = {
  phase: 'Running',
  startTime: '2025-12-31T00:00:00Z',
  containerStatuses: [
    {
      name: 'app',
      ready: true,
      restartCount: 3,
      image: 'app:1',
      imageID: '',
      state: { running: { startedAt: '2025-12-31T00:00:00Z' } },
    },
  ],
};

function create(name: string, status?: PodStatus): string {
  const { metadata } = server.store.create({
    metadata: { name },
    spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] },
  });
  const patch = { type: 'application/merge-patch+json', body: { status }, subresource: 'status' } as const;
  if (status !== undefined) server.store.patch('default', name, patch);
  return metadata?.uid ?? '';
}

/** A cloud whose pods a provider knows once it has adopted them. */
class AdoptingProvider implements PodProvider {
  readonly calls: string[] = [];
  /** By uid. */
  readonly runs = new Map<string, Pod>();
  readonly known = new Set<string>();
  given: readonly NodePod[] = [];
  adopting: (call: ProviderCall) => unknown = () => undefined;
  releasing: (call: ProviderCall) => unknown = () => undefined;

  async adopt(pods: readonly NodePod[], call: ProviderCall): Promise<void> {
    this.calls.push('adopt');
    await this.adopting(call);
    this.given = pods;
    for (const { metadata } of pods) if (this.runs.has(metadata.uid)) this.known.add(metadata.uid);
  }

  async release(call: ProviderCall): Promise<void> {
    this.calls.push('release');
    await this.releasing(call);
    this.calls.push('released');
  }

  getPods(): Pod[] {
    this.calls.push('getPods');
    return [...this.known].map((uid) => this.runs.get(uid) as Pod);
  }

  createPod(pod: NodePod): void {
    this.calls.push(`createPod ${pod.metadata.name}`);
    this.runs.set(pod.metadata.uid, pod);
    this.known.add(pod.metadata.uid);
  }

  deletePod({ metadata }: NodePod): void {
    this.calls.push(`deletePod ${metadata.name}`);
    if (this.known.delete(metadata.uid)) this.runs.delete(metadata.uid);
  }

  getPodStatus({ metadata }: NodePod): PodStatus | undefined {
    return this.known.has(metadata.uid) ? { phase: 'Running', containerStatuses: begun.containerStatuses } : undefined;
  }

  count(call: string): number {
    return this.calls.filter((each) => each === call).length;
  }
}

function nodeOf(provider: PodProvider, options: Partial<ProviderNodeOptions> = {}): ProviderNode {
  return new ProviderNode({
    kubeConfig: server.kubeConfig(),
    nodeName,
    provider,
    clock,
    logger: null,
    rawPods: true,
    ...options,
  });
}
/** Also where the stop waits for the clock. */
async function stopped(node: ProviderNode, timeoutMs = 4000): Promise<void> {
  let isOver = false;
  void node.stop({ timeoutMs }).then(() => {
    isOver = true;
  });
  await passUntil(clock, () => isOver);
}
const kinds = (node: ProviderNode): string[] => node.snapshot().problems.map(({ kind }) => kind);

describe('PodProvider.adopt', () => {
  it('comes first, once, with the pods that an earlier run has begun; none of them is created or told of anew', async () => {
    const provider = new AdoptingProvider();
    const uid = create('begun', begun);
    provider.runs.set(uid, server.store.get('default', 'begun'));
    create('new');
    create('ended', { ...begun, phase: 'Succeeded' });
    await using node = nodeOf(provider);
    await node.start();
    await passUntil(clock, () => server.store.get('default', 'new').status?.phase === 'Running');
    await node.statusManager.flush();
    expect(provider.given.map(({ metadata, status }) => [metadata.name, status?.containerStatuses?.[0]?.restartCount])).toEqual([
      ['begun', 3],
    ]);
    expect(provider.calls.slice(0, 2)).toEqual(['adopt', 'getPods']);
    expect([provider.count('adopt'), provider.count('createPod begun'), provider.count('createPod new')]).toEqual([1, 0, 1]);
    expect(server.store.get('default', 'begun').status).toMatchObject({ startTime: begun.startTime, phase: 'Running' });
  });

  it('is called without pods on a node that has none', async () => {
    const provider = new AdoptingProvider();
    await using node = nodeOf(provider);
    await node.start();
    expect([provider.given, provider.count('adopt')]).toEqual([[], 1]);
  });

  it('that fails is told and repeated; until it succeeds no pod of an earlier run is created, lost or gone, and new ones run', async () => {
    const provider = new AdoptingProvider();
    let isDown = true;
    provider.adopting = () => {
      if (isDown) throw new Error('cloud: 503');
    };
    const uids = ['stays', 'goes', 'lost'].map((name) => create(name, begun));
    for (const [at, name] of ['stays', 'goes'].entries()) provider.runs.set(uids[at] ?? '', server.store.get('default', name));
    const { logger, lines } = recordedLines();
    await using node = nodeOf(provider, { logger });
    await node.start();
    create('new');
    server.store.delete('default', 'goes', { gracePeriodSeconds: 1 });
    await passUntil(clock, () => server.store.get('default', 'new').status?.phase === 'Running');
    await clock.advance(60_000);
    expect(node.snapshot().problems).toContainEqual(
      expect.objectContaining({ kind: 'adopt', message: 'adopt() failed: cloud: 503', attempt: expect.any(Number) }),
    );
    expect(provider.calls.filter((call) => call.startsWith('createPod'))).toEqual(['createPod new']);
    expect([...provider.runs.keys()]).toEqual(expect.arrayContaining(uids.slice(0, 2)));
    expect(provider.count('deletePod goes')).toBe(0);
    expect(node.snapshot().problems).toContainEqual(
      expect.objectContaining({
        kind: 'delete-pod',
        podName: 'goes',
        message: expect.stringContaining('adopt() has not succeeded yet'),
      }),
    );
    for (const name of ['stays', 'goes', 'lost']) {
      expect(server.store.get('default', name).status).toMatchObject({
        phase: 'Running',
        containerStatuses: [{ restartCount: 3 }],
      });
    }
    isDown = false;
    await passUntil(clock, () => !kinds(node).includes('adopt'));
    // what runs goes on, what is to end ends, and what is not there is created again, as after any restart
    await passUntil(clock, () => provider.count('createPod lost') === 1 && !provider.runs.has(uids[1] ?? ''));
    expect([provider.count('createPod stays'), provider.count('createPod goes'), provider.runs.has(uids[0] ?? '')]).toEqual([
      0,
      0,
      true,
    ]);
    expect(lines.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'the provider has not adopted the pods that an earlier run has begun',
        'the provider has adopted its pods',
      ]),
    );
  });

  it('that fails keeps no pod from its end that the provider knows all the same', async () => {
    const provider = new AdoptingProvider();
    provider.adopting = () => Promise.reject(new Error('cloud: 503'));
    const uid = create('begun', begun);
    provider.runs.set(uid, server.store.get('default', 'begun'));
    provider.known.add(uid);
    await using node = nodeOf(provider);
    await node.start();
    server.store.delete('default', 'begun', { gracePeriodSeconds: 1 });
    await passUntil(clock, () => server.store.list().length === 0);
    expect([provider.count('deletePod begun'), provider.runs.size, kinds(node)]).toEqual([1, 0, ['adopt']]);
  });

  it('that hangs holds the start up for ten seconds, and its own pods until it succeeds', async () => {
    const provider = new AdoptingProvider();
    const signals: AbortSignal[] = [];
    provider.adopting = ({ signal }) => (signals.push(signal) === 1 ? new Promise(() => {}) : undefined);
    provider.runs.set(create('begun', begun), server.store.get('default', 'begun'));
    await using node = nodeOf(provider);
    const started = node.start();
    await until(() => provider.calls.length === 1);
    await settle(20);
    expect(node.snapshot().problems).toContainEqual(expect.objectContaining({ kind: 'adopt', attempt: 0 }));
    const before = clock.elapsed();
    await passUntil(clock, () => provider.count('getPods') > 0);
    expect(clock.elapsed() - before).toBe(10_000);
    await started;
    expect(signals[0]?.aborted).toBe(true);
    await passUntil(clock, () => !kinds(node).includes('adopt'));
    await passUntil(clock, () => node.snapshot().podsWithoutStatus.length === 0);
    expect([provider.count('createPod begun'), provider.count('adopt')]).toEqual([0, 2]);
  });

  it.each([true, false])('keeps static pods back before the first list of the apiserver: %s', async (adopts) => {
    server.fail({ resource: 'pods', fault: { kind: 'hang' }, times: 1e9 });
    const provider = new AdoptingProvider();
    const { adopt } = provider;
    Object.assign(provider, { adopt: adopts ? adopt : undefined });
    const spec = { containers: [{ name: 'app', image: 'app:1' }] };
    const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'static' };
    const pod = { metadata: { name: 'static', namespace: 'default', uid: 'static', annotations }, spec };
    const file: PodSource = { start: (send) => send([pod]), stop: () => {} };
    const node = nodeOf(provider, { sources: { file } });
    const outcome = expect(node.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await passUntil(clock, () => node.snapshot().registered && (adopts || provider.count('createPod static') > 0));
    await clock.advance(5000);
    expect(provider.calls).toEqual(adopts ? [] : ['getPods', 'createPod static']);
    await stopped(node);
    await outcome;
  });

  it('waits for the first list of the apiserver, and a stop ends the wait', async () => {
    const provider = new AdoptingProvider();
    server.fail({ resource: 'pods', fault: { kind: 'hang' }, times: 1e9 });
    const node = nodeOf(provider);
    const outcome = expect(node.start()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await passUntil(clock, () => node.snapshot().registered);
    expect(kinds(node).filter((kind) => kind !== 'not-ready')).toEqual(['source-silent']);
    await stopped(node);
    await outcome;
    expect(provider.calls).toEqual(['release', 'released']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('PodProvider.release', () => {
  it('comes once, after every other call has settled', async () => {
    const provider = new AdoptingProvider();
    const node = nodeOf(provider);
    await node.start();
    const creation = Promise.withResolvers<void>();
    const createPod = provider.createPod.bind(provider);
    provider.createPod = (pod) => {
      createPod(pod);
      return creation.promise.then(() => void provider.calls.push('created')) as never;
    };
    create('slow');
    await passUntil(clock, () => provider.count('createPod slow') === 1);
    const stop = node.stop();
    await settle(20);
    expect(provider.count('release')).toBe(0);
    creation.resolve();
    await stop;
    expect(provider.calls.slice(-3)).toEqual(['created', 'release', 'released']);
    await node.stop();
    expect(provider.count('release')).toBe(1);
  });

  it('shows in the snapshot while it is under way, and no longer', async () => {
    const provider = new AdoptingProvider();
    const release = Promise.withResolvers<void>();
    let calledAt = 0;
    provider.releasing = () => {
      calledAt = clock.now();
      return release.promise;
    };
    const node = nodeOf(provider);
    await node.start();
    expect(node.snapshot().releasingSince).toBeUndefined();
    const stop = node.stop();
    await passUntil(clock, () => provider.count('release') === 1);
    expect([node.snapshot().releasingSince, kinds(node)]).toEqual([calledAt, ['stopped']]);
    release.resolve();
    await stop;
    expect([node.snapshot().releasingSince, kinds(node)]).toEqual([undefined, ['stopped']]);
  });

  it('may fail or hang: the stop goes on, and tells of it', async () => {
    for (const [releasing, why, result, since] of [
      [() => Promise.reject(new Error('no')), 'release() failed: no', 'failed', undefined],
      [() => new Promise(() => {}), 'release() gave no answer within', 'aborted', expect.any(Number)],
    ] as const) {
      const metrics = new MetricsRecorder();
      const provider = new AdoptingProvider();
      provider.releasing = releasing;
      const { logger, lines } = recordedLines();
      const node = nodeOf(provider, { logger, metrics });
      await node.start();
      const before = clock.elapsed();
      await stopped(node);
      expect(clock.elapsed() - before).toBeLessThanOrEqual(4000);
      const problem = node.snapshot().problems.find(({ kind }) => kind === 'release');
      expect(problem?.message).toContain(why);
      expect(node.snapshot().releasingSince).toEqual(since);
      const message = 'the provider failed when it was told that its pods are no longer run from here';
      const fields = expect.objectContaining({ node: nodeName, problemKind: 'release', attempt: 1, help: problem?.help });
      expect(lines).toContainEqual(expect.objectContaining({ message, fields }));
      expect(problem?.help).toContain('let go of it');
      expect(metrics.nonZero('pod_status_manager_provider_calls_total')).toEqual({ 'adopt,ok': 1, [`release,${result}`]: 1 });
    }
  });

  it('is not called on a node that was never started', async () => {
    const provider = new AdoptingProvider();
    await nodeOf(provider).stop();
    expect(provider.calls).toEqual([]);
  });
});
