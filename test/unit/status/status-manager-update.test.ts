import { describe, expect, it } from 'vitest';
import type { WirePod, WirePodStatus } from '../../../src/api/json/types.ts';
import { asUpstream, Harness, randomStatus, readyStatus, testPod } from './status-harness.ts';

const startTimeOf = (h: Harness): number => Number(h.manager.getPodStatus('12345678')?.startTime);
const readyTimeOf = (h: Harness): number => Number(h.manager.getPodStatus('12345678')?.conditions?.[0]?.lastTransitionTime);

describe.each([
  ['as upstream', asUpstream, ['get', 'patch']],
  ['by default', {}, ['patch']],
] as const)('StatusManager.setPodStatus, %s', (_way, options, oneWrite) => {
  function started(pod: WirePod = testPod()): { h: Harness; pod: WirePod } {
    const h = new Harness(options);
    return { h, pod: h.publish(pod) };
  }

  it('sends a new status and gives it a start time [T-SM-001]', async () => {
    const { h, pod } = started();
    expect(await h.set(pod, randomStatus())).toEqual(oneWrite);
    expect(startTimeOf(h)).toBe(h.clock.now());
  });

  it('keeps the given start time, cut to whole seconds [T-SM-002]', async () => {
    const h = new Harness(options);
    const startTime = new Date(h.clock.now() - 60_000 + 987);
    h.publish(testPod());
    h.manager.setPodStatus({ ...testPod(), status: { startTime } }, randomStatus());
    expect(startTimeOf(h)).toBe(h.clock.now() - 60_000);
  });

  it('gives the first Ready condition a transition time [T-SM-003]', async () => {
    const { h, pod } = started();
    expect(await h.set(pod, readyStatus('True'))).toEqual(oneWrite);
    expect(readyTimeOf(h)).toBe(h.clock.now());
    expect(h.apiStatus(pod).conditions?.[0]?.lastTransitionTime).toBe('2000-01-01T00:00:00Z');
  });

  it('sends each changed status [T-SM-004]', async () => {
    const { h, pod } = started();
    expect(await h.set(pod, randomStatus())).toEqual(oneWrite);
    expect(await h.set(pod, randomStatus())).toEqual(oneWrite);
  });

  it('keeps the start time of an earlier status [T-SM-005]', async () => {
    const { h, pod } = started();
    const startTime = new Date(h.clock.now() - 5_000 + 1);
    expect(await h.set(pod, { ...randomStatus(), startTime })).toEqual(oneWrite);
    expect(await h.set(pod, randomStatus())).toEqual(oneWrite);
    expect(startTimeOf(h)).toBe(h.clock.now() - 5_000);
  });

  it('gives a changed Ready condition a new transition time [T-SM-006]', async () => {
    const { h, pod } = started();
    await h.set(pod, readyStatus('True'));
    const first = readyTimeOf(h);
    await h.clock.advance(2_000);
    expect(await h.set(pod, readyStatus('False'))).toEqual(oneWrite);
    expect(readyTimeOf(h)).toBe(first + 2_000);
  });

  it('sends the same status once [T-SM-007]', async () => {
    const { h, pod } = started();
    const status = randomStatus();
    expect(h.manager.setPodStatus(pod, status)).toBe(true);
    expect(h.manager.setPodStatus(pod, status)).toBe(false);
    expect(await h.calls()).toEqual(oneWrite);
  });

  it('keeps the transition time of an unchanged condition, and sends nothing [T-SM-008]', async () => {
    const { h, pod } = started();
    expect(await h.set(pod, readyStatus('True'))).toEqual(oneWrite);
    const first = readyTimeOf(h);
    await h.clock.advance(2_000);
    expect(await h.set(pod, readyStatus('True'))).toEqual([]);
    expect(readyTimeOf(h)).toBe(first);
    expect(first).toBeGreaterThan(0);
  });
});

describe('StatusManager.setPodStatus: the stored status', () => {
  it('keeps the transition time while only reason and message change', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, readyStatus('True'));
    await h.clock.advance(2_000);
    await h.set(pod, { conditions: [{ type: 'Ready', status: 'True', reason: 'Other', message: 'other' }] });
    expect(h.apiStatus(pod).conditions).toEqual([
      { type: 'Ready', status: 'True', reason: 'Other', message: 'other', lastTransitionTime: '2000-01-01T00:00:00Z' },
    ]);
  });

  it('keeps the first start time, whatever later statuses have', () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(testPod(), { startTime: '1999-06-01T00:00:00Z' });
    h.manager.setPodStatus(testPod(), { startTime: '1999-07-01T00:00:00Z', message: 'later' });
    expect(h.manager.getPodStatus('12345678')).toMatchObject({ startTime: new Date('1999-06-01T00:00:00Z'), message: 'later' });
  });

  it('takes a phase that was final back, and a lower restart count, as the kubelet’s manager does', () => {
    const h = new Harness({ started: false });
    const refused = h.record('illegalTransition');
    const running = (restartCount: number): WirePodStatus => ({
      phase: 'Running',
      containerStatuses: [{ name: 'c', image: '', imageID: '', ready: false, restartCount, state: { running: {} } }],
    });
    expect(h.manager.setPodStatus(testPod(), { phase: 'Succeeded' })).toBe(true);
    expect(h.manager.setPodStatus(testPod(), running(5))).toBe(true);
    expect(h.manager.setPodStatus(testPod(), running(2))).toBe(true);
    expect(h.manager.getPodStatus('12345678')).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 2 }] });
    expect(refused).toEqual([]);
  });

  it('sets the observed generation, which never goes back', () => {
    const h = new Harness({ started: false });
    const generation = (n?: number): WirePod => testPod({ metadata: n === undefined ? {} : { generation: n } });
    const observed = (): number | undefined => h.manager.getPodStatus('12345678')?.observedGeneration;
    h.manager.setPodStatus(generation(3), { message: 'a', observedGeneration: 77 });
    expect(observed()).toBe(3);
    h.manager.setPodStatus(generation(5), { message: 'b' });
    expect(observed()).toBe(5);
    h.manager.setPodStatus(generation(4), { message: 'c' });
    expect(observed()).toBe(5);
    h.manager.setPodStatus(generation(), { message: 'd' });
    expect(observed()).toBe(5);
  });

  it('compares the first status of a static pod with the mirror pod’s status', () => {
    const h = new Harness({ started: false });
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const mirrored = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.source': 'api' };
    h.podManager.addPod(
      testPod({ metadata: { uid: 'mirror', annotations: mirrored }, status: { startTime: '1999-01-01T00:00:00Z' } }),
    );
    const pod = testPod({ metadata: { annotations }, status: { startTime: '1998-01-01T00:00:00Z' } });
    h.podManager.addPod(pod);
    h.manager.setPodStatus(pod, {});
    expect(startTimeOf(h)).toBe(Date.parse('1999-01-01T00:00:00Z'));
  });

  it('stores a first status even when it equals the apiserver’s', () => {
    const h = new Harness({ started: false });
    const status: WirePodStatus = { phase: 'Running', startTime: '1999-01-01T00:00:00Z' };
    expect(h.manager.setPodStatus(testPod({ status }), status)).toBe(true);
  });

  it('makes a new version at every call while the pod has a deletionTimestamp', () => {
    const h = new Harness({ started: false });
    const pod = testPod({ metadata: { deletionTimestamp: '1999-12-31T00:00:00Z' } });
    expect([1, 2, 3].map(() => h.manager.setPodStatus(pod, { phase: 'Running' }))).toEqual([true, true, true]);
    expect(h.manager.explain('12345678').version).toBe(3);
  });

  it('counts a Date and RFC 3339 text of one time as equal', () => {
    const text = (time: string) => ({
      startTime: time,
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: time, lastTransitionTime: time }],
      containerStatuses: [
        container({ running: { startedAt: time } }),
        container({ terminated: { exitCode: 1, finishedAt: time } }, 'b'),
      ],
    });
    const container = (state: object, name = 'a') => ({ name, image: '', imageID: '', ready: true, restartCount: 0, state });
    const time = '1999-05-05T05:05:05.678+02:00';
    const dates = JSON.parse(JSON.stringify(text(time)), (_, value) => (value === time ? new Date(time) : value));
    const h = new Harness({ started: false });
    expect(h.manager.setPodStatus(testPod(), text(time))).toBe(true);
    const stored = h.manager.getPodStatus('12345678');
    expect(h.manager.setPodStatus(testPod(), dates)).toBe(false);
    const other = new Harness({ started: false });
    other.manager.setPodStatus(testPod(), dates);
    expect(other.manager.getPodStatus('12345678')).toEqual(stored);
    expect(stored?.startTime).toEqual(new Date('1999-05-05T03:05:05Z'));
  });

  it('does not change when the caller changes its objects afterwards', () => {
    const h = new Harness({ started: false });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], podIPs: [{ ip: '10.0.0.1' }] };
    const pod = testPod({ metadata: { generation: 1 } });
    h.manager.setPodStatus(pod, status);
    const before = structuredClone(h.manager.getPodStatus('12345678'));
    status.phase = 'Failed';
    status.conditions.push({ type: 'Initialized', status: 'True' });
    status.podIPs[0] = { ip: '10.0.0.2' };
    pod.metadata.name = 'other';
    pod.metadata.generation = 9;
    expect(h.manager.getPodStatus('12345678')).toEqual(before);
  });

  it('is returned deeply frozen, and as the same object while nothing changes', () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(testPod(), { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    const status = h.manager.getPodStatus('12345678');
    expect(Object.isFrozen(status)).toBe(true);
    expect(Object.isFrozen(status?.conditions)).toBe(true);
    expect(Object.isFrozen(status?.conditions?.[0])).toBe(true);
    expect(h.manager.getPodStatus('12345678')).toBe(status);
    h.manager.setPodStatus(testPod(), { phase: 'Failed' });
    expect(h.manager.getPodStatus('12345678')).not.toBe(status);
    expect(status?.phase).toBe('Running');
  });

  it('is undefined for a pod without one', () => {
    expect(new Harness({ started: false }).manager.getPodStatus('12345678')).toBeUndefined();
  });
});
