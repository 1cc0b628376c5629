import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../../src/base/errors.ts';
import { BackoffError, earliestBackoffEnd } from '../../../../src/node/workers/backoff-error.ts';
import { durationText } from '../../../../src/node/workers/restart-backoff.ts';

describe('a backoff error', () => {
  it('has a code, a time and a cause', () => {
    const cause = new Error('why');
    const error = new BackoffError('later', 5, { cause });
    expect(isStatusManagerError(error, 'ERR_BACKOFF')).toBe(true);
    expect(error).toMatchObject({ name: 'BackoffError', message: 'later', until: 5, cause });
  });

  it('is found as a cause and among others, the earliest first', () => {
    const several = new AggregateError([
      new Error('a'),
      new BackoffError('b', 9),
      new Error('c', { cause: new BackoffError('d', 7) }),
    ]);
    expect(earliestBackoffEnd(new Error('outer', { cause: several }))).toBe(7);
  });

  it.each([
    [undefined],
    ['text'],
    [new Error('none')],
    [new AggregateError([])],
    [{ code: 'ERR_BACKOFF', until: Number.NaN }],
  ])('is not found in %o', (error) => {
    expect(earliestBackoffEnd(error)).toBeUndefined();
  });
});

describe('an error that throws when it is looked at', () => {
  it('holds no backoff', () => {
    const hostile = Object.defineProperty({}, 'code', {
      get() {
        throw new Error('hostile');
      },
    });
    expect(earliestBackoffEnd(hostile)).toBeUndefined();
  });
});

describe('a duration', () => {
  it.each([
    [0, '0s'],
    [500, '500ms'],
    [1500, '1.5s'],
    [10_000, '10s'],
    [60_000, '1m0s'],
    [160_000, '2m40s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [3_661_250, '1h1m1.25s'],
  ])('of %i ms is written as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
