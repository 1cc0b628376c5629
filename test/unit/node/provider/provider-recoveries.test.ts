import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { never, ProviderWorld, refuse } from './provider-world.ts';

const done = 'the provider has done what it failed at before';
const deleted = 'the provider has deleted a pod that it failed to delete before';

function setUp(options: ConstructorParameters<typeof ProviderWorld>[0] = {}) {
  const log = recordedLines();
  return { ...log, world: new ProviderWorld({ logger: log.logger, ...options }) };
}

describe('a provider that does again what it failed at', () => {
  it('has one line for each call, with the failures before it', async () => {
    const { world, saying, of } = setUp();
    await using _ = world;
    world.provider.next('createPod', 'web', refuse, refuse);
    const { metadata } = await world.create('web');
    await world.clock.advance(120_000);
    const names = { podUID: metadata?.uid, podNamespace: 'default', podName: 'web' };
    expect(saying(done).map(({ fields }) => fields)).toEqual([
      { ...names, method: 'createPod', attempt: 2, failingForMs: expect.any(Number) },
    ]);
    world.provider.next('deletePod', 'web', refuse);
    await world.delete('web', 5);
    await world.clock.advance(120_000);
    expect(world.isGone('web')).toBe(true);
    expect(saying(deleted)).toEqual([
      {
        level: 'info',
        message: deleted,
        fields: { ...names, method: 'deletePod', attempt: 1, failingForMs: expect.any(Number) },
      },
    ]);
    expect(of('info')).toEqual([done, deleted]);
  });

  it('has one for a call that had taken too long, and none where all went well', async () => {
    const { world, saying } = setUp({ changeTimeoutMs: 60_000 });
    await using _ = world;
    await world.create('quick');
    const creation = Promise.withResolvers<void>();
    world.provider.next('createPod', 'slow', (act) => creation.promise.then(act));
    await world.create('slow');
    await world.clock.advance(90_000);
    expect(saying(done)).toEqual([]);
    creation.resolve();
    await settle(20);
    expect(saying(done)).toMatchObject([{ fields: { podName: 'slow', method: 'createPod', attempt: 1, failingForMs: 90_000 } }]);
  });

  it('has one where nothing is left of a pod that it had failed to delete', async () => {
    const { world, saying } = setUp();
    await using _ = world;
    await world.create('web');
    world.provider.next('deletePod', 'web', refuse, never);
    await world.delete('web', 5);
    await world.clock.advance(1000);
    world.provider.pods.clear();
    await world.clock.advance(120_000);
    expect([world.isGone('web'), saying(deleted).length]).toEqual([true, 1]);
  });
});
