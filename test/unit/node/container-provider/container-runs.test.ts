import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { app, ContainerWorld, init, sidecar } from './container-world.ts';

describe('the containers of a pod', () => {
  it('run, and the pod with them', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { containers: [app, { name: 'log', image: 'log:1' }] } });
    expect(world.took()).toEqual(['+app', '+log']);
    expect(world.node.status('web')).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'app' }, { name: 'log' }] });
    expect(world.node.condition('web', 'Ready')).toBe('True');
    expect(world.run('app').pod.metadata.name).toBe('web');
  });

  it.each([
    ['Always', 0, 'Running', true],
    ['Always', 1, 'Running', true],
    ['OnFailure', 0, 'Succeeded', false],
    ['OnFailure', 1, 'Running', true],
    ['Never', 0, 'Succeeded', false],
    ['Never', 3, 'Failed', false],
  ])('with restart policy %s and exit code %i: the pod is %s, and a container runs again: %s', async (restartPolicy, exitCode, phase, again) => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { restartPolicy } });
    await world.exit('app', exitCode);
    await world.node.clock.advance(1000);
    expect(world.took()).toEqual(['+app', '-app', ...(again ? ['+app'] : [])]);
    const [status] = world.node.status('web').containerStatuses ?? [];
    expect(world.node.status('web').phase).toBe(phase);
    expect(status).toMatchObject({ restartCount: again ? 1 : 0 });
    expect((again ? status?.lastState : status?.state)?.terminated).toMatchObject({ exitCode });
  });

  it('wait as long as a kubelet makes them wait, and say so', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    await world.exit('app', 1);
    await world.exit('app', 1);
    await world.node.clock.advance(1000);
    const [status] = world.node.status('web').containerStatuses ?? [];
    expect(status).toMatchObject({ restartCount: 1, ready: false, lastState: { terminated: { exitCode: 1 } } });
    expect(status?.state?.waiting).toMatchObject({
      reason: 'CrashLoopBackOff',
      message: expect.stringContaining('back-off 10s'),
    });
    await world.node.clock.advance(8000);
    expect(world.running).toEqual([]);
    await world.node.clock.advance(1000);
    await world.exit('app', 1);
    await world.node.clock.advance(19_000);
    expect(world.running).toEqual([]);
    await world.node.clock.advance(1000);
    expect(world.node.status('web').containerStatuses).toMatchObject([{ restartCount: 3, state: { running: {} } }]);
  });

  it.each([
    ['rejects', (fail: (error: unknown) => void) => fail(new Error('no such image')), 'no such image'],
    [
      'resolves to no exit code',
      (_: unknown, exit: (code: never) => void) => exit('done' as never),
      'runContainer() resolved to done',
    ],
    ['resolves to a fraction', (_: unknown, exit: (code: never) => void) => exit(1.5 as never), 'which is no exit code'],
  ])('have exit code 128 where the function %s', async (_, end, message) => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { restartPolicy: 'Never' } });
    end(world.run('app').fail, world.run('app').exit as never);
    await settle(20);
    const [status] = world.node.status('web').containerStatuses ?? [];
    expect(status?.state?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining(message),
    });
    expect(world.node.status('web').phase).toBe('Failed');
  });

  it('count on from what an earlier process of the agent has told', async () => {
    await using first = new ContainerWorld();
    await first.node.create('web');
    await first.exit('app', 1);
    await first.node.clock.advance(1000);
    await first.node.stop();
    await using world = new ContainerWorld(first);
    await world.node.clock.advance(15_000);
    expect(world.took()).toEqual(['+app']);
    expect(world.node.status('web').containerStatuses).toMatchObject([{ restartCount: 2, state: { running: {} } }]);
    await world.exit('app', 1);
    await world.node.clock.advance(1000);
    expect(world.node.status('web').containerStatuses).toMatchObject([{ restartCount: 3 }]);
  });

  it.each([
    ['a readiness probe', { readinessProbe: { exec: { command: ['true'] } } }, 'False'],
    ['a startup probe', { startupProbe: { exec: { command: ['true'] } } }, 'False'],
    ['no probe', {}, 'True'],
  ])('are ready when their run says so; before that, with %s: %s', async (_, probes, before) => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { containers: [{ ...app, ...probes }] } });
    expect(world.node.condition('web', 'Ready')).toBe(before);
    const { ready } = world.run('app');
    ready(true);
    await world.node.clock.advance(1000);
    expect(world.node.condition('web', 'Ready')).toBe('True');
    ready(false);
    await world.node.clock.advance(1000);
    expect(world.node.condition('web', 'Ready')).toBe('False');
    await world.exit('app', 1);
    ready(true);
    await world.node.clock.advance(1000);
    expect(world.node.condition('web', 'Ready')).toBe(before);
  });

  it('leave no listener behind, however often they run', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web');
    const first = world.run('app').stop;
    for (let runs = 0; runs < 30; runs += 1) {
      await world.exit('app', 1);
      await world.node.clock.advance(300_000);
    }
    expect(world.run('app').stop).not.toBe(first);
    await world.node.delete('web');
    expect(first.aborted).toBe(false);
    expect(world.run('app').stop.aborted).toBe(true);
  });
});

describe('init containers', () => {
  it('run one after the other, again where they fail, and before the others', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { initContainers: [init('one'), init('two')], containers: [app] } });
    expect(world.took()).toEqual(['+one']);
    expect(world.node.status('web').phase).toBe('Pending');
    await world.exit('one', 1);
    await world.exit('one', 0);
    await world.exit('two', 0);
    expect(world.took()).toEqual(['-one', '+one', '-one', '+two', '-two', '+app']);
    await world.node.clock.advance(1000);
    expect(world.node.status('web').phase).toBe('Running');
    expect(world.node.condition('web', 'Initialized')).toBe('True');
  });

  it('that fail for good fail the pod', async () => {
    await using world = new ContainerWorld();
    await world.node.create('web', { spec: { restartPolicy: 'Never', initContainers: [init('one')], containers: [app] } });
    await world.exit('one', 7);
    expect(world.took()).toEqual(['+one', '-one']);
    expect(world.node.status('web')).toMatchObject({ phase: 'Failed' });
  });

  it('that are sidecars run beside the others, again where they end, and end after them', async () => {
    await using world = new ContainerWorld();
    const spec = {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 5,
      initContainers: [sidecar('side')],
      containers: [app],
    };
    await world.node.create('web', { spec });
    expect(world.took()).toEqual(['+side', '+app']);
    await world.exit('side', 0);
    expect(world.took()).toEqual(['-side', '+side']);
    await world.exit('app', 0);
    expect(world.took()).toEqual(['-app', 'stop side']);
    await world.node.clock.advance(5000);
    expect(world.took()).toEqual(['kill side']);
    await world.exit('side', 137);
    await world.node.clock.advance(1000);
    expect(world.took()).toEqual(['-side']);
    expect(world.node.status('web').phase).toBe('Succeeded');
  });
});

describe('sidecars', () => {
  it('with a startup probe hold back what follows them until they are ready once', async () => {
    await using world = new ContainerWorld();
    const proxy = { ...sidecar('proxy'), startupProbe: { tcpSocket: { port: 80 } } };
    await world.node.create('web', { spec: { initContainers: [proxy, init('setup')], containers: [app] } });
    world.run('proxy').ready(false);
    await world.exit('proxy', 1);
    await world.node.clock.advance(1000);
    expect(world.took()).toEqual(['+proxy', '-proxy', '+proxy']);
    world.run('proxy').ready(true);
    world.run('proxy').ready(false);
    await world.node.clock.advance(1000);
    expect(world.took()).toEqual(['+setup']);
    expect(world.node.status('web').initContainerStatuses).toMatchObject([{ started: true, ready: false }, {}]);
  });

  it('that are never ready hold back nothing of the end of their pod', async () => {
    await using world = new ContainerWorld();
    const proxy = { ...sidecar('proxy'), startupProbe: { tcpSocket: { port: 80 } } };
    await world.node.create('web', { spec: { initContainers: [proxy], containers: [app] } });
    await world.node.delete('web', 10);
    expect(world.took()).toEqual(['+proxy', 'stop proxy']);
    await world.exit('proxy', 0);
    await world.node.clock.advance(5000);
    expect(world.took()).toEqual(['-proxy']);
    expect(world.node.isGone('web')).toBe(true);
  });
});
