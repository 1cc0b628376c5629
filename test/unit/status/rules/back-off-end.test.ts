import { describe, expect, it } from 'vitest';
import { problemOfStatus } from '../../../../src/status/rules/status-problem.ts';

const finishedAt = '2026-01-01T00:00:00Z';

/** The problem of a pod whose container waits with these words. */
function retryAtOf(message: string, finished: string | undefined = finishedAt): number | undefined {
  const terminated = { exitCode: 1, ...(finished !== undefined && { finishedAt: finished }) };
  const state = { state: { waiting: { reason: 'CrashLoopBackOff', message } }, lastState: { terminated } };
  const container = { name: 'app', image: '', imageID: '', ready: false, restartCount: 2, ...state };
  return problemOfStatus({ phase: 'Running', containerStatuses: [container] })?.retryAt;
}

describe('a container that waits to be started again', () => {
  it.each([
    ['10s', 10],
    ['1m20s', 80],
    ['5m0s', 300],
    ['1h0m0s', 3600],
  ])('says when, by the words of a kubelet: %s', (wait, seconds) => {
    const words = `back-off ${wait} restarting failed container=app pod=web_default(u1)`;
    expect(retryAtOf(words)).toBe(Date.parse(finishedAt) + seconds * 1000);
  });

  it.each(['', 'back-off restarting failed container', 'it waits 10s'])('says nothing of it in other words: %s', (words) => {
    expect(retryAtOf(words)).toBeUndefined();
  });

  it('says nothing of it where nobody knows when the last run ended', () => {
    expect(retryAtOf('back-off 10s restarting failed container=app', 'yesterday')).toBeUndefined();
  });
});
