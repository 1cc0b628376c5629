import { expect, it } from 'vitest';
import { ActiveDeadlines } from '../../../../src/agent/sync/active-deadlines.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

function made() {
  const clock = new FakeClock();
  const events: string[] = [];
  const synced: string[] = [];
  const deadlines = new ActiveDeadlines({
    clock,
    eventRecorder: { event: (_, type, reason) => void events.push(`${type} ${reason}`) },
    requestSync: (podUID) => void synced.push(podUID),
  });
  const startTime = new Date(clock.now()).toISOString();
  const pod = (activeDeadlineSeconds?: number) => ({
    metadata: { uid: 'u', name: 'p', namespace: 'default' },
    spec: { containers: [], ...(activeDeadlineSeconds !== undefined && { activeDeadlineSeconds }) },
  });
  return { clock, events, synced, deadlines, pod, running: { phase: 'Running', startTime } };
}

it('a pod is synced when its time is over, and has to go then', async () => {
  const { clock, events, synced, deadlines, pod, running } = made();
  expect(deadlines.evictionOf(pod(5), running)).toBeUndefined();
  await clock.advance(4999);
  expect(synced).toEqual([]);
  await clock.advance(1);
  expect(synced).toEqual(['u']);
  expect(deadlines.evictionOf(pod(5), running)).toMatchObject({ reason: 'DeadlineExceeded' });
  expect(events).toEqual(['Normal DeadlineExceeded']);
});

it('a deadline that comes nearer counts, and one that goes away does not', async () => {
  const { clock, synced, deadlines, pod, running } = made();
  deadlines.evictionOf(pod(600), running);
  deadlines.evictionOf(pod(5), running);
  await clock.advance(5000);
  expect(synced).toEqual(['u']);
  deadlines.evictionOf(pod(10), running);
  deadlines.evictionOf(pod(), running);
  await clock.advance(60_000);
  expect(synced).toEqual(['u']);
});

it.each([
  ['has not begun', { phase: 'Pending' }],
  ['is over', { phase: 'Succeeded', startTime: '1999-01-01T00:00:00Z' }],
])('a pod that %s stays', (_, status) => {
  const { deadlines, pod, events } = made();
  expect(deadlines.evictionOf(pod(1), status)).toBeUndefined();
  expect(events).toEqual([]);
});
