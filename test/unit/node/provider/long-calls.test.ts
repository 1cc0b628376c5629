import { describe, expect, it } from 'vitest';
import { never, ProviderWorld } from './provider-world.ts';

const message = 'a call of the provider is still under way';
const told = (world: ProviderWorld): object[] => world.infos.flatMap(([fields, text]) => (text === message ? fields : []));

/** A world with the pod `web`, what its record says is under way, and the pod's names. */
async function worldWith(options: ConstructorParameters<typeof ProviderWorld>[0] = {}) {
  const world = new ProviderWorld(options);
  const names = (): object => ({ podUID: uid(), podNamespace: 'default', podName: 'web' });
  const uid = (): string => world.store.get('default', 'web').metadata?.uid ?? '';
  const underWay = () => world.syncer.pods.find(uid())?.underWay;
  return { world, names, underWay, [Symbol.asyncDispose]: () => world.stop() };
}

describe('a call of the provider that takes long', () => {
  it('is told of once, after half a minute: createPod', async () => {
    await using made = await worldWith();
    const { world } = made;
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', (act) => creation.promise.then(act));
    await world.create('web');
    const since = world.clock.now();
    expect(made.underWay()).toEqual({ method: 'createPod', since });
    await world.clock.advance(29_000);
    expect(told(world)).toEqual([]);
    await world.clock.advance(200_000);
    expect(told(world)).toEqual([{ ...made.names(), method: 'createPod', underWayMs: 30_000 }]);
    expect([made.underWay(), world.lines]).toEqual([{ method: 'createPod', since }, []]);
    creation.resolve();
    await world.clock.advance(200_000);
    expect([made.underWay(), told(world).length]).toEqual([undefined, 1]);
  });

  it('is told of once: deletePod, and a createPod that does not heed its end', async () => {
    await using made = await worldWith();
    const { world } = made;
    world.provider.next('createPod', 'web', never);
    world.provider.next('deletePod', 'web', never);
    await world.create('web');
    await world.clock.advance(10_000);
    await world.delete('web', 60);
    await world.clock.advance(25_000);
    expect(told(world)).toEqual([{ ...made.names(), method: 'createPod', underWayMs: 30_000 }]);
    await world.clock.advance(40_000);
    expect(made.underWay()?.method).toBe('deletePod');
    await world.clock.advance(25_000);
    expect(told(world).at(-1)).toEqual({ ...made.names(), method: 'deletePod', underWayMs: 30_000 });
  });

  it('is told of where its limit is longer, else as of a failure: getPodStatus', async () => {
    await using made = await worldWith({ callTimeoutMs: 90_000 });
    const { world } = made;
    world.provider.next('getPodStatus', 'web', never);
    await world.create('web');
    expect(made.underWay()).toEqual({ method: 'getPodStatus', since: world.clock.now() });
    await world.clock.advance(80_000);
    expect(told(world)).toEqual([{ ...made.names(), method: 'getPodStatus', underWayMs: 30_000 }]);
    await using short = await worldWith();
    short.world.provider.next('getPodStatus', 'web', never);
    await short.world.create('web');
    await short.world.clock.advance(35_000);
    expect([told(short.world), short.world.events.length]).toEqual([[], 1]);
  });

  it('is not told of once it has settled, or the node has stopped, and leaves no timer', async () => {
    await using made = await worldWith();
    const { world } = made;
    await world.create('web');
    world.provider.next('createPod', 'slow', never);
    await world.create('slow');
    await world.stop();
    expect(world.clock.pendingTimers).toBe(0);
    await world.clock.advance(100_000);
    expect(told(world)).toEqual([]);
  });
});
