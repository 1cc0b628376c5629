import { describe, expect, it } from 'vitest';
import { isStillSo, PodSyncState, type Wait, type WaitOnCopy } from '../../../../src/status/sync/pod-sync-state.ts';

function waiting(wait: Wait | undefined): PodSyncState {
  const state = new PodSyncState();
  state.wait = wait;
  return state;
}

const cancel = (): void => {};
const backoff = { kind: 'backoff', version: 3, retryAt: 1, overloaded: false, cancel } as const;
const quarantined = { kind: 'quarantined', version: 3, resourceVersion: '10' } as const;
const gone = { kind: 'gone', version: 3, resourceVersion: '10' } as const;
const held = { kind: 'deleting', resourceVersion: '10' } as const;

describe('PodSyncState.mayTry', () => {
  it.each<[string, Wait | undefined, [boolean, boolean, boolean]]>([
    ['nothing', undefined, [true, true, true]],
    ['a backoff', backoff, [false, false, true]],
    ['a backoff of an overloaded server', { ...backoff, overloaded: true }, [false, false, false]],
    ['a quarantine', quarantined, [false, false, true]],
    ['a pod that is gone', gone, [false, false, true]],
    ['finalizers', held, [true, true, true]],
  ])('waiting for %s: an older version, the same, a newer one', (_, wait, allowed) => {
    const state = waiting(wait);
    expect([2, 3, 4].map((version) => state.mayTry(version))).toEqual(allowed);
  });
});

describe('PodSyncState.isOvertaken', () => {
  const copies = [undefined, '9', '10', '11', 'no number'];

  it.each<[string, Wait | undefined, readonly (string | undefined)[]]>([
    ['nothing', undefined, []],
    ['a backoff', backoff, []],
    ['a quarantine', quarantined, ['9', '11', 'no number']],
    ['a quarantine against an unknown copy', { ...quarantined, resourceVersion: undefined }, ['9', '10', '11', 'no number']],
    ['a pod that is gone', gone, ['9', '11', 'no number']],
    ['finalizers', held, ['11', 'no number']],
  ])('waiting for %s', (_, wait, overtaking) => {
    const state = waiting(wait);
    expect(copies.filter((resourceVersion) => state.isOvertaken(resourceVersion))).toEqual(overtaking);
  });
});

describe('PodSyncState.isIdle', () => {
  it('is true of a new one, and false of one with anything to remember', () => {
    expect(new PodSyncState().isIdle).toBe(true);
    const remembered: Partial<PodSyncState>[] = [
      { inFlight: true },
      { wait: held },
      { failures: 1 },
      { fetch: true },
      { phaseHeldBack: true },
    ];
    expect(remembered.map((part) => Object.assign(new PodSyncState(), part).isIdle)).toEqual(remembered.map(() => false));
  });

  it('is true again after a success, which ends a backoff’s timer', () => {
    let cancelled = 0;
    const state = waiting({ ...backoff, cancel: () => cancelled++ });
    const lastError = { errorClass: 'timeout', message: 'm', at: 1 } as const;
    Object.assign(state, { failures: 2, lastError, releasedBySuccess: true });
    state.succeeded();
    expect(cancelled).toBe(1);
    expect(state).toMatchObject({ failures: 0, lastError: undefined, releasedBySuccess: false, wait: undefined, isIdle: true });
  });
});

describe('isStillSo', () => {
  it.each<[WaitOnCopy, string | undefined, boolean]>([
    [quarantined, '10', true],
    [quarantined, '11', false],
    [quarantined, undefined, false],
    [{ ...quarantined, resourceVersion: undefined }, undefined, false],
    [held, '10', true],
    [held, '9', false],
  ])('%o and a copy of version %s: %s', (wait, copy, expected) => {
    expect(isStillSo(wait, copy)).toBe(expected);
  });
});
