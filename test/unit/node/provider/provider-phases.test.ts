import { describe, expect, it } from 'vitest';
import { ProviderWorld } from './provider-world.ts';

const init = { initContainers: [{ name: 'first', image: 'a' }] };
const completed = [{ name: 'first', state: { terminated: { exitCode: 0 } } }];

describe('a provider that gives the phase alone', () => {
  it.each([
    'Never',
    'OnFailure',
    'Always',
  ])('and whose phase goes back is believed, with restartPolicy %s', async (restartPolicy) => {
    await using world = new ProviderWorld();
    await world.create('jump', { spec: { restartPolicy, ...init } });
    expect(world.condition('jump', 'Ready')).toBe('True');
    world.provider.set('jump', { phase: 'Pending' });
    await world.clock.advance(20_000);
    expect(world.status('jump')).toMatchObject({ phase: 'Pending', initContainerStatuses: completed });
    expect(world.condition('jump', 'Ready')).toBe('False');
    expect(world.condition('jump', 'Initialized')).toBe('True');
    world.provider.set('jump', { phase: 'Running' });
    await world.clock.advance(20_000);
    expect(world.condition('jump', 'Ready')).toBe('True');
    expect(world.logged.filter((message) => message.includes('refused'))).toEqual([]);
  });

  it('after it told how a container has ended does not start that one again', async () => {
    await using world = new ProviderWorld();
    const app = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
    const side = { ...app, name: 'side', ready: false, state: { terminated: { exitCode: 0 } } };
    const containers = [
      { name: 'app', image: 'a' },
      { name: 'side', image: 'a' },
    ];
    world.provider.begin = () => ({ phase: 'Running', containerStatuses: [app, side] });
    await world.create('two', { spec: { restartPolicy: 'OnFailure', containers } });
    world.provider.set('two', { phase: 'Running', message: 'short' });
    await world.clock.advance(10_000);
    expect(world.status('two')).toMatchObject({
      message: 'short',
      containerStatuses: [{ state: { running: {} } }, { state: side.state }],
    });
  });
});

describe('a lost pod whose init container has completed', () => {
  it('is not ready while it waits for its creation', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'OnFailure', ...init } });
    world.provider.lose('job');
    world.provider.next('createPod', 'job', ...Array.from({ length: 9 }, () => () => Promise.reject(new Error('no room'))));
    await world.clock.advance(30_000);
    expect(world.status('job')).toMatchObject({
      containerStatuses: [{ state: { waiting: { reason: 'ProviderCreateFailed' } } }],
    });
    expect(world.condition('job', 'Ready')).toBe('False');
    expect(world.logged.filter((message) => message.includes('refused'))).toEqual([]);
  });
});
