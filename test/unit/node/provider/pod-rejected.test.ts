import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../../../src/base/errors.ts';
import { PodRejectedError, rejectionOf } from '../../../../src/node/provider/pod-rejected-error.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { ProviderWorld, refuse } from './provider-world.ts';

const reject = () => Promise.reject(new PodRejectedError('NoSuchFlavor', 'no machine has 8 GPUs'));
const failed = { phase: 'Failed', reason: 'NoSuchFlavor', message: 'Pod was rejected: no machine has 8 GPUs' };

describe('a pod that its provider will never run', () => {
  it.each(['Always', 'Never'])('is Failed with the reason, and not tried again (restartPolicy %s)', async (restartPolicy) => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', reject);
    await world.create('web', { spec: { restartPolicy } });
    await world.clock.advance(3000);
    expect(world.status('web')).toMatchObject(failed);
    expect(world.condition('web', 'Ready')).toBe('False');
    expect(world.events).toEqual(['web Warning NoSuchFlavor: no machine has 8 GPUs']);
    expect(world.provider.took()).toEqual(['createPod web', 'deletePod web 30']);
    await world.clock.advance(600_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.status('web')).toMatchObject(failed);
    await world.delete('web');
    await world.clock.advance(5000);
    expect(world.isGone('web')).toBe(true);
  });

  it('leaves nothing of what createPod has begun, and what the provider says of that changes nothing', async () => {
    await using world = new ProviderWorld();
    world.provider.begin = () => ({ phase: 'Pending', message: 'half a machine' });
    world.provider.next('createPod', 'web', (act) => {
      act();
      return reject();
    });
    await world.create('web');
    await world.clock.advance(1000);
    expect(world.status('web')).toMatchObject(failed);
    await world.clock.advance(5000);
    expect([world.provider.pods.size, world.status('web')]).toEqual([0, expect.objectContaining(failed)]);
  });

  it('is deleted again where that fails, and stays Failed meanwhile', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', refuse, (act) => {
      act();
      return reject();
    });
    world.provider.next('deletePod', 'web', refuse, refuse);
    await world.create('web');
    await world.clock.advance(120_000);
    expect(world.provider.took()).toEqual(['createPod web', 'createPod web', ...Array(3).fill('deletePod web 30')]);
    expect(world.status('web')).toMatchObject(failed);
  });

  it('is Failed also where createPod takes its time, and too much time', async () => {
    await using world = new ProviderWorld({ changeTimeoutMs: 10_000 });
    for (const name of ['slow', 'late']) {
      const answer = Promise.withResolvers<void>();
      world.provider.next('createPod', name, () => answer.promise);
      await world.create(name);
      await world.clock.advance(name === 'slow' ? 5000 : 20_000);
      answer.reject(new PodRejectedError('NoSuchFlavor', 'no machine has 8 GPUs'));
      await settle(50);
      await world.clock.advance(1000);
      expect(world.status(name)).toMatchObject(failed);
    }
  });

  it('goes without a word where it was deleted before', async () => {
    await using world = new ProviderWorld();
    const answer = Promise.withResolvers<void>();
    world.provider.next('createPod', 'web', () => answer.promise);
    await world.create('web');
    await world.delete('web', 5);
    answer.reject(new PodRejectedError('NoSuchFlavor', 'no'));
    await world.clock.advance(10_000);
    expect([world.isGone('web'), world.events]).toEqual([true, []]);
  });

  it('may run as another pod of its name', async () => {
    await using world = new ProviderWorld();
    world.provider.next('createPod', 'web', reject);
    await world.create('web');
    await world.clock.advance(3000);
    await world.delete('web');
    await world.clock.advance(3000);
    await world.create('web');
    expect(world.condition('web', 'Ready')).toBe('True');
  });
});

it('what updatePod throws is a failure like others: the pod runs on', async () => {
  await using world = new ProviderWorld();
  await world.create('web');
  world.provider.next('updatePod', 'web', reject);
  world.store.patch('default', 'web', { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
  await settle(20);
  await world.clock.advance(30_000);
  expect(world.provider.took()).toEqual(['createPod web', 'updatePod web', 'updatePod web']);
  expect(world.condition('web', 'Ready')).toBe('True');
});

describe('the error', () => {
  it('counts from another copy of the package, and is bounded', () => {
    const foreign = Object.assign(new Error('m'.repeat(10_000)), { code: 'ERR_POD_REJECTED', reason: 'R'.repeat(1000) });
    const rejection = rejectionOf(foreign);
    expect([rejection?.reason.length, rejection?.message.length]).toEqual([128, 500]);
    expect(errorCodes.ERR_POD_REJECTED).toContain('never run');
  });

  it.each([
    ['no error', { code: 'ERR_POD_REJECTED', reason: 'A' }],
    ['another code', Object.assign(new Error('a'), { code: 'ERR_API', reason: 'A' })],
    ['no reason', Object.assign(new Error('a'), { code: 'ERR_POD_REJECTED' })],
    ['an empty reason', Object.assign(new Error('a'), { code: 'ERR_POD_REJECTED', reason: '' })],
    [
      'a getter that throws',
      Object.defineProperty(new Error('a'), 'code', {
        get() {
          throw new Error('no');
        },
      }),
    ],
  ])('is not %s', (_, error) => {
    expect(rejectionOf(error)).toBeUndefined();
  });

  it('needs a reason', () => {
    expect(() => new PodRejectedError('', 'm')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
    expect(() => new PodRejectedError(5 as never, 'm')).toThrow('reason');
  });
});
