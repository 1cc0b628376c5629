import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../../src/base/logging/logger.ts';
import { type PodProblem, problemText } from '../../../../src/base/problem.ts';
import { deleting, Harness, numberedPod, testPod } from '../status-harness.ts';

const uid = '12345678';
const names = { podUID: uid, podNamespace: 'new', podName: 'foo' };

function logged(): { logger: Logger; lines: [message: string, fields: object][] } {
  const lines: [string, object][] = [];
  const line = (fields: object, message: string): void => void lines.push([message, fields]);
  return { lines, logger: { debug() {}, info: line, warn: line, error: line } };
}

const container = (state: object, more: object = {}) => ({
  name: 'c',
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...more,
});

describe('the problems of a status manager', () => {
  it('are none, and there are no notes, while all is well', async () => {
    const h = new Harness();
    await h.set(h.publish(testPod()), { phase: 'Running' });
    expect(h.manager.explain(uid).problem).toBeUndefined();
    expect(h.manager.snapshot()).toMatchObject({ problems: [], problemCount: 0, notes: [] });
  });

  it('say the same in the log line, explain, the snapshot and its notes', async () => {
    const { logger, lines } = logged();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 403, reason: 'Forbidden', times: 9 });
    await h.set(pod, { phase: 'Running' });
    const since = h.clock.now();
    await h.clock.advance(600);
    const problem = {
      ...names,
      kind: 'forbidden',
      message: 'the status could not be written: patch of pod new/foo fails on demand',
      since,
      attempt: 2,
      retryAt: h.manager.explain(uid).retryAt,
      help: expect.stringContaining('deploy/rbac.yaml'),
    };
    expect(h.manager.explain(uid).problem).toEqual(problem);
    expect(h.manager.snapshot()).toMatchObject({ problems: [problem], problemCount: 1, pods: [{ problem }] });
    expect(h.manager.snapshot().notes).toEqual([
      expect.stringMatching(
        /^new\/foo: the status could not be written: patch of pod new\/foo fails on demand; failed twice, next try in \d/,
      ),
    ]);
    const failures = lines.filter(([message]) => message === 'a pod could not be brought up to date');
    expect(failures).toMatchObject([
      ['a pod could not be brought up to date', { ...names, attempt: 1, errorClass: 'forbidden', retryInMs: 500 }],
      ['a pod could not be brought up to date', { ...names, attempt: 2, failingForMs: 500, help: problem.help }],
    ]);
  });

  it('end with the next success', async () => {
    const h = new Harness();
    h.client.failNext('patch', { code: 503, times: 1 });
    await h.set(h.publish(testPod()), { phase: 'Running' });
    expect(h.manager.snapshot().notes).toHaveLength(1);
    await h.clock.advance(1000);
    expect(h.manager.snapshot()).toMatchObject({ problems: [], notes: [] });
  });

  it('say of a refused status what would help, and that no time brings the next try', async () => {
    const h = new Harness();
    h.client.failNext('patch', { code: 422, reason: 'Invalid', times: 9 });
    await h.set(h.publish(testPod()), { phase: 'Running' });
    expect(h.manager.explain(uid)).toMatchObject({
      phase: 'quarantined',
      problem: { kind: 'quarantined', attempt: 1, retryAt: undefined },
    });
  });

  it('name every pod that waits for the whole client', async () => {
    const h = new Harness({ concurrency: 1 });
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { code: 401, times: 9 });
    h.manager.setPodStatus(one, { phase: 'Running' });
    await h.set(two, { phase: 'Running' });
    const kinds = h.manager.snapshot().pods.map(({ problem }) => problem?.kind);
    expect(kinds.sort()).toEqual(['paused', 'unauthorized']);
  });

  it('tell of a pod whose name another one has by now, as long as the agent has it', async () => {
    const { logger, lines } = logged();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    h.client.store.delete('new', 'foo', { gracePeriodSeconds: 0 });
    h.client.store.put(testPod({ metadata: { uid: 'other' } }));
    await h.set(pod, { phase: 'Running', message: 'lost' });
    expect(h.manager.explain(uid)).toMatchObject({
      ...names,
      phase: 'gone',
      reason: expect.stringContaining('the apiserver has another one named new/foo'),
      problem: { ...names, kind: 'recreated' },
    });
    expect(h.manager.snapshot().notes).toEqual([
      expect.stringContaining('new/foo: the pod was deleted, and the apiserver has another one'),
    ]);
    expect(lines).toContainEqual([
      'the pod was deleted and another one has its name; its status was not written and is dropped',
      expect.objectContaining(names),
    ]);
    h.podManager.removePod(pod);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'gone', problem: undefined });
    expect(h.manager.snapshot().notes).toEqual([]);
  });

  it('tell of a pod that the apiserver no longer has, while the agent has it', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.store.delete('new', 'foo', { gracePeriodSeconds: 0 });
    await h.set(pod, { phase: 'Running' });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'gone', problem: undefined });
    await h.clock.advance(10_000);
    expect(h.manager.explain(uid)).toMatchObject({
      phase: 'gone',
      problem: { kind: 'gone', since: h.clock.now() - 10_000, ...names },
    });
  });

  it('say what has become of a pod that was deleted as it should be, without a problem', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ metadata: deleting }));
    await h.set(pod, { phase: 'Succeeded' });
    h.safety.reclaimed = true;
    h.manager.terminatePod(pod);
    await h.batch();
    expect(h.manager.explain(uid)).toMatchObject({
      ...names,
      phase: 'unknown',
      problem: undefined,
      reason: expect.stringContaining('is deleted on the apiserver'),
    });
  });

  it('tell of finalizers that hold a pod for ten seconds, and not before', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ metadata: { ...deleting, finalizers: ['example.com/held'] } }));
    await h.set(pod, { phase: 'Succeeded' });
    h.safety.reclaimed = true;
    h.manager.terminatePod(pod);
    await h.calls();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'deleting', problem: undefined });
    await h.clock.advance(10_000);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'deleting', problem: { kind: 'held-by-finalizers', ...names } });
  });

  it('tell of a request that no answer comes to', async () => {
    const h = new Harness({ requestTimeoutMs: 60_000 });
    h.client.hold('patch');
    await h.set(h.publish(testPod()), { phase: 'Running' });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-flight', problem: undefined });
    await h.clock.advance(10_000);
    expect(h.manager.snapshot()).toMatchObject({ problems: [{ kind: 'no-answer', since: h.clock.now() - 10_000 }] });
  });

  it('tell of a writer that fights over the status, from the third batch on, and forget it when there is peace', async () => {
    const { logger, lines } = logged();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    const kinds: (string | undefined)[] = [];
    for (let batch = 0; batch < 4; batch++) {
      h.rival(pod, { message: 'theirs' });
      h.observe(pod);
      await h.batch();
      kinds.push(h.manager.explain(uid).problem?.kind);
    }
    expect(kinds).toEqual([undefined, undefined, 'fought-over', 'fought-over']);
    expect(lines.filter(([message]) => message.startsWith('another writer'))).toMatchObject([
      ['another writer changes the status of a pod again and again', { ...names, problemKind: 'fought-over' }],
      ['another writer changes the status of a pod again and again', { ...names, problemKind: 'fought-over' }],
    ]);
    await h.batch();
    await h.batch();
    expect(h.manager.snapshot().notes).toEqual([]);
  });

  it('do not say since when a container fails that has failed before: each run between two failures is told as well', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 20s' };
    const set = (state: object, restartCount: number) =>
      h.set(pod, { phase: 'Running', containerStatuses: [container(state, { restartCount })] });
    await set({ waiting }, 1);
    await h.clock.advance(10_000);
    await set({ running: {} }, 2);
    await set({ waiting }, 2);
    await h.clock.advance(5000);
    const { problem } = h.manager.explain(uid);
    expect([problem?.attempt, problem?.since]).toEqual([3, undefined]);
    expect(problemText(problem as PodProblem, h.clock.now())).toContain('. It has failed 3 times. ');
    await set({ waiting: { reason: 'ErrImagePull' } }, 2);
    expect(h.manager.explain(uid).problem?.since).toBeLessThan(h.clock.now());
  });

  it('are made from what the status says: a container that waits, and a pod that was refused', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 10s' };
    const lastState = { terminated: { exitCode: 1, reason: 'Error' } };
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ waiting }, { restartCount: 4, lastState })] });
    expect(h.manager.explain(uid).problem).toMatchObject({
      kind: 'crash-loop-back-off',
      message: 'the container c waits: CrashLoopBackOff: back-off 10s; it ended last with exit code 1 (Error)',
      attempt: 5,
    });
    const message = `${'y'.repeat(1000)}\nno disk`;
    const lastStart = { terminated: { exitCode: 128, reason: 'StartError', message } };
    const long = { waiting: { reason: 'CrashLoopBackOff', message: 'x'.repeat(1000) } };
    await h.set(pod, { phase: 'Running', containerStatuses: [container(long, { restartCount: 4, lastState: lastStart })] });
    const told = h.manager.explain(uid).problem?.message;
    expect(told).toMatch(
      /^the container c waits: CrashLoopBackOff: x{200}; it ended last with exit code 128 \(StartError\): y{100,200} no disk$/,
    );
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] });
    expect(h.manager.snapshot().problems).toEqual([]);
    const refused = h.publish(numberedPod(1));
    await h.set(refused, { phase: 'Failed', reason: 'OutOfcpu', message: 'Node did not have enough cpu' });
    expect(h.manager.snapshot().notes).toEqual(['default/pod-1: the pod has failed: OutOfcpu: Node did not have enough cpu']);
  });

  it('are bounded: a thousand are listed, all are counted', async () => {
    const h = new Harness();
    for (let n = 0; n < 1100; n++)
      h.manager.setPodStatus(numberedPod(n), { phase: 'Failed', reason: 'Evicted', message: 'x'.repeat(900) });
    const { problems, problemCount, notes } = h.manager.snapshot();
    expect([problems.length, problemCount, notes.length]).toEqual([1000, 1100, 1]);
    expect(notes[0]).toMatch(/\(1100 pods have a problem of this kind\)$/);
    expect(problems[0]?.message.length).toBeLessThanOrEqual(600);
  });

  it('are not made of an ordinary request of a pod that was quiet for long', async () => {
    const h = new Harness({ requestTimeoutMs: 60_000 });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    await h.clock.advance(3_600_000);
    h.client.hold('get');
    h.client.hold('patch');
    h.rival(pod, { phase: 'Pending' });
    h.observe(pod);
    await h.clock.advance(1);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-flight', problem: undefined });
    await h.clock.advance(9_999);
    expect(h.manager.snapshot().problems).toMatchObject([{ kind: 'no-answer', since: h.clock.now() - 10_000 }]);
  });

  it('of a status that was refused stay when a probe tells of another container, and go with the pod', async () => {
    const h = new Harness();
    const never = testPod({ spec: { containers: [{ name: 'c' }, { name: 'd' }], restartPolicy: 'Never' } });
    const pod = h.publish(never);
    const d = { ...container({ running: {} }), name: 'd', containerID: 'x://d' };
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ terminated: { exitCode: 0 } }), d] });
    await h.set(pod, { phase: 'Running', containerStatuses: [container({ running: {} }), d] });
    h.manager.setContainerReadiness(uid, 'x://d', true);
    expect(h.manager.explain(uid).problem).toMatchObject({ kind: 'status-refused', attempt: 1 });
    h.manager.removeOrphanedStatuses(new Set());
    h.podManager.removePod(pod);
    expect(h.manager.snapshot().problems).toEqual([]);
  });

  it('say the same in explain and in the snapshot while all requests wait', async () => {
    const h = new Harness({ concurrency: 1 });
    const never = h.publish(testPod({ spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' } }));
    await h.set(never, { phase: 'Running', containerStatuses: [container({ terminated: { exitCode: 0 } })] });
    await h.set(never, { phase: 'Running', containerStatuses: [container({ running: {} })] });
    h.client.failNext('patch', { code: 429, times: 9 });
    await h.set(h.publish(numberedPod(1)), { phase: 'Running' });
    expect(h.manager.snapshot().pausedUntil).toBeDefined();
    expect(
      h.manager
        .snapshot()
        .problems.map(({ kind }) => kind)
        .sort(),
    ).toEqual(['status-refused', 'throttled']);
  });

  it('are all in problems(), beyond what a snapshot lists', () => {
    const h = new Harness();
    for (let n = 0; n < 1100; n++) h.manager.setPodStatus(numberedPod(n), { phase: 'Failed', reason: 'Evicted' });
    expect(h.manager.problems()).toHaveLength(1100);
  });

  it('tell in the log once of a pod whose status is set again and again though another one has its name', async () => {
    const { logger, lines } = logged();
    const h = new Harness({ logger });
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    h.client.store.delete('new', 'foo', { gracePeriodSeconds: 0 });
    h.client.store.put(testPod({ metadata: { uid: 'other' } }));
    for (const message of ['one', 'two', 'three']) await h.set(pod, { message });
    const since = h.manager.explain(uid).problem?.since;
    await h.clock.advance(5000);
    await h.set(pod, { message: 'four' });
    expect(h.manager.explain(uid).problem?.since).toBe(since);
    expect(lines.filter(([message]) => message.startsWith('the pod was deleted and another one'))).toHaveLength(1);
  });

  it('of a pod whose written status another writer has changed are none yet, but explain does not call it in sync', async () => {
    const h = new Harness({ subscribed: false });
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    expect(h.manager.explain(uid)).toMatchObject({
      differs: ['/message'],
      reason: expect.stringContaining('another writer has changed it since'),
    });
  });
});
