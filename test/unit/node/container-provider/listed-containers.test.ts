import { describe, expect, it } from 'vitest';
import type { NodePod, PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import type { GivenContainer } from '../../../../src/node.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { FakePods } from '../provider/listed-pods.ts';
import { ProviderWorld } from '../provider/provider-world.ts';

const running: GivenContainer = { name: 'app', state: 'running' };
const exited: GivenContainer = { name: 'app', state: 'exited', exitCode: 3 };

describe('a provider that answers with its containers', () => {
  it('has a whole status made of them, by the status before and the addresses of the node', async () => {
    const pods = new FakePods([{ ...running, startedAt: Date.UTC(2000, 0, 1) }]);
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    expect(world.status('web')).toMatchObject({
      phase: 'Running',
      hostIP: '192.0.2.1',
      containerStatuses: [{ restartCount: 0 }],
    });
    pods.containers = [exited];
    await world.clock.advance(10_000);
    pods.containers = [{ ...running, startedAt: Date.UTC(2000, 0, 1, 0, 0, 10) }];
    await world.clock.advance(10_000);
    expect(world.status('web').containerStatuses).toMatchObject([
      { restartCount: 1, lastState: { terminated: { exitCode: 3, startedAt: '2000-01-01T00:00:00Z' } } },
    ]);
    expect(world.condition('web', 'Ready')).toBe('True');
  });

  it.each([
    ['a container that the pod does not have', [{ ...running, name: 'other' }], 'containers[0].name'],
    ['a container that cannot be so', [{ name: 'app', state: 'exited' }], 'containers[0].exitCode'],
    ['something else than containers', ['app'], 'containers[0]'],
    ['no container at all', [], 'status'],
  ])('is told of what is refused, and what was known stays: %s', async (_, containers, member) => {
    const pods = new FakePods([running]);
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    pods.containers = containers as never;
    await world.clock.advance(20_000);
    const said =
      'web Warning ProviderStatusFailed: The provider does not say how the pod is: getPodStatus() gave an answer that is refused';
    expect(world.events).toEqual([expect.stringContaining(said)]);
    expect(world.events[0]).toContain(`\`${member}\``);
    expect(world.status('web').phase).toBe('Running');
  });

  it('may say how they ended by the answer of deletePod, where it has forgotten the pod by then', async () => {
    const pods = new FakePods([running]);
    pods.last = [{ ...exited, message: 'killed' }];
    await using world = new ProviderWorld({ provider: pods });
    const told: unknown[] = [];
    world.statusManager.on('podUpdated', ({ status }) => told.push(status.containerStatuses?.[0]?.state));
    await world.create('web');
    await world.delete('web');
    await world.clock.advance(2000);
    expect(world.isGone('web')).toBe(true);
    expect(told.at(-1)).toMatchObject({ terminated: { exitCode: 3, message: 'killed' } });
  });

  it.each([
    ['nothing', undefined, false],
    ['true', true, false],
    ['an answer of its own', { status: 200, data: {} }, false],
    ['an empty list', [], false],
    ['a list that is refused', [{ name: 'other' }], true],
  ])('may resolve deletePod to %s: the pod ends all the same', async (_, last, isLogged) => {
    const pods = new FakePods([running]);
    pods.last = last;
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    await world.delete('web');
    await world.clock.advance(2000);
    expect(world.isGone('web')).toBe(true);
    expect(world.logged.filter((text) => text.includes('a list that is refused'))).toHaveLength(isLogged ? 1 : 0);
    expect(world.events).toEqual([]);
  });

  it.each([
    ['Always', true],
    ['Never', false],
  ])('and leaves one out that ran has one log line, with restartPolicy %s', async (restartPolicy, mayStartAgain) => {
    const side: GivenContainer = { name: 'side', state: 'running' };
    const pods = new FakePods([running, side]);
    await using world = new ProviderWorld({ provider: pods });
    const containers = [running, side].map(({ name }) => ({ name, image: 'a:1' }));
    const { metadata } = await world.create('web', { spec: { restartPolicy, containers } });
    pods.containers = [running];
    await world.clock.advance(60_000);
    const fields = { podNamespace: 'default', podName: 'web', podUID: metadata?.uid, containerName: 'side', mayStartAgain };
    expect(world.lines).toEqual([[fields, 'the provider does not say how a container that ran has ended']]);
    pods.containers = [running, { ...side, id: 'c://2' }];
    await world.clock.advance(20_000);
    pods.containers = [running];
    await world.clock.advance(20_000);
    expect(world.lines).toHaveLength(2);
  });

  it('and whose pod is deleted has no log line for what is no longer listed', async () => {
    const pods = new FakePods([running]);
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    pods.last = [{ ...exited }];
    await world.delete('web');
    await world.clock.advance(60_000);
    expect([world.isGone('web'), world.lines]).toEqual([true, []]);
  });

  it('may list containers of a pod of which the node knows no spec', async () => {
    const pods = new FakePods([running]);
    pods.earlier = [{ metadata: { uid: 'left', name: 'left', namespace: 'default' } }];
    await using world = new ProviderWorld({ provider: pods });
    await world.clock.advance(60_000);
    expect(pods.deleted).toEqual([
      expect.objectContaining({ metadata: expect.objectContaining({ uid: 'left' }), spec: { containers: [] } }),
    ]);
    expect(world.events).toEqual([]);
  });
});

describe('a provider without updatePod', () => {
  it('is asked no more often for a pod that has changed, and the change passes over', async () => {
    const pods = new FakePods([running]);
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    const asked = pods.asked;
    const pod = world.store.get('default', 'web');
    world.store.update({ ...pod, metadata: { ...pod.metadata, labels: { a: 'b' } } });
    await settle(20);
    expect(world.events).toEqual([]);
    expect(pods.asked - asked).toBeLessThan(4);
    expect(world.status('web').phase).toBe('Running');
  });

  it('is accepted, and one whose updatePod is no function is not', () => {
    const provider: PodProvider = { createPod() {}, deletePod() {}, getPodStatus: () => undefined };
    expect(() => new ProviderWorld({ provider: { ...provider, updatePod: 1 } as never })).toThrow('provider.updatePod');
  });
});

describe('the pods that a provider gets', () => {
  it('have a uid, a name, a namespace and a spec', async () => {
    const pods = new FakePods([running]);
    await using world = new ProviderWorld({ provider: pods });
    await world.create('web');
    const [pod]: NodePod[] = pods.created;
    expect([pod?.metadata.uid, pod?.metadata.name, pod?.spec.containers[0]?.name]).toEqual([expect.any(String), 'web', 'app']);
  });
});
