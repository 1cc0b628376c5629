// After pkg/kubelet/kubelet_pods_test.go, v1.36.3: TestConvertToAPIContainerStatuses, TestConvertToAPIContainerStatusesDataRace,
// Test_generateAPIPodStatus…, TestGenerateAPIPodStatusWithReasonCache, TestGenerateAPIPodStatusWithDifferentRestartPolicies.
import { describe, expect, it } from 'vitest';
import { began, beganAt, containerOf, exited, podOf, reported, running, runtimeOf, statusOf } from './pods.ts';

const earlierAt = '2000-01-01T00:00:00Z';
const end = { exitCode: 2, reason: 'Error', finishedAt: earlierAt };
const oldRunning = reported('a', { containerID: 'cri://a0', state: { running: { startedAt: earlierAt } } });

describe('the status of a container that the runtime lists', () => {
  it('runs', () => {
    const status = statusOf(podOf(), runtimeOf(running('a', { image: 'img', imageRef: 'sha256:1' })));
    expect(status.containerStatuses).toEqual([
      {
        name: 'a',
        state: { running: { startedAt: beganAt } },
        lastState: {},
        ready: true,
        started: true,
        restartCount: 0,
        image: 'img',
        imageID: 'sha256:1',
        containerID: 'cri://a0',
        resources: {},
      },
    ]);
  });

  it('has ended', () => {
    const container = containerOf(statusOf(podOf(), runtimeOf(exited('a', 3, { message: 'bye' }))));
    expect(container).toMatchObject({ ready: false, started: false });
    expect(container?.state).toEqual({
      terminated: {
        exitCode: 3,
        reason: 'Ended',
        message: 'bye',
        startedAt: beganAt,
        finishedAt: '2000-01-01T00:10:05Z',
        containerID: 'cri://a0',
      },
    });
  });

  it.each(['created', 'unknown'] as const)('waits, without a reason, when it is %s and has not run before', (state) => {
    const container = containerOf(statusOf(podOf(), runtimeOf({ name: 'a', id: 'cri://a0', state })));
    expect(container).toMatchObject({ state: { waiting: {} }, started: false, ready: false });
  });

  it('has ended unseen when it ran before and the runtime cannot say more', () => {
    const previous = { containerStatuses: [{ ...oldRunning, restartCount: 4 }] };
    const container = containerOf(statusOf(podOf(), runtimeOf({ name: 'a', id: 'cri://a0', state: 'unknown' }), { previous }));
    expect(container?.state?.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
    expect(container?.restartCount).toBe(5);
  });

  it('has the run before as its last state', () => {
    const before = exited('a', 1, { id: 'cri://a-old', createdAt: began - 60_000 });
    const records = [running('a', { restartCount: 1 }), before];
    for (const order of [records, records.toReversed()]) {
      const container = containerOf(statusOf(podOf(), runtimeOf(...order)));
      expect(container).toMatchObject({ restartCount: 1, containerID: 'cri://a0', state: { running: {} } });
      expect(container?.lastState?.terminated).toMatchObject({ exitCode: 1, containerID: 'cri://a-old' });
    }
  });

  it('has the reported end as its last state when the runtime has forgotten that run', () => {
    const old = reported('a', { containerID: 'cri://a-old', restartCount: 1, state: { terminated: end } });
    const container = containerOf(statusOf(podOf(), runtimeOf(running()), { previous: { containerStatuses: [old] } }));
    expect(container?.lastState).toEqual({ terminated: end });
  });

  it('keeps the last state of the same run', () => {
    const old = { ...oldRunning, lastState: { terminated: end } };
    const container = containerOf(statusOf(podOf(), runtimeOf(running()), { previous: { containerStatuses: [old] } }));
    expect(container?.lastState).toEqual({ terminated: end });
  });

  it('keeps the volume mounts that were reported', () => {
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const previous = { containerStatuses: [{ ...oldRunning, volumeMounts }] };
    expect(containerOf(statusOf(podOf(), runtimeOf(running()), { previous }))?.volumeMounts).toEqual(volumeMounts);
  });

  it('that the spec does not name is left out', () => {
    const status = statusOf(podOf(), runtimeOf(running('a'), running('pause')));
    expect(status.containerStatuses?.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('restart counts', () => {
  const countOf = (restartCount: number, old: Parameters<typeof reported>[1], more = {}) =>
    containerOf(
      statusOf(podOf(), runtimeOf(running('a', { restartCount })), {
        previous: { containerStatuses: [reported('a', old)] },
        ...more,
      }),
    )?.restartCount;

  it.each([
    ['are the runtime’s', 3, { state: { running: {} }, restartCount: 2 }, 3],
    ['never go back', 1, { state: { running: {} }, restartCount: 2 }, 2],
    ['count one more after an end that was reported with as many', 2, { state: { terminated: end }, restartCount: 2 }, 3],
    ['do not count an end that the runtime has counted', 5, { state: { terminated: end }, restartCount: 2 }, 5],
  ])('%s', (_, restartCount, old, expected) => {
    expect(countOf(restartCount, old)).toBe(expected);
  });
});

describe('the status of a container that the runtime does not list', () => {
  it('waits to be created', () => {
    const container = containerOf(statusOf(podOf(), runtimeOf()));
    expect(container).toEqual({
      name: 'a',
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {},
      ready: false,
      started: false,
      restartCount: 0,
      image: 'i',
      imageID: '',
    });
  });

  it('shows the beginning of an image whose name is longer than any', () => {
    const imageOf = (image: string) => containerOf(statusOf(podOf({ containers: [{ name: 'a', image }] }), runtimeOf()))?.image;
    expect(imageOf('r.example/a'.padEnd(4096, 'x'))).toHaveLength(4096);
    expect(imageOf('r.example/a'.padEnd(1_500_000, 'x'))).toBe(`${'r.example/a'.padEnd(255, 'x')}…`);
  });

  it('waits for the init containers', () => {
    const pod = podOf({ initContainers: [{ name: 'x' }] });
    expect(containerOf(statusOf(pod, runtimeOf()))?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });

  it('keeps an end that was reported, whole', () => {
    const old = reported('a', { state: { terminated: end }, restartCount: 3, ready: true, containerID: 'cri://gone' });
    const container = containerOf(statusOf(podOf(), runtimeOf(), { previous: { containerStatuses: [old] } }));
    expect(container).toEqual({ ...old, started: false });
  });

  it('has ended unseen when it ran, and will be started again', () => {
    const previous = { containerStatuses: [{ ...oldRunning, restartCount: 1 }] };
    const container = containerOf(statusOf(podOf(), runtimeOf(), { previous }));
    expect(container).toMatchObject({ state: { waiting: { reason: 'ContainerCreating' } }, restartCount: 2 });
    expect(container?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  });

  it('is not started again in a pod that is being deleted', () => {
    const pod = podOf({}, {}, { deletionTimestamp: earlierAt });
    const previous = { containerStatuses: [{ ...oldRunning, restartCount: 1 }] };
    expect(containerOf(statusOf(pod, runtimeOf(), { previous }))?.restartCount).toBe(1);
  });

  it('keeps the last state that it has, and is not counted again', () => {
    const previous = { containerStatuses: [{ ...oldRunning, restartCount: 1, lastState: { terminated: end } }] };
    expect(containerOf(statusOf(podOf(), runtimeOf(), { previous }))).toMatchObject({
      restartCount: 1,
      lastState: { terminated: end },
    });
  });

  it('says how its volumes will be mounted', () => {
    const volumeMounts = [
      { name: 'v', mountPath: '/v' },
      { name: 'w', mountPath: '/w', readOnly: true },
    ];
    const pod = podOf({ containers: [{ name: 'a', volumeMounts }] });
    expect(containerOf(statusOf(pod, runtimeOf()))?.volumeMounts).toEqual([
      volumeMounts[0],
      { ...volumeMounts[1], recursiveReadOnly: 'Disabled' },
    ]);
  });
});

describe('why a container waits', () => {
  const reasons = new Map([['a', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]]);
  const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } };

  it('is said of one that could not be created', () => {
    expect(containerOf(statusOf(podOf(), runtimeOf(), { reasons }))?.state).toEqual(waiting);
  });

  it('is said of one that ended and may run again; its end becomes the last state', () => {
    const container = containerOf(statusOf(podOf(), runtimeOf(exited('a', 1)), { reasons }));
    expect(container?.state).toEqual(waiting);
    expect(container?.lastState?.terminated).toMatchObject({ exitCode: 1 });
  });

  it('is said of one that the runtime has made but not started', () => {
    const runtime = runtimeOf({ name: 'a', id: 'cri://a0', state: 'created' });
    expect(containerOf(statusOf(podOf(), runtime, { reasons }))?.state).toEqual(waiting);
  });

  it.each([
    ['runs', podOf(), running()],
    ['has ended for good', podOf({ restartPolicy: 'Never' }), exited('a', 1)],
    ['is of a pod that is being deleted', podOf({}, {}, { deletionTimestamp: earlierAt }), exited('a', 1)],
  ])('is not said of one that %s', (_, pod, record) => {
    expect(containerOf(statusOf(pod, runtimeOf(record), { reasons }))?.state?.waiting).toBeUndefined();
  });
});

describe('init containers', () => {
  const init = { initContainers: [{ name: 'x', image: 'i' }] };

  it('stand in the order of the spec, the others by name', () => {
    const spec = {
      initContainers: [{ name: 'y' }, { name: 'x' }],
      containers: [{ name: 'b' }, { name: 'a' }],
      ephemeralContainers: [{ name: 'f' }, { name: 'e' }],
    };
    const status = statusOf(podOf(spec), runtimeOf());
    const names = [status.initContainerStatuses, status.containerStatuses, status.ephemeralContainerStatuses];
    expect(names.map((list) => list?.map(({ name }) => name))).toEqual([
      ['y', 'x'],
      ['a', 'b'],
      ['e', 'f'],
    ]);
  });

  it('are ready once they have succeeded', () => {
    const reasons = new Map([['x', { reason: 'CrashLoopBackOff' }]]);
    const container = containerOf(statusOf(podOf(init), runtimeOf(exited('x')), { reasons }), 'x');
    expect(container).toMatchObject({ ready: true, started: false, state: { terminated: { exitCode: 0 } } });
  });

  it('wait for a reason once they have failed', () => {
    const reasons = new Map([['x', { reason: 'CrashLoopBackOff' }]]);
    const container = containerOf(statusOf(podOf(init), runtimeOf(exited('x', 1)), { reasons }), 'x');
    expect(container).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } }, ready: false });
  });

  it('stay as ready as they were reported when they ended and are gone', () => {
    const old = reported('x', { state: { terminated: { exitCode: 1 } }, ready: true });
    const status = statusOf(podOf(init), runtimeOf(), { previous: { initContainerStatuses: [old] } });
    expect(containerOf(status, 'x')?.ready).toBe(true);
  });

  it('are not ready while they run', () => {
    expect(containerOf(statusOf(podOf(init), runtimeOf(running('x'))), 'x')).toMatchObject({ ready: false, started: true });
  });

  it('have completed when they are gone and a regular container was made', () => {
    const container = containerOf(statusOf(podOf(init), runtimeOf(running('a'))), 'x');
    expect(container).toMatchObject({ ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } });
  });

  it('have not when the regular container was merely lost', () => {
    const runtime = runtimeOf({ name: 'a', id: 'cri://a0', state: 'unknown' });
    expect(containerOf(statusOf(podOf(init), runtime), 'x')?.state?.waiting).toBeDefined();
  });

  it('that are sidecars wait when they are gone', () => {
    const pod = podOf({ initContainers: [{ name: 's', restartPolicy: 'Always' }] });
    expect(containerOf(statusOf(pod, runtimeOf(running('a'))), 's')?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });
});

describe('ephemeral containers', () => {
  it('stay started when they were reported so', () => {
    const old = reported('e', { state: { running: {} }, started: true });
    const pod = podOf({ ephemeralContainers: [{ name: 'e' }] });
    const status = statusOf(pod, runtimeOf(running('e')), { previous: { ephemeralContainerStatuses: [old] } });
    expect(containerOf(status, 'e')?.started).toBe(true);
  });

  it('have a status, and are never ready', () => {
    const pod = podOf({ ephemeralContainers: [{ name: 'e' }] });
    const container = containerOf(statusOf(pod, runtimeOf(running('e'))), 'e');
    expect(container).toMatchObject({ ready: false, state: { running: {} } });
    expect(container).not.toHaveProperty('started');
  });
});

describe('a restart of all containers in place', () => {
  const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
  const pod = podOf({
    restartPolicy: 'Never',
    containers: [
      { name: 'a', restartPolicy: 'Never', restartPolicyRules: [rule] },
      { name: 'b', image: 'i' },
    ],
  });
  const previous = { containerStatuses: [reported('b', { state: { running: {} }, restartCount: 1 })] };

  it('lets those wait that are gone already', () => {
    const status = statusOf(pod, runtimeOf(exited('a', 42)), { previous });
    expect(containerOf(status, 'b')).toMatchObject({
      state: { waiting: { reason: 'RestartingAllContainers' } },
      lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
      restartCount: 2,
    });
    expect(status.phase).toBe('Running');
    expect(status.conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status).toBe('True');
  });

  it('names itself as the reason of an end that nobody saw', () => {
    const status = statusOf(pod, runtimeOf(exited('a', 42), { name: 'b', id: 'cri://b0', state: 'unknown' }), { previous });
    expect(containerOf(status, 'b')?.state?.terminated).toMatchObject({ exitCode: 137, reason: 'RestartingAllContainers' });
  });
});
