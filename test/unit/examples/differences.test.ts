import type { V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { type Comparison, findDifferences } from '../../../examples/virtual-node/differences.ts';
import type { WirePod } from '../../../src/index.ts';

const foreign = { type: 'example.com/Foreign', status: 'True', message: 'one' };
const startedAt = new Date('2026-01-01T00:00:00Z');

const pod: WirePod = {
  metadata: { name: 'web', uid: 'u1' },
  status: {
    phase: 'Running',
    qosClass: 'BestEffort',
    startTime: '2026-01-01T00:00:00Z',
    conditions: [foreign, { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    containerStatuses: [
      {
        name: 'app',
        image: 'app:1',
        imageID: '',
        ready: true,
        restartCount: 0,
        lastState: {},
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      },
    ],
  },
};
const ours: V1PodStatus = {
  phase: 'Running',
  startTime: startedAt,
  conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: startedAt }],
  containerStatuses: [
    { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0, state: { running: { startedAt } } },
  ],
};

function differences(changes: Partial<Comparison> = {}, status: V1PodStatus | undefined = ours): string[] {
  return findDifferences({
    serverPods: [pod],
    agentUIDs: new Set(['u1']),
    alive: new Map([['u1', { name: 'web', uid: 'u1' }]]),
    getPodStatus: () => status,
    foreignConditions: new Map([['u1', foreign]]),
    ...changes,
  });
}

describe('findDifferences', () => {
  it('finds none where the server has the whole status, with its fill-ins and foreign conditions', () => {
    expect(differences()).toEqual([]);
  });

  it('names the fields in which the server differs', () => {
    expect(differences({}, { ...ours, phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] })).toEqual([
      'web: the server differs in phase, conditions',
    ]);
    expect(differences({}, { ...ours, containerStatuses: [] })).toEqual(['web: the server differs in containerStatuses']);
  });

  it('names a field that only the server has', () => {
    const told = { ...pod, status: { ...pod.status, message: 'not ours' } };
    expect(differences({ serverPods: [told] })).toEqual(['web: the server differs in message']);
  });

  it('finds a foreign condition that is gone or changed', () => {
    const changed = new Map([['u1', { ...foreign, message: 'two' }]]);
    expect(differences({ foreignConditions: changed })).toEqual([
      'web: condition example.com/Foreign is not as its owner wrote it',
    ]);
  });

  it('finds pods that only one side has', () => {
    expect(differences({ agentUIDs: new Set() })).toEqual(['web: the server has it, the agent does not']);
    const given = { serverPods: [], alive: new Map() };
    expect(differences(given)).toEqual(['u1: the agent has it, the server does not']);
    expect(differences({ getPodStatus: () => undefined })).toEqual(['web: the manager has no status of it']);
  });

  it('finds pods that are being deleted, and those that somebody other than their owner has deleted', () => {
    expect(differences({ serverPods: [], agentUIDs: new Set() })).toEqual(['web: it is gone, and its owner has not deleted it']);
    const deleting = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(differences({ serverPods: [deleting] })).toEqual(['web: somebody who is not its owner has deleted it']);
    expect(differences({ serverPods: [deleting], alive: new Map() })).toEqual(['web: it is still being deleted']);
  });
});
