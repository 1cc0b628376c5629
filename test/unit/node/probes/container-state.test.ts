import { describe, expect, it } from 'vitest';
import { exec, failure, ProbeWorld, podOf, running, started } from './probe-world.ts';

const old = { running: { startedAt: '1999-12-31T23:00:00Z' } };
const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

describe('started and ready of a container', () => {
  it.each<[string, object, object, object, [boolean | undefined, boolean]]>([
    ['without probes', {}, {}, {}, [true, true]],
    ['that does not run', {}, { state: { waiting: {} } }, {}, [false, false]],
    ['that has an unmade readiness probe', { readinessProbe: exec() }, {}, {}, [true, false]],
    ['that has an unmade startup probe', { startupProbe: exec() }, {}, {}, [false, false]],
    ['that had started before', { startupProbe: exec() }, { started: true }, {}, [true, true]],
    ['that is older than the agent, of a ready pod', { readinessProbe: exec() }, { state: old }, ready, [true, true]],
    ['that is older than the agent, of a pod that is not ready', { readinessProbe: exec() }, { state: old }, {}, [true, false]],
    ['that is older than the agent, and has no probe', {}, { state: old }, {}, [true, true]],
  ])('%s', (_, spec, changes, podStatus, expected) => {
    const world = new ProbeWorld();
    world.status = undefined;
    const pod = { ...podOf(spec), status: podStatus };
    world.manager.addPod(pod);
    const status = running(changes);
    const before = structuredClone(status);
    const [container] = world.manager.updatePodStatus(pod, status).containerStatuses ?? [];
    expect([container?.started, container?.ready]).toEqual(expected);
    expect(status).toEqual(before);
    const [given] = status.containerStatuses ?? [];
    expect(given && world.manager.containerState(pod, given)).toEqual({ started: expected[0], ready: expected[1] });
    world.manager.cleanupPods(new Set());
  });

  it.each([
    0, 3_600_000,
  ])('are not those of the pod for a container that began after the clock was set back by %i ms', async (back) => {
    const world = new ProbeWorld();
    const pod = { ...podOf({ readinessProbe: exec({ initialDelaySeconds: 300 }) }), status: ready } as ReturnType<typeof podOf>;
    await world.add(pod);
    world.clock.jump(-back);
    await world.seconds(10);
    const startedAt = new Date(world.clock.now() + 1000).toISOString();
    await world.seconds(60);
    world.status = running({ ...started, containerID: 'x://a1', restartCount: 1, state: { running: { startedAt } } });
    expect(world.manager.updatePodStatus(pod, world.status).containerStatuses?.[0]?.ready).toBe(false);
    await world.seconds(10);
    expect(world.manager.result('readiness', 'x://a1')).toBe('Failure');
    await world.manager.stop();
  });

  it('follow the results of its probes', async () => {
    const world = new ProbeWorld();
    const pod = await world.add(podOf({ readinessProbe: exec({ periodSeconds: 1 }) }));
    const isReady = () => world.manager.updatePodStatus(pod, running(started)).containerStatuses?.[0]?.ready;
    expect(isReady()).toBe(true);
    world.answer = async () => failure;
    await world.seconds(1);
    expect(isReady()).toBe(false);
    // a failure is trusted, also of a container that is older than the agent
    const older = { ...pod, status: ready } as typeof pod;
    expect(world.manager.updatePodStatus(older, running({ state: old })).containerStatuses?.[0]?.ready).toBe(false);
    await world.manager.stop();
  });

  it('are those of init containers, too: ready is one that has ended well, and a sidecar like any other', () => {
    const world = new ProbeWorld();
    const initContainers = [{ name: 'i' }, { name: 'j' }, { name: 's', restartPolicy: 'Always', readinessProbe: exec() }];
    const pod = podOf({}, { initContainers } as object);
    world.status = undefined;
    world.manager.addPod(pod);
    const [one] = running().containerStatuses ?? [];
    const ended = (exitCode: number) => ({ terminated: { exitCode } });
    const statuses = [
      { ...one, name: 'i', state: ended(0) },
      { ...one, name: 'j', state: ended(1) },
      { ...one, name: 's' },
      { ...one, name: 'unknown' },
    ];
    const { initContainerStatuses } = world.manager.updatePodStatus(pod, { initContainerStatuses: statuses } as object);
    expect(initContainerStatuses?.map(({ started, ready: isReady }) => [started, isReady])).toEqual([
      [false, true],
      [false, false],
      [true, false],
      [true, false],
    ]);
    const asked = statuses.slice(0, 3).map((status) => world.manager.containerState(pod, status as never));
    expect(asked.map(({ started, ready: isReady }) => [started, isReady])).toEqual([
      [false, true],
      [false, false],
      [true, false],
    ]);
    const busy = { ...one, name: 'i' } as never;
    expect(world.manager.containerState(pod, busy)).toEqual({ started: true, ready: false });
    world.manager.cleanupPods(new Set());
  });
});

describe('a sidecar with a startup probe', () => {
  it('that has started counts as started before its first probe', async () => {
    const world = new ProbeWorld();
    const initContainers = [{ name: 's', restartPolicy: 'Always', startupProbe: exec() }];
    const { containerStatuses } = running({ ...started, name: 's', state: old });
    world.status = running({}, { initContainerStatuses: containerStatuses });
    await world.add(podOf({}, { initContainers } as object));
    expect([world.results, world.times]).toEqual([['startup Success'], []]);
    await world.manager.stop();
  });
});
