import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus, WirePodStatus } from '../../../../src/api/json/types.ts';
import type { GivenContainer } from '../../../../src/node/pod-status/given-status.ts';
import {
  type PodStatusFromContainersOptions,
  podStatusFromContainers,
} from '../../../../src/node/pod-status/pod-status-from-containers.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { containerOf, podOf, reported } from './pods.ts';

const now = '2000-01-01T00:10:00Z';
const clock = new FakeClock({ start: Date.parse(now) });
const earlier = '2000-01-01T00:00:00Z';
const later = '2000-01-01T01:00:00Z';
const running: GivenContainer = { name: 'a', state: 'running' };
const failed: GivenContainer = { name: 'a', state: 'exited', exitCode: 1 };
const waiting: GivenContainer = { name: 'a', state: 'waiting' };

function statusOf(pod: Pod, containers: GivenContainer[], options: PodStatusFromContainersOptions = {}): WirePodStatus {
  return podStatusFromContainers(pod, containers, { clock, ...options });
}

/** The status of the container `a` after it was reported so. */
function reportedThen(given: GivenContainer, old: Parameters<typeof reported>[1] = {}, pod = podOf()) {
  const previous: PodStatus = { containerStatuses: [reported('a', old)] };
  return containerOf(statusOf(pod, [given], { previous }));
}

const conditionsOf = ({ conditions }: WirePodStatus) => conditions?.map(({ type, status }) => `${type} ${status}`);

describe('podStatusFromContainers', () => {
  it('shows the beginning of an image whose name is longer than any', () => {
    const image = 'x'.repeat(5000);
    const shown = `${'x'.repeat(255)}…`;
    expect(containerOf(statusOf(podOf({ containers: [{ name: 'a', image }] }), [running]))?.image).toBe(shown);
    expect(containerOf(statusOf(podOf(), [{ ...running, image }]))?.image).toBe(shown);
  });

  it('gives a complete status', () => {
    const pod = podOf({}, {}, { generation: 3 });
    const ready = { observedGeneration: 3, status: 'True', lastTransitionTime: now };
    expect(statusOf(pod, [{ ...running, id: 'mine://1' }], { podIPs: ['10.0.0.1'], hostIPs: ['192.0.2.1'] })).toEqual({
      phase: 'Running',
      hostIP: '192.0.2.1',
      hostIPs: [{ ip: '192.0.2.1' }],
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      qosClass: 'BestEffort',
      resources: {},
      startTime: now,
      observedGeneration: 3,
      containerStatuses: [
        {
          name: 'a',
          state: { running: { startedAt: now } },
          lastState: {},
          ready: true,
          started: true,
          restartCount: 0,
          image: 'i',
          imageID: '',
          containerID: 'mine://1',
          resources: {},
        },
      ],
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        ...ready,
      })),
    });
  });

  it('gives the same again when nothing has changed', () => {
    const pod = podOf({
      initContainers: [{ name: 'x' }, { name: 's', restartPolicy: 'Always' }],
      containers: [{ name: 'a' }, { name: 'b' }],
    });
    const containers: GivenContainer[] = [running, { name: 'b', state: 'exited', exitCode: 7 }, { name: 's', state: 'running' }];
    const first = statusOf(pod, containers, { podIPs: ['10.0.0.1'] });
    const anHourLater = new FakeClock({ start: Date.parse(later) });
    expect(statusOf(pod, containers, { previous: first, clock: anHourLater })).toEqual(first);
  });

  it('takes the apiserver’s copy for the status before, unless there is another', () => {
    const pod = podOf({}, { startTime: earlier, containerStatuses: [reported('a', { restartCount: 5 })] });
    expect(statusOf(pod, [running])).toMatchObject({ startTime: earlier, containerStatuses: [{ restartCount: 5 }] });
    expect(containerOf(statusOf(pod, [running], { previous: {} }))?.restartCount).toBe(0);
  });

  it('keeps the time of a condition that has not changed', () => {
    const previous = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: earlier }] };
    const { conditions } = statusOf(podOf(), [running], { previous });
    expect(conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe(earlier);
    expect(conditions?.find(({ type }) => type === 'Initialized')?.lastTransitionTime).toBe(now);
  });

  it('keeps the phase of an evicted, and of a terminal pod', () => {
    expect(statusOf(podOf(), [running], { eviction: { reason: 'Evicted' } })).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
    });
    expect(statusOf(podOf({}, { phase: 'Succeeded' }), [running]).phase).toBe('Succeeded');
    expect(statusOf(podOf(), [failed]).phase).toBe('Running');
    expect(statusOf(podOf(), [failed], { podIsTerminal: true }).phase).toBe('Failed');
  });

  it('is not ready to start containers before one ran, and after the end', () => {
    expect(conditionsOf(statusOf(podOf(), [waiting]))).toContain('PodReadyToStartContainers False');
    expect(conditionsOf(statusOf(podOf(), [failed]))).toContain('PodReadyToStartContainers True');
    expect(conditionsOf(statusOf(podOf({ restartPolicy: 'Never' }), [failed]))).toContain('PodReadyToStartContainers False');
  });
});

describe('what a given container defaults to', () => {
  it.each<[string, GivenContainer, object]>([
    ['why it waits', waiting, { state: { waiting: { reason: 'ContainerCreating' } } }],
    [
      'or what is said',
      { ...waiting, reason: 'ImagePullBackOff', message: 'no' },
      { state: { waiting: { reason: 'ImagePullBackOff', message: 'no' } } },
    ],
    ['a success', { ...failed, exitCode: 0 }, { state: { terminated: { reason: 'Completed', exitCode: 0, finishedAt: now } } }],
    ['a failure', failed, { state: { terminated: { reason: 'Error', exitCode: 1 } } }],
    ['its own image', { ...running, image: 'j', imageID: 'sha256:1' }, { image: 'j', imageID: 'sha256:1' }],
    ['its own times', { ...running, startedAt: new Date(earlier) }, { state: { running: { startedAt: earlier } } }],
    [
      'times in milliseconds',
      { ...running, startedAt: Date.parse(earlier) + 999 },
      { state: { running: { startedAt: earlier } } },
    ],
    ['a last state', { ...waiting, lastState: { exitCode: 2, id: 'm://0' } }, { lastState: { terminated: { exitCode: 2 } } }],
  ])('%s', (_, given, expected) => {
    expect(containerOf(statusOf(podOf(), [given]))).toMatchObject(expected);
  });

  it.each<[string, GivenContainer, object, boolean, boolean]>([
    ['runs', running, {}, true, true],
    ['runs, with a readiness probe', running, { readinessProbe: {} }, true, false],
    ['runs, with both probes', running, { startupProbe: {}, readinessProbe: {} }, false, false],
    ['is said to be ready', { ...running, ready: true }, { startupProbe: {}, readinessProbe: {} }, true, true],
    ['is said to have started', { ...running, started: true }, { startupProbe: {} }, true, true],
    ['is said not to be ready', { ...running, ready: false }, {}, true, false],
    ['has exited', failed, {}, false, false],
    ['waits', waiting, {}, false, false],
  ])('started and ready when it %s', (_, given, probes, started, ready) => {
    const pod = podOf({ containers: [{ name: 'a', ...probes }] });
    expect(containerOf(statusOf(pod, [given]))).toMatchObject({ started, ready });
  });

  it('never starts or readies an ephemeral container, and readies an init container by its success', () => {
    const pod = podOf({ ephemeralContainers: [{ name: 'e' }], initContainers: [{ name: 'x' }, { name: 'y' }] });
    const status = statusOf(pod, [
      { name: 'e', state: 'running' },
      { name: 'x', state: 'exited', exitCode: 0 },
      { name: 'y', state: 'running' },
    ]);
    expect(containerOf(status, 'e')).toMatchObject({ ready: false });
    expect(containerOf(status, 'e')).not.toHaveProperty('started');
    expect([containerOf(status, 'x')?.ready, containerOf(status, 'y')?.ready]).toEqual([true, false]);
    expect(status.phase).toBe('Pending');
  });
});

describe('a new run of a given container', () => {
  const runs = { state: { running: { startedAt: earlier } }, restartCount: 2, containerID: 'm://0', imageID: 'sha256:0' };
  const end = { exitCode: 1, reason: 'Error', startedAt: earlier, finishedAt: earlier };
  const ended = { state: { terminated: end }, restartCount: 2, containerID: 'm://0' };
  const unseen = { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: earlier, containerID: 'm://0' };
  const runsAgain = { ...runs, lastState: { terminated: end } };
  const message = expect.stringContaining('nobody has said how');

  it.each<[string, GivenContainer, object, number, object | undefined]>([
    ['runs on', running, runs, 2, undefined],
    ['runs on as the same', { ...running, id: 'm://0', startedAt: earlier }, runs, 2, undefined],
    ['runs on after an end', running, runsAgain, 2, end],
    ['has another id', { ...running, id: 'm://1' }, runs, 3, { ...unseen, message }],
    ['has another id after an end', { ...running, id: 'm://1' }, runsAgain, 3, { ...unseen, message }],
    ['began later', { ...running, startedAt: later }, runs, 3, { ...unseen, message }],
    ['began later after an end', { ...running, startedAt: later }, runsAgain, 3, { ...unseen, message }],
    ['has another id, and has ended', { ...failed, id: 'm://1' }, runsAgain, 3, { ...unseen, message }],
    ['waits after it ran again', waiting, runsAgain, 3, { ...unseen, message }],
    ['has another id, and a last state', { ...running, id: 'm://1', lastState: end }, runs, 3, end],
    ['runs after its end', running, ended, 3, end],
    ['has ended as reported', failed, ended, 2, undefined],
    ['has ended otherwise', { ...failed, exitCode: 2 }, ended, 3, end],
    ['has ended later', { ...failed, finishedAt: later }, ended, 3, end],
    ['waits after its end', waiting, ended, 2, end],
    [
      'runs after it waited to run again',
      running,
      { state: { waiting: {} }, lastState: { terminated: end }, restartCount: 2 },
      3,
      end,
    ],
    ['runs for the first time', running, { state: { waiting: {} } }, 0, undefined],
    ['counts what is said', { ...running, restartCount: 9 }, ended, 9, end],
    ['never counts less', { ...running, restartCount: 1 }, runs, 2, undefined],
  ])('%s', (_, given, old, restartCount, lastEnd) => {
    const container = reportedThen(given, old);
    expect(container?.restartCount).toBe(restartCount);
    expect(container?.lastState?.terminated).toEqual(lastEnd);
    // and the same again
    expect(reportedThen(given, container)).toEqual(container);
  });

  it('does not end before it began, where the clocks differ', () => {
    const late = { state: { running: { startedAt: later } }, containerID: 'm://0' };
    const ends = { startedAt: later, finishedAt: later, containerID: 'm://0' };
    for (const given of [failed, { ...failed, finishedAt: now }]) {
      const container = reportedThen(given, late);
      expect(container).toMatchObject({ restartCount: 0, state: { terminated: ends } });
      expect(reportedThen(given, container)).toEqual(container);
    }
  });

  it('has ended unseen when it waits after it ran, and is counted once', () => {
    const container = reportedThen(waiting, runs);
    expect(container).toMatchObject({ restartCount: 3, lastState: { terminated: unseen } });
    expect(reportedThen(running, container)).toMatchObject({ restartCount: 3, lastState: { terminated: unseen } });
  });

  it('has the given end when it waits after it ran', () => {
    const container = reportedThen({ ...waiting, lastState: { exitCode: 4, finishedAt: now } }, runs);
    expect(container).toMatchObject({ restartCount: 2, lastState: { terminated: { exitCode: 4, reason: 'Error' } } });
  });

  it('keeps the times and the id of the run that goes on', () => {
    expect(reportedThen(running, runs)).toMatchObject({
      state: { running: { startedAt: earlier } },
      containerID: 'm://0',
      imageID: 'sha256:0',
    });
    expect(reportedThen(failed, runs)?.state?.terminated).toEqual({
      exitCode: 1,
      reason: 'Error',
      startedAt: earlier,
      finishedAt: now,
      containerID: 'm://0',
    });
    expect(reportedThen({ ...running, id: 'm://1' }, runs)).toMatchObject({
      state: { running: { startedAt: now } },
      imageID: '',
    });
  });
});

describe('a container that is left out', () => {
  it('waits', () => {
    expect(statusOf(podOf(), [])).toMatchObject({ phase: 'Pending', containerStatuses: [{ state: { waiting: {} } }] });
  });

  it('has ended if that was reported', () => {
    const previous = { containerStatuses: [reported('a', { state: { terminated: { exitCode: 3 } } })] };
    const status = statusOf(podOf({ restartPolicy: 'Never' }), [], { previous });
    expect(status).toMatchObject({ phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] });
  });

  it('has ended unseen if it ran', () => {
    const previous = { containerStatuses: [reported('a', { state: { running: {} } })] };
    const status = statusOf(podOf(), [], { previous });
    expect(containerOf(status)?.lastState?.terminated?.exitCode).toBe(137);
  });

  it('has ended unseen if it ran again, and each such end is counted once', () => {
    const terminated = { exitCode: 1, reason: 'Error', finishedAt: earlier };
    const runs = { state: { running: { startedAt: earlier } }, containerID: 'm://0', lastState: { terminated }, restartCount: 1 };
    const unseen = { exitCode: 137, reason: 'ContainerStatusUnknown' };
    let status: WirePodStatus = { containerStatuses: [reported('a', runs)] };
    const next = (...containers: GivenContainer[]) => {
      status = statusOf(podOf(), containers, { previous: status });
      return containerOf(status);
    };
    const gone = next();
    expect(gone).toMatchObject({
      restartCount: 2,
      lastState: { terminated: { ...unseen, startedAt: earlier, containerID: 'm://0' } },
    });
    expect(next()).toEqual(gone);
    expect(next(running)).toMatchObject({ restartCount: 2, lastState: { terminated: unseen } });
    expect(next()).toMatchObject({ restartCount: 3, lastState: { terminated: { ...unseen, startedAt: now } } });
    expect(next(running)?.restartCount).toBe(3);
  });

  it('has succeeded if it is an init container and a regular one runs, or has run', () => {
    const pod = podOf({ restartPolicy: 'Never', initContainers: [{ name: 'x' }, { name: 's', restartPolicy: 'Always' }] });
    const done = { ready: true, started: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } };
    const status = statusOf(pod, [running]);
    expect(containerOf(status, 'x')).toMatchObject(done);
    expect(containerOf(status, 's')?.state?.waiting).toBeDefined();
    const previous = { containerStatuses: [reported('a', { state: { terminated: { exitCode: 0 } } })] };
    expect(containerOf(statusOf(pod, [], { previous }), 'x')).toMatchObject(done);
    expect(containerOf(statusOf(pod, [waiting]), 'x')?.state?.waiting).toBeDefined();
  });
});

describe('given containers that cannot be', () => {
  const anything = (value: object) => ({ ...running, ...value }) as GivenContainer;

  it.each<[string, unknown, string]>([
    ['no list', {}, '`containers` to be a list'],
    ['no object', [7], '`containers[0]` to be an object'],
    [
      'a container that the pod does not have',
      [{ ...running, name: 'z' }],
      '`containers[0].name` to be the name of a container of the pod',
    ],
    ['a container given twice', [running, failed], '`containers[1].name` to be another name'],
    ['a misspelt member', [anything({ restarts: 1 })], '`containers[0].restarts` to be absent'],
    ['another state', [anything({ state: 'dead' })], '`containers[0].state` to be "waiting", "running" or "exited"'],
    ['an end without an exit code', [anything({ state: 'exited' })], '`containers[0].exitCode` to be a whole number'],
    [
      'an exit code of one that runs',
      [anything({ exitCode: 0 })],
      '`containers[0].exitCode` to be absent: the container has not exited',
    ],
    ['an end of one that runs', [anything({ finishedAt: now })], '`containers[0].finishedAt` to be absent'],
    [
      'a start of one that waits',
      [{ ...waiting, startedAt: now }],
      '`containers[0].startedAt` to be absent: the container waits',
    ],
    [
      'an end before the start',
      [{ ...failed, startedAt: later, finishedAt: now }],
      '`containers[0].finishedAt` to be a time not before',
    ],
    ['no time', [anything({ startedAt: 'yesterday' })], '`containers[0].startedAt` to be an RFC 3339 time'],
    ['no time in milliseconds', [anything({ startedAt: Number.NaN })], '`containers[0].startedAt` to be an RFC 3339 time'],
    ['less than no restart', [anything({ restartCount: -1 })], '`containers[0].restartCount` to be a whole number, 0 or more'],
    [
      'a ready one that has ended',
      [{ ...failed, ready: true }],
      '`containers[0].ready` to be false or absent: the container does not run',
    ],
    ['a started one that waits', [{ ...waiting, started: true }], '`containers[0].started` to be false or absent'],
    [
      'a ready one that has not started',
      [anything({ ready: true, started: false })],
      '`containers[0].ready` to be false or absent',
    ],
    ['a readiness that is none', [anything({ ready: 'yes' })], '`containers[0].ready` to be a boolean'],
    ['a reason that is none', [anything({ reason: 7 })], '`containers[0].reason` to be a string'],
    ['an id without a type', [anything({ id: '1234' })], '`containers[0].id` to be of the form "type://id"'],
    ['a last state that is none', [anything({ lastState: 'Error' })], '`containers[0].lastState` to be an object'],
    [
      'a last state without an exit code',
      [anything({ lastState: {} })],
      '`containers[0].lastState.exitCode` to be a whole number',
    ],
    [
      'a last state that ended before it began',
      [anything({ lastState: { exitCode: 0, startedAt: later, finishedAt: now } })],
      '`containers[0].lastState.finishedAt` to be a time not before',
    ],
    [
      'a misspelt member of a last state',
      [anything({ lastState: { exitCode: 0, code: 1 } })],
      '`containers[0].lastState.code` to be absent',
    ],
  ])('%s', (_, containers, message) => {
    expect(() => statusOf(podOf(), containers as GivenContainer[])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining(message) }),
    );
  });

  it.each<[string, object]>([
    ['an unknown option', { podIP: '10.0.0.1' }],
    ['a clock that is none', { clock: {} }],
  ])('%s', (_, options) => {
    expect(() => podStatusFromContainers(podOf(), [], options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  });
});
