import { describe, expect, it } from 'vitest';
import { PodStatuses, type VersionedPodStatus } from '../../../../src/status/cache/pod-statuses.ts';
import { apiPodOf } from '../../../../src/status/sync/api-copies.ts';
import { isUrgent } from '../../../../src/status/sync/urgency.ts';
import { testPod } from '../harness.ts';

const rest = {
  podName: 'foo',
  podNamespace: 'new',
  at: 0,
  podIsFinished: false,
  finishedByManager: false,
  deletionSeenAt: undefined,
};

describe('isUrgent', () => {
  const entryOf = (status: object, podIsFinished = false): VersionedPodStatus =>
    new PodStatuses().store('uid', { ...rest, status, podIsFinished });
  const copyOf = (status: object) => apiPodOf(testPod({ status }));
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status }] });

  it.each([
    ['a finished pod', entryOf({ phase: 'Failed' }, true), copyOf({ phase: 'Failed' }), true],
    ['an end the apiserver does not know', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Running' }), true],
    ['an end it knows', entryOf({ phase: 'Succeeded' }), copyOf({ phase: 'Succeeded' }), false],
    ['an end of a pod it shows nothing of', entryOf({ phase: 'Failed' }), undefined, true],
    ['a first Ready', entryOf(ready('True')), copyOf(ready('False')), true],
    ['a Ready that is lost', entryOf(ready('False')), copyOf(ready('True')), true],
    ['a Ready that it knows', entryOf(ready('True')), copyOf(ready('True')), false],
    ['a Ready of a pod it shows nothing of', entryOf(ready('True')), undefined, true],
    ['a pod that is not Ready and that it shows nothing of', entryOf(ready('False')), undefined, false],
    ['an unknown Ready for one that is False', entryOf(ready('Unknown')), copyOf(ready('False')), false],
  ])('%s', (_, entry, copy, expected) => {
    expect(isUrgent(entry, copy)).toBe(expected);
  });
});
