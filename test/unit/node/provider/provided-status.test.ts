import { describe, expect, it } from 'vitest';
import type { WireContainerStatus } from '../../../../src/api/json/types.ts';
import { endedStatus, statusOfAnswer } from '../../../../src/node/provider/provided-status.ts';

const startedAt = '2000-01-01T00:00:00Z';
const pod = {
  metadata: { name: 'p', namespace: 'd', uid: 'u' },
  spec: { restartPolicy: 'Never', containers: [{ name: 'ran' }, { name: 'ended' }, { name: 'waits' }] },
};

function reported(name: string, state: WireContainerStatus['state']): WireContainerStatus {
  return { name, image: '', imageID: '', ready: false, restartCount: 0, ...(state && { state }) };
}

describe('the last status of a provided pod', () => {
  it('has exit code 137 for a container that ran, and whose end nobody saw', () => {
    const containerStatuses = [
      reported('ran', { running: { startedAt } }),
      reported('ended', { terminated: { exitCode: 3 } }),
      reported('waits', { waiting: { reason: 'ImagePullBackOff' } }),
    ];
    const facts = { pod, previous: { phase: 'Running', containerStatuses }, hostIPs: [], now: Date.parse(startedAt) };
    const message = 'The container could not be located when the pod was terminated';
    expect(endedStatus(facts, undefined).containerStatuses?.map(({ state }) => state)).toEqual([
      { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message } },
      { terminated: { exitCode: 3 } },
      { waiting: { reason: 'ImagePullBackOff' } },
    ]);
  });
});

describe('the status of a provider that gives the phase alone', () => {
  it.each([
    ['has ended, and runs again', { terminated: { exitCode: 3 } }, '2000-01-01T00:01:00Z', 3],
    ['runs on', { running: { startedAt: '2000-01-01T00:00:30Z' } }, '2000-01-01T00:00:30Z', 2],
  ])('of a container that %s', (_, state, start, restartCount) => {
    const before = { ...reported('app', state), restartCount: 2, lastState: { terminated: { exitCode: 3 } } };
    const again = { metadata: pod.metadata, spec: { restartPolicy: 'Always', containers: [{ name: 'app' }] } };
    const previous = { phase: 'Running' as const, startTime: startedAt, containerStatuses: [before] };
    const facts = { pod: again, previous, hostIPs: [], now: Date.parse(startedAt) + 60_000 };
    expect(statusOfAnswer(facts, { phase: 'Running' }).containerStatuses).toMatchObject([
      { restartCount, state: { running: { startedAt: start } }, lastState: { terminated: { exitCode: 3 } } },
    ]);
  });
});
