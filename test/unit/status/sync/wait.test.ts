import { describe, expect, it } from 'vitest';
import { isOvertaken, isStillSo, mayTry, type Wait, type WaitOnCopy } from '../../../../src/status/sync/sync-context.ts';

const backoff = { kind: 'backoff', version: 3, retryAt: 1, overloaded: false } as const;
const quarantined = { kind: 'quarantined', version: 3, resourceVersion: '10' } as const;
const gone = { kind: 'gone', version: 3, resourceVersion: '10' } as const;
const held = { kind: 'deleting', resourceVersion: '10', since: { at: 1, listedAt: undefined } } as const;

describe('mayTry', () => {
  it.each<[string, Wait | undefined, [boolean, boolean, boolean]]>([
    ['nothing', undefined, [true, true, true]],
    ['a backoff', backoff, [false, false, true]],
    ['a backoff of an overloaded server', { ...backoff, overloaded: true }, [false, false, false]],
    ['a quarantine', quarantined, [false, false, true]],
    ['a pod that is gone', gone, [false, false, true]],
    ['finalizers', held, [true, true, true]],
  ])('waiting for %s: an older version, the same, a newer one', (_, wait, allowed) => {
    expect([2, 3, 4].map((version) => mayTry(wait, version))).toEqual(allowed);
  });
});

describe('isOvertaken', () => {
  const copies = [undefined, '9', '10', '11', 'no number'];

  it.each<[string, Wait | undefined, readonly (string | undefined)[]]>([
    ['nothing', undefined, []],
    ['a backoff', backoff, []],
    ['a quarantine', quarantined, ['9', '11', 'no number']],
    ['a quarantine against an unknown copy', { ...quarantined, resourceVersion: undefined }, ['9', '10', '11', 'no number']],
    ['a pod that is gone', gone, ['9', '11', 'no number']],
    ['finalizers', held, ['11', 'no number']],
  ])('waiting for %s', (_, wait, overtaking) => {
    expect(copies.filter((resourceVersion) => isOvertaken(wait, resourceVersion))).toEqual(overtaking);
  });

  it('waiting for finalizers: any other copy, an older one too, once there was a full list', () => {
    expect(copies.filter((resourceVersion) => isOvertaken(held, resourceVersion, true))).toEqual(['9', '11', 'no number']);
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
  ])('%o and a copy of resourceVersion %s: %s', (wait, copy, expected) => {
    expect(isStillSo(wait, copy)).toBe(expected);
  });
});
