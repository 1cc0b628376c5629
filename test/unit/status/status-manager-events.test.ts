import { type EventEmitter, setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/logging/logger.ts';
import type { MetricsSink } from '../../../src/base/metrics/metrics.ts';
import { deleting, Harness, settle, testPod } from './status-harness.ts';

const container = (state: object, name = 'c') => ({ name, image: '', imageID: '', ready: false, restartCount: 0, state });
const never = testPod({ spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' } });
const ended = { phase: 'Running', containerStatuses: [container({ terminated: { exitCode: 0 } })] };
const running = { phase: 'Running', containerStatuses: [container({ running: {} })], message: 'forbidden' };

describe('a status that the transition rules forbid', () => {
  it('changes neither cache nor version, sends no hint, and emits illegalTransition', async () => {
    const h = new Harness();
    const pod = h.publish(never);
    const [updated, removed, illegal] = [h.record('podUpdated'), h.record('podRemoved'), h.record('illegalTransition')];
    await h.set(pod, ended);
    const before = { view: h.manager.getPodStatus('12345678'), told: updated.length, ...h.manager.explain('12345678') };
    expect(h.manager.setPodStatus(pod, running)).toBe(false);
    expect(await h.calls()).toEqual([]);
    const after = { view: h.manager.getPodStatus('12345678'), told: updated.length, ...h.manager.explain('12345678') };
    expect(after.problem).toMatchObject({ kind: 'status-refused', attempt: 1, podNamespace: 'new', podName: 'foo' });
    expect({ ...after, problem: undefined }).toEqual(before);
    expect(after.view).toBe(before.view);
    expect(removed).toEqual([]);
    const reason = 'terminated container c attempted illegal transition to non-terminated state';
    expect(illegal).toEqual([{ pod, podUID: '12345678', reason }]);
  });

  it('is logged with the container and both of its states', () => {
    const logged: [object, string][] = [];
    const logger: Logger = { debug() {}, info() {}, warn() {}, error: (...line) => void logged.push(line) };
    const h = new Harness({ started: false, logger });
    h.manager.setPodStatus(never, ended);
    h.manager.setPodStatus(never, running);
    expect(logged).toEqual([
      [
        expect.objectContaining({
          detail: expect.stringMatching(/^container c from terminated \(exit code \d+.*\) to running$/),
        }),
        'a status was refused: its container states cannot follow the cached ones',
      ],
    ]);
  });

  it('is also refused while the pod is deleting', () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(never, ended);
    expect(h.manager.setPodStatus({ ...never, metadata: { ...never.metadata, ...deleting } }, running)).toBe(false);
    expect(h.manager.explain('12345678').version).toBe(1);
  });

  it('is compared with the pod’s own status while none is cached', () => {
    const h = new Harness({ started: false });
    expect(h.manager.setPodStatus({ ...never, status: ended }, running)).toBe(false);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
  });
});

describe('podUpdated and podRemoved', () => {
  it('are emitted for each stored status, in order, before the call returns', () => {
    const h = new Harness({ started: false });
    const seen: unknown[] = [];
    h.manager.on('podUpdated', ({ pod, status, isAdded }) => seen.push(['updated', pod.metadata?.uid, status.message, isAdded]));
    h.manager.on('podRemoved', ({ pod }) => seen.push(['removed', pod.metadata?.uid]));
    const pod = testPod();
    h.manager.setPodStatus(pod, { message: 'one' });
    h.manager.setPodStatus(pod, { message: 'one' });
    h.manager.setPodStatus(pod, { message: 'two' });
    h.manager.terminatePod(pod);
    expect(seen).toEqual([
      ['updated', '12345678', 'one', true],
      ['updated', '12345678', 'two', false],
      ['removed', '12345678'],
    ]);
  });

  it('do not report isAdded for a deleting pod', () => {
    const h = new Harness({ started: false });
    const updated = h.record('podUpdated');
    h.manager.setPodStatus(testPod({ metadata: deleting }), { message: 'one' });
    expect(updated.map(({ isAdded }) => isAdded)).toEqual([false]);
  });

  it('carry the stored status, frozen, and come after the cache has it', () => {
    const h = new Harness({ started: false });
    let seen: unknown[] = [];
    h.manager.on('podUpdated', ({ status }) => {
      seen = [status.message, Object.isFrozen(status), h.manager.getPodStatus('12345678') === status];
    });
    h.manager.setPodStatus(testPod(), { message: 'one' });
    expect(seen).toEqual(['one', true, true]);
  });

  it('carry the pod with its new status, and podRemoved also has a status member', () => {
    const h = new Harness({ started: false });
    const [updated, removed] = [h.record('podUpdated'), h.record('podRemoved')];
    const pod = testPod({ status: { phase: 'Pending' }, spec: { containers: [{ name: 'c' }] } });
    h.manager.setPodStatus(pod, { phase: 'Running' });
    h.manager.terminatePod(pod);
    const { status: _, ...rest } = pod;
    const seen = [...updated, ...removed].map(({ podUID, pod, status }) => ({ podUID, pod, phase: status.phase }));
    expect(seen).toMatchObject([
      { podUID: '12345678', pod: { ...rest, status: { phase: 'Running' } }, phase: 'Running' },
      { podUID: '12345678', pod: { ...rest, status: { phase: 'Failed' } }, phase: 'Failed' },
    ]);
    expect(pod.status).toEqual({ phase: 'Pending' });
  });

  it('carry nothing that a listener can change', () => {
    const h = new Harness({ started: false });
    const [updated, illegal] = [h.record('podUpdated'), h.record('illegalTransition')];
    const created = new Date('2026-01-01T00:00:00Z');
    const pod = { ...never, metadata: { ...never.metadata, labels: { a: 'b' }, creationTimestamp: created } };
    h.manager.setPodStatus(pod, ended);
    h.manager.setPodStatus(pod, running);
    for (const event of [updated[0], illegal[0]]) {
      const metadata = event?.pod.metadata as { labels: Record<string, string>; creationTimestamp: Date };
      expect(() => Object.assign(metadata.labels, { a: 'changed' })).toThrow(TypeError);
      expect(() => Object.assign(event as object, { podUID: 'changed' })).toThrow(TypeError);
      metadata.creationTimestamp.setFullYear(1999);
      expect(event?.pod.metadata).toMatchObject({ labels: { a: 'b' }, creationTimestamp: new Date('2026-01-01T00:00:00Z') });
    }
    expect(created.getFullYear()).toBe(2026);
  });

  it('are not emitted for requests, deletions and orphans', async () => {
    const h = new Harness();
    h.safety.reclaimed = true;
    const [updated, removed] = [h.record('podUpdated'), h.record('podRemoved')];
    const pod = h.publish(testPod({ metadata: deleting }));
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch', 'delete']);
    h.manager.setPodStatus(testPod({ metadata: { uid: 'x' } }), {});
    h.manager.removeOrphanedStatuses(new Set());
    expect([updated.length, removed.length]).toEqual([1, 1]);
  });

  it('come in the order of the versions also where a listener sets the next one, with the pod as it was then', () => {
    const h = new Harness({ started: false });
    const seen: unknown[] = [];
    const pod = testPod({ metadata: { labels: { a: 'first' } } });
    const later = testPod({ metadata: { labels: { a: 'second' } } });
    h.manager.on('podUpdated', ({ version }) => {
      if (version > 1) return;
      h.manager.setPodStatus(later, { message: 'two' });
      Object.assign(later.metadata.labels as object, { a: 'changed since' });
    });
    h.manager.on('podUpdated', ({ version, pod: told }) => seen.push([version, told.metadata?.labels?.a]));
    h.manager.setPodStatus(pod, { message: 'one' });
    expect(seen).toEqual([
      [1, 'first'],
      [2, 'second'],
    ]);
  });

  it('have as many listeners as one likes, and Node’s helper for their limit takes a manager', async () => {
    const h = new Harness({ started: false });
    const warnings: string[] = [];
    const listen = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', listen);
    for (let n = 0; n < 20; n += 1) h.manager.on('podUpdated', () => {});
    setMaxListeners(50, h.manager as unknown as EventEmitter);
    await settle();
    process.off('warning', listen);
    expect([warnings, h.manager.setMaxListeners(0) === h.manager]).toEqual([[], true]);
  });

  it('let a listener set another status', () => {
    const h = new Harness({ started: false });
    const versions: (string | undefined)[] = [];
    h.manager.on('podUpdated', ({ pod, status }) => {
      versions.push(status.message);
      if (versions.length < 3) h.manager.setPodStatus(pod, { message: `m${versions.length}` });
    });
    h.manager.setPodStatus(testPod(), { message: 'm0' });
    expect(versions).toEqual(['m0', 'm1', 'm2']);
    expect(h.manager.getPodStatus('12345678')?.message).toBe('m2');
  });
});

describe('an injected part that throws', () => {
  const boom = (): never => {
    throw new Error('boom');
  };
  const brokenLogger: Logger = { debug: boom, info: boom, warn: boom, error: boom };
  const brokenMetrics: MetricsSink = { increment: boom, observe: boom, set: boom };
  const brokenSafety = { podCouldHaveRunningContainers: boom, podResourcesAreReclaimed: boom };

  it.each([
    ['a logger', { logger: brokenLogger }],
    ['a metrics sink', { metrics: brokenMetrics }],
    ['a deletion safety', { podDeletionSafety: brokenSafety }],
  ])('stops neither sync nor batch: %s', async (_what, options) => {
    const h = new Harness(options);
    const pod = h.publish(testPod({ metadata: deleting }));
    h.client.failNext('patch', { code: 500 });
    expect(await h.set(pod, { phase: 'Failed', message: 'm' })).toEqual(['patch']);
    await h.clock.advance(500);
    expect(h.apiStatus(pod).startTime).toBeDefined();
    h.rival(pod, { podIP: '10.0.0.9' });
    h.observe(pod);
    await h.batch();
    expect(h.apiStatus(pod).podIP).toBeUndefined();
  });

  it('stops no other listener when it is a listener, and is logged', async () => {
    const logged: unknown[] = [];
    const nothing = (): void => {};
    const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: (fields) => void logged.push(fields) };
    const h = new Harness({ logger });
    for (const event of ['podUpdated', 'synced'] as const) {
      h.manager.on(event, boom);
      h.manager.on(event, async () => boom());
    }
    const [updated, synced] = [h.record('podUpdated'), h.record('synced')];
    const pod = h.publish(testPod());
    expect(h.manager.setPodStatus(pod, { message: 'm' })).toBe(true);
    await settle();
    expect([updated.length, synced.length]).toEqual([1, 1]);
    expect(logged).toMatchObject([{ event: 'podUpdated' }, { event: 'podUpdated' }, { event: 'synced' }, { event: 'synced' }]);
    expect(h.manager.explain('12345678').phase).toBe('in-sync');
  });
});

describe('what is handed out of a sync', () => {
  it('cannot be changed: the events synced and syncError, and the last error of a pod', async () => {
    const h = new Harness();
    const [synced, failed] = [h.record('synced'), h.record('syncError')];
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { message: 'a' });
    const { lastError } = h.manager.explain('12345678');
    const flushed = h.manager.flush({ timeoutMs: 0 }).catch((error: unknown) => error);
    await h.clock.advance(0);
    expect(await flushed).toMatchObject({ pods: [{ error: lastError }] });
    await h.clock.advance(1_000);
    expect([synced.length, failed.length]).toEqual([1, 1]);
    for (const each of [lastError, synced[0], failed[0]]) expect(Object.isFrozen(each)).toBe(true);
  });
});
