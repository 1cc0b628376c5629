import { describe, expect, it } from 'vitest';
import { PodSyncState } from '../../../../src/status/sync/pod-sync-state.ts';

const backoff = { kind: 'backoff', version: 3, retryAt: 1, overloaded: false } as const;
const held = { kind: 'deleting', resourceVersion: '10', since: { at: 1, listedAt: undefined } } as const;
const error = { errorClass: 'timeout', message: 'm', at: 1 } as const;

const since = { at: 1000, elapsed: 10 };

function begun(): PodSyncState {
  const state = new PodSyncState();
  state.begin(since);
  return state;
}

describe('PodSyncState, idle, in flight and waiting', () => {
  it('is idle, then in flight, then idle or waiting', () => {
    const state = new PodSyncState();
    expect([state.underWay, state.wait]).toEqual([undefined, undefined]);
    state.begin(since);
    expect([state.underWay?.kind, state.wait]).toEqual(['in-flight', undefined]);
    state.settle(undefined, since);
    expect([state.underWay, state.wait]).toEqual([undefined, undefined]);
    state.begin(since);
    state.settle(held, since);
    expect([state.underWay, state.wait]).toEqual([undefined, held]);
    state.endWait();
    expect(state.wait).toBeUndefined();
  });

  it('is overdue while a request outlives its sync, and then waiting', () => {
    const state = begun();
    state.settleOverdue(backoff);
    expect([state.underWay?.kind, state.isOverdue, state.wait]).toEqual(['overdue', true, backoff]);
    state.release();
    expect([state.underWay, state.isOverdue, state.wait]).toEqual([undefined, false, backoff]);
  });

  it('is idle after an overdue request whose wait was ended meanwhile', () => {
    const state = begun();
    state.settleOverdue(backoff);
    state.endWait();
    expect(state.underWay?.kind).toBe('overdue');
    state.release();
    expect([state.underWay, state.wait]).toEqual([undefined, undefined]);
  });

  it('keeps the version that the sync attempted until the next sync begins', () => {
    const state = begun();
    state.attempt(4);
    expect(state.underWay?.attempted).toBe(4);
    state.begin(since);
    expect(state.underWay?.attempted).toBe(0);
  });
});

describe('PodSyncState.askFor', () => {
  it.each([
    [['look'], 'look'],
    [['sync'], 'sync'],
    [['look', 'sync'], 'sync'],
    [['sync', 'look'], 'sync'],
  ] as const)('keeps what was asked for, a sync before a look: %j', (asked, expected) => {
    const state = begun();
    for (const afterwards of asked) state.askFor(afterwards);
    expect(state.underWay?.afterwards).toBe(expected);
    state.settleOverdue(undefined);
    expect(state.underWay?.afterwards).toBe(expected);
  });

  it('works while a request outlives its sync, and does nothing for an idle pod', () => {
    const state = begun();
    state.settleOverdue(undefined);
    state.askFor('look');
    expect(state.underWay?.afterwards).toBe('look');
    state.release();
    state.askFor('sync');
    expect(state.underWay).toBeUndefined();
  });
});

describe('PodSyncState.forget', () => {
  it.each(['in-flight', 'overdue'] as const)('keeps only the mark that a request is %s', (kind) => {
    const state = begun();
    Object.assign(state, { fetch: true, phaseHeldBack: true, releasedBySuccess: true });
    state.fail(error, 'the status could not be written', { kind: 'unavailable', help: undefined });
    state.askFor('sync');
    if (kind === 'overdue') state.settleOverdue(backoff);
    state.forget();
    expect(state.underWay).toMatchObject({ kind, entryDropped: true, afterwards: 'nothing' });
    expect(state).toMatchObject({ failures: 0, lastError: undefined, fetch: false, phaseHeldBack: false, wait: undefined });
  });

  it('ends a wait', () => {
    const state = begun();
    state.settle(held, since);
    state.forget();
    expect([state.wait, state.isForgettable]).toEqual([undefined, true]);
  });
});

describe('PodSyncState.isForgettable', () => {
  it('is true for a new state, and false for one that holds anything', () => {
    expect(new PodSyncState().isForgettable).toBe(true);
    const waiting = begun();
    waiting.settle(held, since);
    const states = [
      begun(),
      waiting,
      ...[{ failures: 1 }, { fetch: true }, { phaseHeldBack: true }].map((part) => Object.assign(new PodSyncState(), part)),
    ];
    expect(states.map(({ isForgettable }) => isForgettable)).toEqual(states.map(() => false));
  });

  it('is true again after a success', () => {
    const state = begun();
    state.fail(error, 'the status could not be written', { kind: 'unavailable', help: undefined });
    state.fail(error, 'the status could not be written', { kind: 'unavailable', help: undefined });
    expect(state).toMatchObject({ failures: 2, lastError: error });
    state.releasedBySuccess = true;
    state.succeed();
    state.settle(undefined, since);
    expect(state).toMatchObject({ failures: 0, lastError: undefined, releasedBySuccess: false, isForgettable: true });
  });
});
