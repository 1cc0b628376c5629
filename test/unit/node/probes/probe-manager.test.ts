import { describe, expect, it } from 'vitest';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { exec, failure, ProbeWorld, podOf, running, started, success } from './probe-world.ts';

describe('when a probe is made', () => {
  it('at once, then once a period', async () => {
    const world = new ProbeWorld();
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 5 }) }));
    await world.seconds(11);
    expect(world.times).toEqual([0, 5, 10]);
    await world.manager.stop();
  });

  it('after a random part of its period while the agent is younger than that', async () => {
    const world = new ProbeWorld({ agentStartedAt: Date.UTC(2000, 0, 1, 0, 1, 40), random: () => 0.25 });
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 8 }) }));
    await world.seconds(11);
    expect(world.times).toEqual([2, 10]);
    await world.manager.stop();
  });

  it('not before the initial delay, counted from the start of the container', async () => {
    const world = new ProbeWorld();
    world.status = running({ ...started, state: { running: { startedAt: '2000-01-01T00:01:40Z' } } });
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 5, initialDelaySeconds: 7 }) }));
    await world.seconds(11);
    expect(world.times).toEqual([10]);
    await world.manager.stop();
  });

  it.each([
    [0, [0, 5, 10]],
    [7, [10]],
  ])('of a container that began in the future with a delay of %i s, counted from when it was seen', async (delay, times) => {
    const world = new ProbeWorld();
    world.status = running({ ...started, state: { running: { startedAt: '2000-01-01T01:00:00Z' } } });
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5, initialDelaySeconds: delay }) }));
    await world.seconds(11);
    expect(world.times).toEqual(times);
    await world.manager.stop();
  });

  it('after its delay once, wherever the wall clock is set, and once more where the container begins anew', async () => {
    const world = new ProbeWorld();
    world.status = running({ ...started, state: { running: { startedAt: '2000-01-01T00:00:00Z' } } });
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5, initialDelaySeconds: 7 }) }));
    await world.seconds(1);
    world.clock.jump(-3_600_000);
    world.calls.length = 0;
    await world.seconds(20);
    // looked at after 5 s, 10 s, 15 s and 20 s
    expect(world.calls).toHaveLength(4);
    world.status = running({ ...started, state: { running: { startedAt: '2000-01-01T02:00:00Z' } } });
    await world.seconds(10);
    expect(world.calls).toHaveLength(4);
    await world.seconds(5);
    expect(world.calls).toHaveLength(5);
    await world.manager.stop();
  });

  it('no sooner than its delay says where the wall clock is set forward', async () => {
    const world = new ProbeWorld();
    const startedAt = new Date(world.clock.now()).toISOString();
    world.status = running({ ...started, state: { running: { startedAt } } });
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5, initialDelaySeconds: 12 }) }));
    await world.seconds(1);
    world.clock.jump(3_600_000);
    await world.seconds(10);
    expect(world.calls).toHaveLength(0);
    await world.seconds(5);
    expect(world.calls).toHaveLength(1);
    await world.manager.stop();
  });

  it('with the defaults of the apiserver where the spec says nothing', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    await world.add(podOf({ livenessProbe: { exec: { command: ['check'] }, periodSeconds: 0 } }));
    await world.seconds(21);
    expect(world.times).toEqual([0, 10, 20]);
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    expect(world.calls[0]?.target.timeoutSeconds).toBe(1);
    await world.manager.stop();
  });

  it('for liveness and readiness not before the container has started, for startup only before', async () => {
    const world = new ProbeWorld();
    world.status = running({ started: false });
    world.answer = async () => failure;
    const probe = (type: string) => exec({ exec: { command: [type] }, failureThreshold: 9 });
    await world.add(podOf({ livenessProbe: probe('l'), readinessProbe: probe('r'), startupProbe: probe('s') }));
    await world.seconds(11);
    const commands = () => world.calls.splice(0).map(({ target }) => 'command' in target && target.command[0]);
    expect(commands()).toEqual(['s', 's']);
    world.status = running(started);
    await world.seconds(10);
    expect(commands().sort()).toEqual(['l', 'r']);
    await world.manager.stop();
  });

  it('never while the probe before is under way, then at once when one was due, and only one', async () => {
    const world = new ProbeWorld();
    const first = Promise.withResolvers<unknown>();
    world.answer = () => (world.calls.length === 1 ? first.promise : Promise.resolve(success));
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 2, timeoutSeconds: 60 }) }));
    await world.seconds(7);
    expect(world.times).toEqual([0]);
    first.resolve(success);
    await settle();
    expect(world.times).toEqual([0, 7]);
    await world.seconds(1);
    expect(world.times).toEqual([0, 7, 8]);
    await world.manager.stop();
  });

  it('of a container that is not ready, when its status is asked for; its period begins anew', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    const pod = await world.add(podOf({ readinessProbe: exec() }));
    await world.seconds(4);
    world.manager.updatePodStatus(pod, running(started));
    world.manager.updatePodStatus(pod, running(started));
    expect(world.times).toEqual([0]);
    await world.seconds(11);
    expect(world.times).toEqual([0, 4, 14]);
    await world.manager.stop();
  });

  it('for no pod that has no status, no container id, or has come to its end', async () => {
    const world = new ProbeWorld();
    world.status = undefined;
    await world.add(podOf({ readinessProbe: exec() }));
    await world.seconds(11);
    world.status = running({ ...started, containerID: undefined });
    await world.seconds(10);
    world.status = running(started, { phase: 'Succeeded' });
    await world.seconds(10);
    expect(world.clock.pendingTimers).toBe(0);
    world.status = running(started);
    await world.seconds(30);
    expect(world.times).toEqual([]);
    await world.manager.stop();
  });
});

describe('what a probe says', () => {
  it('counts from its threshold on, and each type begins with its own word', async () => {
    const world = new ProbeWorld();
    const answers = [failure, failure, success, success, failure, success, failure, failure, failure];
    world.answer = async () => answers[world.calls.length - 1];
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 1, failureThreshold: 3, successThreshold: 2 }) }));
    await world.seconds(2.5);
    expect(world.results).toEqual(['readiness Failure']);
    await world.seconds(1);
    expect(world.results).toEqual(['readiness Failure', 'readiness Success']);
    await world.seconds(5);
    expect(world.results).toEqual(['readiness Failure', 'readiness Success', 'readiness Failure']);
    expect(world.told).toEqual([
      ['ready', 'u1', 'x://a0', false],
      ['ready', 'u1', 'x://a0', true],
      ['ready', 'u1', 'x://a0', false],
    ]);
    await world.manager.stop();
  });

  it('ends the probes of liveness after a failure, and of startup after any result, until there is another container', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 1 }) }));
    await world.seconds(5);
    expect(world.times).toEqual([0]);
    expect(world.manager.result('liveness', 'x://a0')).toBe('Failure');
    world.status = running({ ...started, containerID: 'x://a1' });
    await world.seconds(1);
    expect(world.calls.at(-1)?.target.containerID).toBe('x://a1');
    expect(world.manager.result('liveness', 'x://a0')).toBeUndefined();
    expect(world.updates).toEqual([
      { type: 'liveness', podUID: 'u1', containerID: 'x://a0', result: 'Success', needsSync: false },
      { type: 'liveness', podUID: 'u1', containerID: 'x://a0', result: 'Failure', needsSync: true },
      { type: 'liveness', podUID: 'u1', containerID: 'x://a1', result: 'Success', needsSync: false },
      { type: 'liveness', podUID: 'u1', containerID: 'x://a1', result: 'Failure', needsSync: true },
    ]);
    await world.manager.stop();
  });

  it('of startup goes to the status manager as started', async () => {
    const world = new ProbeWorld();
    world.status = running({ started: false });
    await world.add(podOf({ startupProbe: exec({ periodSeconds: 1 }) }));
    await world.seconds(5);
    expect(world.times).toEqual([0]);
    expect(world.told).toEqual([
      ['started', 'u1', 'x://a0', false],
      ['started', 'u1', 'x://a0', true],
    ]);
    expect(world.updates.map(({ result, needsSync }) => [result, needsSync])).toEqual([
      ['Unknown', true],
      ['Success', true],
    ]);
    await world.manager.stop();
  });

  it('of a container that does not run is a failure; the probe ends with a container that may not run again', async () => {
    const world = new ProbeWorld();
    const pod = podOf({ readinessProbe: exec() }, { restartPolicy: 'OnFailure' });
    await world.add(pod);
    expect(world.manager.result('readiness', 'x://a0')).toBe('Success');
    world.status = running({ state: { terminated: { exitCode: 1 } } });
    await world.seconds(10);
    expect(world.manager.result('readiness', 'x://a0')).toBe('Failure');
    expect(world.clock.pendingTimers).toBe(1);
    world.status = running({ state: { terminated: { exitCode: 0 } } });
    await world.seconds(10);
    expect(world.manager.result('readiness', 'x://a0')).toBeUndefined();
    expect([world.times, world.clock.pendingTimers]).toEqual([[0], 0]);
  });

  it('goes on with a container whose rules restart all containers', async () => {
    const restartPolicyRules = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [3] } }];
    const world = new ProbeWorld();
    const other = { name: 'b', restartPolicy: 'Never', restartPolicyRules };
    const containers = [{ name: 'a', readinessProbe: exec() }, other];
    await world.add(podOf({}, { restartPolicy: 'Never', containers } as object));
    const { containerStatuses = [] } = running({ state: { terminated: { exitCode: 0 } } });
    const ended = { ...containerStatuses[0], name: 'b', state: { terminated: { exitCode: 3 } } };
    world.status = running(started, { containerStatuses: [...containerStatuses, ended] });
    await world.seconds(10);
    expect(world.clock.pendingTimers).toBe(1);
    await world.manager.stop();
  });

  it('of a pod that is being deleted is a last success, but for readiness', async () => {
    const world = new ProbeWorld();
    const pod = podOf({ livenessProbe: exec(), readinessProbe: exec() });
    await world.add({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2000-01-01T00:03:00Z' } });
    await world.seconds(11);
    expect(world.times).toEqual([0, 10]);
    expect(world.results).toEqual(['readiness Failure', 'liveness Success', 'readiness Success']);
    await world.manager.stop();
  });

  it('is an event where it is a failure, a warning or an error, with the container it is about', async () => {
    const world = new ProbeWorld();
    const answers: unknown[] = [
      failure,
      { result: 'warning', output: 'elsewhere' },
      { result: 'unknown' },
      ...[1, 2, 3].map(() => ({ result: 'failure', error: new Error('unexpected EOF') })),
      success,
    ];
    world.answer = async () => answers[world.calls.length - 1];
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 1 }) }));
    await world.seconds(4);
    expect(world.events).toEqual([
      'p spec.containers{a}: Warning Unhealthy Readiness probe failed: bad',
      'p spec.containers{a}: Warning ProbeWarning Readiness probe warning: elsewhere',
      'p spec.containers{a}: Warning Unhealthy Readiness probe errored and resulted in failure state: unexpected EOF',
    ]);
    expect(world.times).toEqual([0, 1, 2, 3, 3, 3, 4]);
    expect(world.results).toEqual(['readiness Failure', 'readiness Success', 'readiness Failure', 'readiness Success']);
    await world.manager.stop();
  });

  it('of a sidecar names it among the init containers', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    const initContainers = [{ name: 's', restartPolicy: 'Always', livenessProbe: exec() }];
    const { containerStatuses } = running({ ...started, name: 's' });
    world.status = running({}, { initContainerStatuses: containerStatuses });
    await world.add(podOf({}, { initContainers } as object));
    expect(world.events).toEqual(['p spec.initContainers{s}: Warning Unhealthy Liveness probe failed: bad']);
    await world.manager.stop();
  });
});

describe('the arguments and options of a probe manager', () => {
  it.each([
    [() => new ProbeWorld({ handlers: { failed: () => {} } as object }), 'ERR_INVALID_OPTION'],
    [() => new ProbeWorld({ prober: { exec: () => {} } as never }), 'ERR_INVALID_OPTION'],
    [() => new ProbeWorld({ statusManager: {} as never }), 'ERR_INVALID_OPTION'],
    [() => new ProbeWorld({ agentStartedAt: Number.NaN }), 'ERR_INVALID_OPTION'],
    [() => new ProbeWorld({ period: 1 } as object), 'ERR_INVALID_OPTION'],
    [() => new ProbeWorld().manager.addPod({} as never), 'ERR_INVALID_ARGUMENT'],
    [() => new ProbeWorld().manager.removePod(null as never), 'ERR_INVALID_ARGUMENT'],
    [() => new ProbeWorld().manager.cleanupPods([] as never), 'ERR_INVALID_ARGUMENT'],
    [() => new ProbeWorld().manager.result('other' as never, 'x://a0'), 'ERR_INVALID_ARGUMENT'],
    [() => new ProbeWorld().manager.updatePodStatus(podOf({}), null as never), 'ERR_INVALID_ARGUMENT'],
  ])('are checked: %s', (act, code) => {
    expect(act).toThrow(expect.objectContaining({ code }));
  });
});

describe('commands that their variables make large', () => {
  it('are made one at a time of a pod, and when it is their turn; no other pod waits', async () => {
    const world = new ProbeWorld();
    world.answer = (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(failure)));
    const probe = exec({ exec: { command: ['$(A)'] }, timeoutSeconds: 3 });
    const large = { env: [{ name: 'A', value: 'x'.repeat(5000) }], livenessProbe: probe, readinessProbe: probe };
    const calls = () => world.calls.map(({ target }) => target.podUID);
    await world.add(podOf(large));
    expect(calls()).toEqual(['u1']);
    await world.add(podOf(large, {}, 'u2'));
    expect(calls()).toEqual(['u1', 'u2']);
    await world.add(podOf({ ...large, env: [{ name: 'A', value: 'x' }] }, {}, 'u3'));
    expect(calls()).toEqual(['u1', 'u2', 'u3', 'u3']);
    await world.seconds(4);
    expect(calls().slice(4)).toEqual(['u1', 'u2']);
    await world.manager.stop();
  });
});
