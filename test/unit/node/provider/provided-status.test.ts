import { describe, expect, it } from 'vitest';
import type { WireContainerStatus } from '../../../../src/api/json/types.ts';
import { endedStatus } from '../../../../src/node/provider/provided-status.ts';

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
