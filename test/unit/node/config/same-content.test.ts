import { describe, expect, it } from 'vitest';
import { sameContent } from '../../../../src/node/config/pod-changes.ts';

function nested(depth: number, leaf: unknown): unknown {
  return depth === 0 ? leaf : { inner: nested(depth - 1, leaf) };
}

describe('sameContent', () => {
  const time = '2000-01-01T00:00:00Z';
  it.each([
    [1, 1],
    [null, undefined],
    [
      { a: 1, b: null },
      { a: 1, c: undefined },
    ],
    [{ a: [1, { b: 'x' }] }, { a: [1, { b: 'x' }] }],
    [new Date(time), time],
    [{ at: new Date(time) }, { at: new Date('2000-01-01T00:00:00.900Z') }],
    [nested(100, 1), nested(100, 1)],
  ])('%# says the same', (a, b) => {
    expect([sameContent(a, b), sameContent(b, a)]).toEqual([true, true]);
  });

  it.each([
    [1, 2],
    [1, '1'],
    [0, null],
    [{}, []],
    [{}, null],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [[1, null], [1]],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ toString: 1 }, {}],
    [Object.prototype.toString, {}],
    [new Date(time), new Date('2000-01-01T00:00:01Z')],
    [new Date(time), 'soon'],
    [new Date(time), {}],
    [nested(300, 1), nested(300, 1)],
  ])('%# does not', (a, b) => {
    expect([sameContent(a, b), sameContent(b, a)]).toEqual([false, false]);
  });
});
