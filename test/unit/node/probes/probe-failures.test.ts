import { describe, expect, it } from 'vitest';
import { safeClock } from '../../../../src/base/clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { unhandledRejectionsOf } from '../../../support/unhandled-rejections.ts';
import { exec, failure, ProbeWorld, podOf, running, started, success } from './probe-world.ts';

const mistake = (): never => {
  throw new Error('mistake');
};

describe('a prober that fails', () => {
  it.each<[string, () => unknown]>([
    ['throws', mistake],
    ['rejects', () => Promise.reject(new Error('mistake'))],
  ])('and %s is asked three times, and leaves the last result', async (_, answer) => {
    const world = new ProbeWorld();
    await world.add(podOf({ readinessProbe: exec() }));
    world.answer = answer;
    expect(await unhandledRejectionsOf(() => world.seconds(10))).toEqual([]);
    expect(world.times).toEqual([0, 10, 10, 10]);
    expect(world.manager.result('readiness', 'x://a0')).toBe('Success');
    const text = 'Warning Unhealthy Readiness probe errored and resulted in unknown state: mistake';
    expect(world.events).toEqual([`p spec.containers{a}: ${text}`]);
    await world.manager.stop();
  });

  it.each<[string, () => unknown, number]>([
    ['fails as often as its threshold says', async () => failure, 3],
    ['could not be made', mistake, 3],
  ])('and %s has one line once it succeeds again', async (_, answer, attempt) => {
    const { logger, saying } = recordedLines();
    const world = new ProbeWorld({ logger });
    await world.add(podOf({ readinessProbe: exec({ failureThreshold: 3 }) }));
    world.answer = answer;
    await world.seconds(30);
    world.answer = async () => success;
    await world.seconds(30);
    const fields = { podUID: 'u1', podNamespace: 'd', podName: 'p', containerName: 'a', probe: 'readiness' };
    expect(saying('a probe of a container succeeds again')).toEqual([
      { level: 'info', message: expect.any(String), fields: { ...fields, attempt, failingForMs: 30_000 } },
    ]);
    await world.manager.stop();
  });

  it('and fails less often than its threshold says has no line', async () => {
    const { logger, of } = recordedLines();
    const world = new ProbeWorld({ logger });
    await world.add(podOf({ readinessProbe: exec({ failureThreshold: 3 }) }));
    world.answer = async () => failure;
    await world.seconds(20);
    world.answer = async () => success;
    await world.seconds(30);
    expect(of('info', 'warn', 'error')).toEqual([]);
    await world.manager.stop();
  });

  it.each([
    [undefined],
    [null],
    [true],
    ['success'],
    [{}],
    [{ result: 'fine' }],
    [{ result: 'success', output: 7 }],
  ])('and answers something else has a failed probe: %o', async (answer) => {
    const world = new ProbeWorld();
    world.answer = async () => answer;
    await world.add(podOf({ livenessProbe: exec() }));
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    expect(world.events).toHaveLength(1);
    await world.manager.stop();
  });

  it('and answers what throws when it is read has a failed probe', async () => {
    const world = new ProbeWorld();
    world.answer = async () => Object.defineProperty({}, 'result', { get: mistake });
    await world.add(podOf({ livenessProbe: exec() }));
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    await world.manager.stop();
  });

  it('and never settles has failed when the time is over, and is not asked again for this container', async () => {
    const world = new ProbeWorld();
    world.answer = () => new Promise(() => {});
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 2 }) }));
    await world.seconds(1.9);
    expect(world.calls[0]?.signal.aborted).toBe(false);
    await world.seconds(0.1);
    expect(world.calls[0]?.signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(world.results).toEqual(['liveness Success']);
    await world.seconds(4);
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    expect(world.events).toEqual([
      'p spec.containers{a}: Warning Unhealthy Liveness probe failed: command timed out: "check" timed out after 2s',
      'p spec.containers{a}: Warning Unhealthy Liveness probe failed: the probe before has not ended within 2s',
    ]);
    world.status = running({ ...started, containerID: 'x://a1' });
    await world.seconds(5);
    expect(world.calls.map(({ target }) => target.containerID)).toEqual(['x://a0', 'x://a1']);
    expect(world.mostAtOnce).toBe(1);
    await Promise.all([world.manager.stop(), world.seconds(1)]);
  });

  it('is waited for when it counts the time of commands itself, as it has to start them first', async () => {
    const world = new ProbeWorld({}, { timesExec: true });
    const slow = Promise.withResolvers<unknown>();
    world.answer = () => slow.promise;
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 2 }) }));
    await world.seconds(5);
    expect(world.calls[0]?.signal.aborted).toBe(false);
    slow.resolve(success);
    await world.seconds(0.1);
    expect([world.results, world.events]).toEqual([['readiness Failure', 'readiness Success'], []]);
    await world.manager.stop();
  });

  it('counts the time of commands itself, and never settles, has failed two minutes later', async () => {
    const world = new ProbeWorld({}, { timesExec: true });
    world.answer = () => new Promise(() => {});
    await world.add(podOf({ livenessProbe: exec({ periodSeconds: 10, timeoutSeconds: 2 }) }));
    await world.seconds(121.9);
    expect(world.calls[0]?.signal.aborted).toBe(false);
    await world.seconds(0.1);
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    await Promise.all([world.manager.stop(), world.seconds(1)]);
  });

  it('and counts the time of commands itself is waited for no longer with another probe', async () => {
    const world = new ProbeWorld({}, { timesExec: true });
    world.answer = () => new Promise(() => {});
    await world.add(podOf({ livenessProbe: { tcpSocket: { port: 80 }, timeoutSeconds: 2, failureThreshold: 1 } }));
    await world.seconds(2);
    expect(world.results).toEqual(['liveness Success', 'liveness Failure']);
    await Promise.all([world.manager.stop(), world.seconds(1)]);
  });

  it('and settles too late is asked again afterwards', async () => {
    const world = new ProbeWorld();
    const late = Promise.withResolvers<unknown>();
    world.answer = () => (world.calls.length === 1 ? late.promise : success);
    await world.add(podOf({ readinessProbe: exec({ periodSeconds: 2 }) }));
    await world.seconds(3);
    late.resolve(success);
    await world.seconds(1);
    expect(world.times).toEqual([0, 4]);
    expect(world.results).toEqual(['readiness Failure', 'readiness Success']);
    await world.manager.stop();
  });

  it.each([
    [() => Promise.reject(new Error('aborted')), 'failed: command timed out: "check" timed out after 1s'],
    [async () => ({ result: 'failure', output: 'i/o timeout' }), 'failed: i/o timeout'],
    [async () => ({ result: 'failure', error: new Error('reading') }), 'errored and resulted in failure state: reading'],
  ])('and heeds its signal has the last word, unless it throws', async (then, text) => {
    const world = new ProbeWorld();
    world.answer = (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(then())));
    await world.add(podOf({ livenessProbe: exec() }));
    await world.seconds(3);
    expect(world.events).toEqual([`p spec.containers{a}: Warning Unhealthy Liveness probe ${text}`]);
    await world.manager.stop();
  });
});

describe('a status manager that fails', () => {
  it('to know a pod leaves it unprobed, and nothing else', async () => {
    let fails = true;
    const world: ProbeWorld = new ProbeWorld({
      statusManager: {
        getPodStatus: () => (fails ? mistake() : world.status),
        setContainerReadiness: () => true,
        setContainerStartup: () => true,
      },
    });
    await world.add(podOf({ readinessProbe: exec() }));
    await world.seconds(10);
    expect(world.times).toEqual([]);
    fails = false;
    await world.seconds(10);
    expect(world.times).toEqual([20]);
    await world.manager.stop();
  });

  it.each([
    [{ containerStatuses: 7 }],
    [{ containerStatuses: [null] }],
    [running({ state: { running: { startedAt: 'soon' } } })],
  ])('with garbage for a status leaves the pod unprobed: %j', async (garbage) => {
    const world = new ProbeWorld();
    world.status = garbage as never;
    await world.add(podOf({ readinessProbe: exec() }));
    await world.seconds(10);
    expect([world.times, world.logged.length]).toEqual([[], 2]);
    world.status = running({ ...started, containerID: 'x://a1' });
    await world.seconds(10);
    expect(world.times).toEqual([20]);
    await world.manager.stop();
  });

  it('to take a result, as a handler that throws, keeps no other from hearing of it', async () => {
    const heard: string[] = [];
    const world: ProbeWorld = new ProbeWorld({
      statusManager: { getPodStatus: () => world.status, setContainerReadiness: mistake, setContainerStartup: mistake },
      handlers: {
        resultChanged: ({ result }) => {
          heard.push(result);
          mistake();
        },
      },
      eventRecorder: { event: mistake },
    });
    world.answer = async () => (world.calls.length === 1 ? success : failure);
    expect(
      await unhandledRejectionsOf(async () => {
        await world.add(podOf({ readinessProbe: exec() }));
        await world.seconds(10);
      }),
    ).toEqual([]);
    expect(heard).toEqual(['Failure', 'Success', 'Failure']);
    await world.manager.stop();
  });
});

describe('a clock that sets no timer', () => {
  it('has no probe made without a limit, and loses no worker', async () => {
    const world: ProbeWorld = new ProbeWorld({
      clock: safeClock({
        now: () => world.clock.now(),
        setTimer: (...args) => (fails ? mistake() : world.clock.setTimer(...args)),
      }),
    });
    let fails = true;
    const pod = await world.add(podOf({ readinessProbe: exec() }));
    expect(world.times).toEqual([]);
    expect(world.events[0]).toMatch(/errored and resulted in unknown state: mistake$/);
    fails = false;
    world.manager.updatePodStatus(pod, running(started));
    await world.seconds(10);
    expect(world.times).toEqual([0, 10]);
    await world.manager.stop();
  });
});

describe('a probe that fails again and again', () => {
  const failures = ({ manager }: ProbeWorld) => manager.failures('u1');

  it('is told of once its failures count, until it succeeds, and logged once', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    await world.add(podOf({ readinessProbe: exec({ failureThreshold: 3 }) }));
    const since = world.clock.now();
    await world.seconds(10);
    expect(failures(world)).toEqual([]);
    await world.seconds(10);
    const told = { type: 'readiness', containerName: 'a', message: 'bad', since, attempt: 3, retryAt: since + 30_000 };
    expect(failures(world)).toEqual([told]);
    await world.seconds(10);
    expect(failures(world)).toMatchObject([{ attempt: 4 }]);
    expect(world.logged).toEqual(['a probe of a container has failed as often as its threshold says']);
    world.answer = async () => success;
    await world.seconds(10);
    expect(failures(world)).toEqual([]);
    await world.manager.stop();
  });

  it('is still told of when its container was started again, and logged again', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    await world.add(podOf({ livenessProbe: exec({ failureThreshold: 2 }) }));
    await world.seconds(10);
    world.status = running({ ...started, containerID: 'x://a1' });
    await world.seconds(10);
    expect(failures(world)).toMatchObject([{ attempt: 3 }]);
    expect(world.logged).toHaveLength(1);
    await world.seconds(10);
    expect(failures(world)).toMatchObject([{ attempt: 4 }]);
    expect(world.logged).toHaveLength(2);
    await world.manager.stop();
  });

  it('is forgotten with its pod', async () => {
    const world = new ProbeWorld();
    world.answer = async () => failure;
    const pod = await world.add(podOf({ readinessProbe: exec() }));
    expect(failures(world)).toMatchObject([{ type: 'readiness', attempt: 1 }]);
    world.manager.removePod(pod);
    expect([failures(world), world.manager.failures('nobody')]).toEqual([[], []]);
    await world.manager.stop();
  });
});
