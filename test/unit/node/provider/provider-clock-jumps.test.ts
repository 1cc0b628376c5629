import { describe, expect, it } from 'vitest';
import { ProviderWorld } from './provider-world.ts';

const hour = 3_600_000;
const refuse = () => Promise.reject(new Error('no room'));

describe.each([
  ['forward', hour],
  ['back', -hour],
])('a wall clock that is set %s by an hour', (_, jumpMs) => {
  it('neither delays nor hastens the next createPod', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', refuse);
    await world.create('web');
    world.provider.took();
    world.clock.jump(jumpMs);
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('neither loses a pod that is missing for a moment, nor keeps a lost one', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.lose('web');
    await world.clock.advance(11_000);
    world.clock.jump(jumpMs);
    await world.clock.advance(8000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(3000);
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('changes nothing of the grace period for a creation that does not end, and of the patience after it', async () => {
    await using world = new ProviderWorld();
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', () => creation.promise);
    await world.create('web');
    world.provider.took();
    await world.delete('web', 20);
    world.clock.jump(jumpMs);
    await world.clock.advance(19_000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['deletePod web 20']);
    world.clock.jump(jumpMs);
    await world.clock.advance(48_000);
    expect(world.isGone('web')).toBe(false);
    await world.clock.advance(3000);
    expect(world.isGone('web')).toBe(true);
  });

  it('neither delays nor hastens the next deletePod', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.next('deletePod', 'web', refuse);
    await world.delete('web', 30);
    expect(world.provider.took()).toEqual(['deletePod web 30']);
    world.clock.jump(jumpMs);
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['deletePod web 30']);
  });

  it('lets no provider be asked for its list sooner or later', async () => {
    await using world = new ProviderWorld();
    let lists = 0;
    world.provider.getPods = async () => {
      lists += 1;
      return [];
    };
    await world.clock.advance(5000);
    expect(lists).toBe(1);
    world.clock.jump(jumpMs);
    await world.clock.advance(20_000);
    expect(lists).toBe(1);
    await world.clock.advance(10_000);
    expect(lists).toBe(2);
  });

  it('neither floods nor starves the sync loop with notices of a pod', async () => {
    await using world = new ProviderWorld();
    const { metadata } = await world.create('web');
    const asked = (): number => world.provider.questions.get('web') ?? 0;
    for (let i = 0; i < 20; i++) {
      world.syncer.notice(metadata?.uid ?? '');
      await world.clock.advance(10);
    }
    world.clock.jump(jumpMs);
    const before = asked();
    for (let i = 0; i < 100; i++) {
      world.syncer.notice(metadata?.uid ?? '');
      await world.clock.advance(10);
    }
    expect(asked() - before).toBeGreaterThanOrEqual(9);
    expect(asked() - before).toBeLessThanOrEqual(11);
  });
});
