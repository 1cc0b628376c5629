import { describe, expect, it } from 'vitest';
import { formatTime } from '../../../../src/api/json/time.ts';
import type { WirePodStatus } from '../../../../src/api/json/types.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { never, ProviderWorld, refuse } from './provider-world.ts';

const app = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, lastState: {} };

describe('a running pod', () => {
  it('is asked about at an interval, and at once when its provider tells of it', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.set('web', { phase: 'Running', message: 'one' });
    await world.clock.advance(9_999);
    expect(world.status('web').message).toBeUndefined();
    await world.clock.advance(1);
    expect(world.status('web').message).toBe('one');
    world.provider.set('web', { phase: 'Running', message: 'two' });
    world.syncer.notice(world.store.get('default', 'web').metadata?.uid ?? '');
    await settle(20);
    expect(world.status('web').message).toBe('two');
  });

  it('is updated when its labels, annotations or spec change, and not for its status', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    const type = 'application/merge-patch+json';
    world.store.patch('default', 'web', { type, body: { metadata: { labels: { a: 'b' } } } });
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    world.provider.next('updatePod', 'web', refuse);
    world.store.patch('default', 'web', { type, body: { metadata: { annotations: { a: 'b' } } } });
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    expect(world.condition('web', 'Ready')).toBe('True');
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    world.provider.next('updatePod', 'web', refuse, refuse, refuse);
    await world.clock.advance(71_000);
    expect(world.provider.took()).toEqual(['updatePod web', 'updatePod web', 'updatePod web']);
    world.provider.set('web', { phase: 'Running', message: 'alive' });
    await world.clock.advance(10_000);
    expect(world.status('web').message).toBe('alive');
    await world.clock.advance(80_000);
    expect(world.provider.took()).toEqual(['updatePod web']);
    await world.clock.advance(600_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.events).toEqual(['web Warning ProviderUpdateFailed: The provider did not update the pod: no room']);
  });

  it('is updated after a restart when it changed meanwhile', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    await first.stop();
    first.store.patch('default', 'web', { type: 'application/merge-patch+json', body: { metadata: { labels: { a: 'b' } } } });
    first.provider.took();
    const world = await first.restart();
    await world.syncer.pods.list(new AbortController().signal);
    await settle(20);
    expect(world.provider.took()).toEqual(['updatePod web']);
    await world.stop();
  });

  it('keeps its status while its provider does not answer, throws, or answers with something else', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    await world.create('other');
    const before = world.status('web');
    const answers = [
      never,
      refuse,
      () => 'Running',
      () => ({ phase: 'Bogus' }),
      () => ({ phase: 'Unknown' }),
      () => [],
      () => ({ containerStatuses: 7 }),
    ];
    world.provider.next('getPodStatus', 'web', ...answers.map((answer) => () => answer()));
    world.provider.set('other', { phase: 'Running', message: 'alive' });
    await world.clock.advance(10_000);
    expect(world.status('other').message).toBe('alive');
    await world.clock.advance(100_000);
    expect(world.status('web')).toEqual(before);
    expect(world.provider.interferences.get('getPodStatus web')).toEqual([]);
    world.provider.set('web', { phase: 'Running', message: 'back' });
    await world.clock.advance(10_000);
    expect(world.status('web').message).toBe('back');
    expect(world.events.filter((event) => event.includes('ProviderStatusFailed'))).toHaveLength(answers.length);
  });

  it('ends with the phase that its provider gives', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.set('job', { phase: 'Succeeded' });
    await world.clock.advance(10_000);
    expect(world.status('job')).toMatchObject({
      phase: 'Succeeded',
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    });
    expect(world.condition('job', 'Ready')).toBe('False');
    expect(world.provider.took()).toEqual(['createPod job']);
    await world.delete('job');
    await world.clock.advance(5000);
    expect(world.isGone('job')).toBe(true);
    expect(world.provider.took()).toEqual(['deletePod job 1']);
  });

  it('that a finished provider still says to run is not terminal', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.endsAfterMs = 5000;
    const running = { name: 'app', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } };
    world.provider.set('job', { phase: 'Failed', containerStatuses: [running] });
    await world.clock.advance(10_000);
    expect(world.status('job').phase).toBe('Running');
    expect(world.provider.took()).toEqual(['createPod job', 'deletePod job 30']);
    await world.clock.advance(6000);
    expect(world.status('job').phase).toBe('Failed');
  });
});

describe('a pod that its provider has lost', () => {
  it('is created again, with its restart counted, when it may start again', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.lose('web');
    await world.clock.advance(15_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.condition('web', 'Ready')).toBe('True');
    await world.clock.advance(6000);
    expect(world.provider.took()).toEqual(['createPod web']);
    expect(world.status('web')).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 1, ready: true }] });
    expect(world.events).toEqual([expect.stringContaining('ProviderPodLost')]);
  });

  it.each([
    ['Always', 'it is created again', true, {}],
    [
      'Never',
      'restartPolicy Never: it is not started again',
      false,
      { problemKind: 'pod-lost', help: expect.stringContaining('See what became of it where the provider runs its pods') },
    ],
  ])('has one log line and one event that say what follows, with restartPolicy %s', async (...row) => {
    const [restartPolicy, next, createdAgain, problem] = row;
    await using world = new ProviderWorld();
    const { metadata } = await world.create('web', { spec: { restartPolicy } });
    world.provider.lose('web');
    await world.clock.advance(120_000);
    const fields = { podNamespace: 'default', podName: 'web', podUID: metadata?.uid, createdAgain, ...problem };
    expect(world.lines).toEqual([[fields, 'the provider no longer has a pod that ran']]);
    const text = `The provider no longer has the pod, which was not deleted; ${next}`;
    expect(world.events).toEqual([`web Warning ProviderPodLost: ${text}`]);
  });

  it('is not started again by the rules of its containers, and the event says so', async () => {
    await using world = new ProviderWorld();
    await world.create('web', { spec: { containers: [{ name: 'app', image: 'app:1', restartPolicy: 'Never' }] } });
    world.provider.lose('web');
    await world.clock.advance(30_000);
    expect(world.events).toEqual([expect.stringContaining("; the containers' restart rules: it is not started again")]);
  });

  it('has failed when it may not', async () => {
    await using world = new ProviderWorld();
    await world.create('job', { spec: { restartPolicy: 'Never' } });
    world.provider.took();
    world.provider.lose('job');
    await world.clock.advance(25_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.status('job')).toMatchObject({
      phase: 'Failed',
      reason: 'NotFound',
      containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } }],
    });
  });

  it('while the agent was away is not run twice', async () => {
    const first = new ProviderWorld();
    await first.create('job', { spec: { restartPolicy: 'Never' } });
    first.provider.took();
    first.provider.lose('job');
    await using world = await first.restart();
    await world.clock.advance(30_000);
    expect(world.provider.took()).toEqual([]);
    expect(world.status('job').phase).toBe('Failed');
  });

  it('while the agent was away is created again at once where its list says so too, and only then', async () => {
    const first = new ProviderWorld();
    for (const name of ['gone', 'there']) await first.create(name);
    first.provider.lose('gone');
    first.provider.took();
    first.provider.next('getPodStatus', 'there', ...Array.from({ length: 5 }, () => () => undefined));
    await using world = await first.restart({}, true);
    await settle(100);
    expect(world.provider.took()).toEqual(['createPod gone']);
    expect(world.status('gone').containerStatuses).toMatchObject([{ restartCount: 1, state: { running: {} } }]);
    // one that it has just begun, and does not show yet, has its moment
    world.provider.next('getPodStatus', 'new', ...Array.from({ length: 5 }, () => () => undefined));
    await world.create('new');
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual(['createPod new']);
    expect(['there', 'new'].map((name) => world.condition(name, 'Ready'))).toEqual(['True', 'True']);
  });

  it.each<[string, (startedAt: string) => Partial<WirePodStatus>]>([
    ['the phase alone', () => ({})],
    [
      'containers that know of no run before',
      (startedAt) => ({ containerStatuses: [{ ...app, state: { running: { startedAt } } }] }),
    ],
  ])('while the agent was away keeps the end of the run before, where its provider gives %s', async (_, containers) => {
    const first = new ProviderWorld();
    const { clock, provider } = first;
    provider.begin = () => ({ phase: 'Running', ...containers(formatTime(clock.now())) });
    await first.create('web');
    provider.lose('web');
    await clock.advance(5000);
    await using world = await first.restart({}, true);
    await settle(100);
    const startedAt = formatTime(clock.now());
    const again = {
      restartCount: 1,
      state: { running: { startedAt } },
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
    };
    expect(world.status('web').containerStatuses).toMatchObject([again]);
    provider.set('web', { phase: 'Running', ...containers(startedAt), message: 'later' });
    await clock.advance(20_000);
    expect(world.status('web')).toMatchObject({ message: 'later', containerStatuses: [again] });
  });

  it('while the agent was away begins at once, and a pod that is there runs on, whatever missingAfterMs is', async () => {
    const first = new ProviderWorld();
    for (const name of ['gone', 'there']) await first.create(name);
    first.provider.lose('gone');
    first.provider.took();
    const spec = { nodeName: 'node-1', containers: [{ name: 'app', image: 'app:1' }] };
    first.store.create({ metadata: { name: 'new' }, spec });
    await settle(20);
    first.provider.took();
    first.provider.lose('new');
    const before = first.clock.now();
    await using world = await first.restart({ missingAfterMs: 3_600_000 }, true);
    await settle(100);
    expect([world.provider.took().sort(), world.clock.now() - before]).toEqual([['createPod gone', 'createPod new'], 0]);
    expect(['there', 'gone', 'new'].map((name) => world.condition(name, 'Ready'))).toEqual(['True', 'True', 'True']);
  });

  it('while the agent was away is lost at once when a later list lacks it, and one of the list is not', async () => {
    const first = new ProviderWorld();
    for (const name of ['gone', 'there']) await first.create(name);
    first.provider.lose('gone');
    first.provider.took();
    first.provider.next('getPods', '', refuse);
    first.provider.next('getPodStatus', 'there', ...Array.from({ length: 5 }, () => () => undefined));
    await using world = await first.restart({ missingAfterMs: 3_600_000 }, true);
    await world.clock.advance(3000);
    expect(world.provider.took()).toEqual([]);
    await world.syncer.pods.list(new AbortController().signal);
    await world.clock.advance(1000);
    expect(world.provider.took()).toEqual(['createPod gone']);
    expect(world.syncer.pods.hasList).toBe(true);
  });

  it('while the agent was away is waited for where the list could not be read', async () => {
    const first = new ProviderWorld();
    await first.create('web');
    first.provider.lose('web');
    first.provider.took();
    first.provider.next('getPods', '', refuse);
    await using world = await first.restart({}, true);
    await world.clock.advance(9000);
    expect(world.provider.took()).toEqual([]);
    await world.clock.advance(2000);
    expect(world.provider.took()).toEqual(['createPod web']);
  });

  it('for a moment only is as it was', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    world.provider.took();
    world.provider.next('getPodStatus', 'web', ...Array.from({ length: 9 }, () => () => undefined));
    const before = world.status('web');
    await world.clock.advance(60_000);
    expect([world.provider.took(), world.status('web')]).toEqual([[], before]);
  });
});

describe('a pod at rest', () => {
  it('costs no view of its status, however often it is asked about and looked at', async () => {
    await using world = new ProviderWorld();
    await world.create('web');
    let views = 0;
    const { statusManager } = world;
    const getPodStatus = statusManager.getPodStatus.bind(statusManager);
    statusManager.getPodStatus = (podUID) => {
      views += 1;
      return getPodStatus(podUID);
    };
    world.provider.took();
    await world.clock.advance(60_000);
    expect([world.status('web').phase, views]).toEqual(['Running', 0]);
  });
});
