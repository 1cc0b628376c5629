import { describe, expect, it } from 'vitest';
import { PodStatuses, type VersionedPodStatus } from '../../../../src/status/status-cache.ts';
import { apiPodOf } from '../../../../src/status/sync/api-copies.ts';
import { isUrgent } from '../../../../src/status/sync/look.ts';
import { testPod } from '../status-harness.ts';

const rest = {
  podName: 'foo',
  podNamespace: 'new',
  at: 0,
  agesFrom: 0,
  setAt: 0,
  podIsFinished: false,
  finishedByManager: false,
  deletionSeenAt: undefined,
};

describe('isUrgent', () => {
  const entryOf = (status: object, podIsFinished = false): VersionedPodStatus =>
    new PodStatuses().store('uid', { ...rest, status, podIsFinished });
  const copyOf = (status: object, metadata = {}) => apiPodOf(testPod({ status, metadata }));
  const deleting = { deletionTimestamp: '2030-01-01T00:00:00Z' };
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status }] });

  it.each([
    ['a finished pod that is to be deleted', entryOf({ phase: 'Failed' }, true), copyOf({ phase: 'Failed' }, deleting), true],
    ['a finished pod without an API copy', entryOf({}, true), undefined, true],
    ['a finished pod whose end is on the apiserver', entryOf({ phase: 'Failed' }, true), copyOf({ phase: 'Failed' }), false],
    ['a terminal phase that is not on the apiserver', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Running' }), true],
    ['a terminal phase that is on the apiserver', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Succeeded' }), false],
    ['a terminal phase without an API copy', entryOf({ phase: 'Failed' }), undefined, true],
    ['a first Ready', entryOf(ready('True')), copyOf(ready('False')), true],
    ['a lost Ready', entryOf(ready('False')), copyOf(ready('True')), true],
    ['a Ready that is on the apiserver', entryOf(ready('True')), copyOf(ready('True')), false],
    ['a Ready without an API copy', entryOf(ready('True')), undefined, true],
    ['a pod that is not Ready, without an API copy', entryOf(ready('False')), undefined, false],
    ['Ready Unknown after Ready False', entryOf(ready('Unknown')), copyOf(ready('False')), false],
  ])('%s', (_, entry, copy, expected) => {
    expect(isUrgent(entry, copy)).toBe(expected);
  });
});
