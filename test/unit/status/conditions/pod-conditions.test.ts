import { describe, expect, it } from 'vitest';
import type { WirePodCondition } from '../../../../src/api/json/types.ts';
import {
  getPodCondition,
  hasTransitionTimeRule,
  isOwnedConditionType,
  isSharedConditionType,
  replaceOrAppendPodCondition,
  transitionTimeConditionTypes,
  withLastTransitionTime,
} from '../../../../src/status/conditions/pod-conditions.ts';

const before = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:00:01Z';

function condition(type: string, status: string, more: Partial<WirePodCondition> = {}): WirePodCondition {
  return { type, status, ...more };
}

describe('isOwnedConditionType', () => {
  it.each([
    'PodScheduled',
    'Ready',
    'Initialized',
    'ContainersReady',
    'PodReadyToStartContainers',
  ])('owns %s [T-TY-01]', (type) => {
    expect(isOwnedConditionType(type)).toBe(true);
  });

  it.each(['PodResizePending', 'PodResizeInProgress', 'AllContainersRestarting'])('owns %s', (type) => {
    expect(isOwnedConditionType(type)).toBe(true);
  });

  it.each(['abcd', 'Unschedulable', 'DisruptionTarget', ''])('does not own %j [T-TY-02]', (type) => {
    expect(isOwnedConditionType(type)).toBe(false);
  });

  it("owns the agent's types beside the kubelet's", () => {
    const extra = new Set(['example.com/warm']);
    expect(isOwnedConditionType('example.com/warm', extra)).toBe(true);
    expect(isOwnedConditionType('Ready', extra)).toBe(true);
    expect(isOwnedConditionType('abcd', extra)).toBe(false);
  });
});

describe('isSharedConditionType', () => {
  it('shares DisruptionTarget [T-TY-03]', () => {
    expect(isSharedConditionType('DisruptionTarget')).toBe(true);
  });

  it.each(['abcd', 'Unschedulable', 'Ready'])('does not share %s [T-TY-04]', (type) => {
    expect(isSharedConditionType(type)).toBe(false);
  });
});

describe('getPodCondition', () => {
  it('finds the first of a type', () => {
    const list = [condition('A', 'True'), condition('B', 'True'), condition('B', 'False')];
    expect(getPodCondition(list, 'B')).toBe(list[1]);
    expect(getPodCondition(list, 'C')).toBeUndefined();
    expect(getPodCondition(undefined, 'A')).toBeUndefined();
    expect(getPodCondition(null, 'A')).toBeUndefined();
  });
});

describe('replaceOrAppendPodCondition', () => {
  it('appends to an empty list [T-UP-05]', () => {
    expect(replaceOrAppendPodCondition([], condition('A', 'True'))).toEqual([condition('A', 'True')]);
    expect(replaceOrAppendPodCondition(undefined, condition('A', 'True'))).toEqual([condition('A', 'True')]);
  });

  it('replaces a condition of the same type [T-UP-06]', () => {
    expect(replaceOrAppendPodCondition([condition('A', 'True')], condition('A', 'False'))).toEqual([condition('A', 'False')]);
  });

  it('replaces in place, the first only, and leaves the list it got alone', () => {
    const list = Object.freeze([condition('A', '1'), condition('B', '1'), condition('B', '2')]);
    expect(replaceOrAppendPodCondition(list, condition('B', '3')).map((c) => c.type + c.status)).toEqual(['A1', 'B3', 'B2']);
    expect(list.map((c) => c.type + c.status)).toEqual(['A1', 'B1', 'B2']);
  });
});

describe('withLastTransitionTime', () => {
  const old = (status: string): WirePodCondition => condition('test-type', status, { lastTransitionTime: before });

  it('is now without an old condition [T-SM-077]', () => {
    const updated = withLastTransitionTime(condition('test-type', 'True'), undefined, now);
    expect(updated).toEqual(condition('test-type', 'True', { lastTransitionTime: now }));
  });

  it('is now when the status value changed [T-SM-078]', () => {
    const updated = withLastTransitionTime(condition('test-type', 'True'), old('False'), now);
    expect(updated).toEqual(condition('test-type', 'True', { lastTransitionTime: now }));
  });

  it('stays while the status value is the same, whatever else changed [T-SM-079]', () => {
    const changed = Object.freeze(condition('test-type', 'False', { reason: 'New', message: 'new', lastTransitionTime: now }));
    expect(withLastTransitionTime(changed, old('False'), now)).toEqual({ ...changed, lastTransitionTime: before });
  });

  it('keeps the lack of a time too', () => {
    const given = condition('test-type', 'True', { lastTransitionTime: now });
    const updated = withLastTransitionTime(given, condition('test-type', 'True'), now);
    expect(updated).toStrictEqual(condition('test-type', 'True'));
  });

  it('is meant for every type with a derived time, and none of the resize ones', () => {
    expect(transitionTimeConditionTypes).toEqual([
      'ContainersReady',
      'Ready',
      'Initialized',
      'PodReadyToStartContainers',
      'PodScheduled',
      'DisruptionTarget',
      'AllContainersRestarting',
    ]);
    expect(transitionTimeConditionTypes.every(hasTransitionTimeRule)).toBe(true);
    expect(hasTransitionTimeRule('PodResizePending')).toBe(false);
  });
});
