import { describe, expect, it } from 'vitest';
import { safeRandom } from '../../../src/base/random.ts';
import { unhandledRejectionsOf } from '../../support/unhandled-rejections.ts';

describe('safeRandom', () => {
  it.each([0, 0.25, 1])('passes on the number %d', (value) => {
    expect(safeRandom(() => value)()).toBe(value);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('mistake');
      },
    ],
    ['answers NaN', () => Number.NaN],
    ['answers a negative number', () => -0.1],
    ['answers more than 1', () => 1.1],
    ['answers text', () => '0.3'],
    ['answers nothing', () => undefined],
    ['answers a promise that rejects', () => Promise.reject(new Error('mistake'))],
  ])('answers 0.5 where the source %s', async (_what, random) => {
    let answer: unknown;
    const unhandled = await unhandledRejectionsOf(() => {
      answer = safeRandom(random as () => number)();
    });
    expect([answer, unhandled]).toEqual([0.5, []]);
  });
});
