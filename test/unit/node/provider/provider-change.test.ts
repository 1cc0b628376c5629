import { describe, expect, it } from 'vitest';
import type { ProviderCall } from '../../../../src/node/provider/pod-provider.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld } from './provider-world.ts';

const refuse = () => Promise.reject(new Error('disk quota'));
const lateText = 'The provider did not create the pod: createPod() has not settled within 300 s';
/** Rejects once its signal aborts, with the signal's reason. */
const heeds = (_: unknown, { signal }: ProviderCall) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('a createPod that takes too long', () => {
  it('is aborted, and told of once, in an event and in the status', async () => {
    await using world = new ProviderWorld();
    let signal: AbortSignal | undefined;
    world.provider.next('createPod', 'web', (_, call) => {
      signal = call.signal;
      return never();
    });
    await world.create('web');
    await world.clock.advance(299_000);
    expect([signal?.aborted, world.events]).toEqual([false, []]);
    await world.clock.advance(1_200_000);
    expect([signal?.aborted, signal?.reason.name]).toEqual([true, 'TimeoutError']);
    expect(world.events).toEqual([`web Warning ProviderCreateFailed: ${lateText}`]);
    expect(world.status('web')).toMatchObject({
      message: lateText,
      containerStatuses: [{ state: { waiting: { reason: 'ProviderCreateFailed', message: lateText } } }],
    });
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.syncer.pods.find(world.store.get('default', 'web').metadata?.uid ?? '')?.change?.since).toBe(946_684_800_000);
    await world.delete('web', 5);
    await world.clock.advance(60_000);
    expect(world.isGone('web')).toBe(true);
  });

  it('and ends by its signal is repeated, with one event for each time that it fails', async () => {
    await using world = new ProviderWorld({ changeTimeoutMs: 60_000 });
    world.provider.next('createPod', 'web', heeds);
    await world.create('web');
    await world.clock.advance(61_000);
    expect(world.events).toEqual([`web Warning ProviderCreateFailed: ${lateText.replace('300', '60')}`]);
    expect(world.provider.took()).toEqual(['createPod web']);
    await world.clock.advance(12_000);
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.condition('web', 'Ready')).toBe('True');
  });

  it('and succeeds all the same counts as done', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
    await world.create('web');
    await world.clock.advance(400_000);
    creation.resolve();
    await settle(20);
    expect(world.condition('web', 'Ready')).toBe('True');
    await world.clock.advance(400_000);
    expect([world.provider.took(), world.status('web').message]).toEqual([['createPod web'], undefined]);
  });

  it('is not told of once it has settled, nor once its pod ends', async () => {
    await using world = new ProviderWorld({ changeTimeoutMs: 3_600_000 });
    world.provider.next('createPod', 'ends', never);
    await world.create('ends');
    await world.create('web');
    await world.clock.advance(5000);
    await world.delete('ends', 5);
    await world.delete('web', 5);
    await world.clock.advance(7_200_000);
    expect([world.isGone('ends'), world.events]).toEqual([true, []]);
  });

  it('has a limit that is checked', () => {
    expect(() => new ProviderWorld({ changeTimeoutMs: 0 })).toThrow(/`changeTimeoutMs` to be a number/);
  });
});

describe('an updatePod that takes too long', () => {
  it('is aborted, told of, and repeated', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.next('updatePod', 'web', heeds);
    world.store.patch('default', 'web', { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
    await world.clock.advance(301_000);
    const text = 'The provider did not update the pod: updatePod() has not settled within 300 s';
    expect(world.events).toEqual([`web Warning ProviderUpdateFailed: ${text}`]);
    await world.clock.advance(30_000);
    expect(world.provider.took()).toEqual(['createPod web', 'updatePod web', 'updatePod web']);
  });
});

describe('a createPod that failed halfway', () => {
  const failsHalfway = (world: ProviderWorld, status: object) => async () => {
    const pod = world.store.get('default', 'half');
    world.provider.pods.set(pod.metadata?.uid ?? '', { pod, status });
    return refuse();
  };
  const failureOf = (world: ProviderWorld) =>
    world.syncer.pods.find(world.store.get('default', 'half').metadata?.uid ?? '')?.failure;

  it('is repeated while its provider says that the pod waits', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'half', failsHalfway(world, { phase: 'Pending' }), refuse);
    await world.create('half');
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual(['createPod half']);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod half']);
    const message = 'The provider did not create the pod: disk quota';
    expect(world.status('half')).toMatchObject({
      message,
      containerStatuses: [{ state: { waiting: { reason: 'ProviderCreateFailed', message } } }],
    });
    expect(failureOf(world)).toMatchObject({ attempt: 2, message: 'disk quota' });
    await world.clock.advance(25_000);
    expect(world.provider.took()).toEqual(['createPod half']);
    expect(world.condition('half', 'Ready')).toBe('True');
    expect([failureOf(world), world.status('half').message]).toEqual([undefined, undefined]);
  });

  it('is not repeated once the pod runs, nor while one of its containers does', async () => {
    await using world = new ProviderWorld();
    const app = { name: 'app', image: '', imageID: '', ready: false, restartCount: 0, state: { running: {} } };
    world.provider.next('createPod', 'half', failsHalfway(world, { phase: 'Pending', containerStatuses: [app] }));
    await world.create('half');
    await world.clock.advance(120_000);
    expect(world.provider.took()).toEqual(['createPod half']);
    expect(failureOf(world)).toBeUndefined();
    expect(world.status('half')).toMatchObject({ containerStatuses: [{ state: { running: {} } }] });
  });

  it('is seen to run before it is due to be repeated', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'half', failsHalfway(world, { phase: 'Pending' }), refuse, refuse, refuse);
    await world.create('half');
    await world.clock.advance(80_000);
    const before = world.provider.took().length;
    world.provider.set('half', { phase: 'Running' });
    await world.clock.advance(10_000);
    expect(world.condition('half', 'Ready')).toBe('True');
    expect([before, world.provider.took()]).toEqual([4, []]);
    // the polls between the attempts are no failures, and each failure has one line
    expect(world.logged.filter((message) => /was not synced|the provider failed/.test(message))).toEqual(
      Array.from({ length: 4 }, () => 'the provider failed; it is called again later'),
    );
  });
});
