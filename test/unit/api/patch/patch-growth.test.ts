import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../src/api/json/types.ts';
import { createGuardedJsonPatch } from '../../../../src/api/patch/json-patch.ts';
import { podStatusSchema } from '../../../../src/api/patch/patch-schemas.ts';
import { keyBy, sortByOrder } from '../../../../src/api/patch/strategic-merge-diff.ts';
import { applyStrategicMergePatch, createStrategicMergePatch } from '../../../../src/api/patch/strategic-merge-patch.ts';
import { Counter, numbered } from '../../../support/counted.ts';

const size = 4000;
/** No order that a sort likes: neither upwards nor downwards. */
const scattered = (i: number): number => (i * 7919) % size;
const foreign = numbered(size, (i): JsonObject => ({ type: `x/${scattered(i)}`, status: 'True' }));
/** What a few looks at each of the items may read. */
const fewLooks = 40 * size;

afterEach(() => void vi.restoreAllMocks());

describe('patches of a pod with thousands of conditions', () => {
  const counter = new Counter();
  const old = { conditions: counter.readingAll(foreign, 'type') };
  const next = { conditions: [...counter.readingAll(foreign, 'type'), { type: 'Ready', status: 'True' }] };
  const reversed = { conditions: counter.readingAll(foreign.toReversed(), 'type') };

  it('the strategic merge patch reads each key a few times', () => {
    expect(counter.during(() => createStrategicMergePatch(old, next, podStatusSchema))).toBeLessThan(fewLooks);
    expect(counter.during(() => createStrategicMergePatch(old, reversed, podStatusSchema))).toBeLessThan(fewLooks);
    const one = { conditions: [{ type: 'Ready', status: 'True' }] };
    expect(counter.during(() => createStrategicMergePatch(one, next, podStatusSchema))).toBeLessThan(fewLooks);
  });

  it('the JSON Patch reads each key a few times, and moves no list for each', () => {
    const guards = { uid: 'u1' };
    const moves = [vi.spyOn(Array.prototype, 'shift'), vi.spyOn(Array.prototype, 'unshift')];
    expect(counter.during(() => createGuardedJsonPatch(old, next, guards))).toBeLessThan(fewLooks);
    expect(counter.during(() => createGuardedJsonPatch(old, { conditions: [] }, guards))).toBeLessThan(fewLooks);
    const moved = moves.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    expect(moved).toBeLessThan(10);
  });

  it('applying a patch finds each element at once', () => {
    const changes = counter.readingAll(
      foreign.map((condition): JsonObject => ({ ...condition, status: 'False' })),
      'type',
    );
    const order = foreign.toReversed().map(({ type = '' }) => ({ type }));
    const patch = { conditions: changes.toReversed(), '$setElementOrder/conditions': order };
    expect(counter.during(() => applyStrategicMergePatch(old, patch, podStatusSchema))).toBeLessThan(fewLooks);
  });
});

describe('the order of merged lists', () => {
  const keyOf = keyBy('conditions', 'type');

  /** The sort that Go uses for short lists, by the comparison that it uses there. */
  function insertionSorted(items: readonly JsonObject[], order: readonly JsonObject[]): JsonObject[] {
    const place = (item: JsonObject | undefined): number => order.findIndex(({ type }) => type === item?.type);
    const comesBefore = (a: JsonObject | undefined, b: JsonObject | undefined): boolean =>
      place(a) < 0 || place(b) < 0 || place(a) < place(b);
    const out = [...items];
    for (let i = 1; i < out.length; i++) {
      for (let j = i; j > 0 && comesBefore(out[j], out[j - 1]); j--) [out[j - 1], out[j]] = [out[j] ?? {}, out[j - 1] ?? {}];
    }
    return out;
  }

  it('is that of an insertion sort, whatever is listed twice or not at all', () => {
    const typed = fc.array(
      fc.integer({ min: 0, max: 9 }).map((i): JsonObject => ({ type: `t${i}` })),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(typed, typed, (given, order) => {
        const items = given.map((item, index) => ({ ...item, index }));
        expect(sortByOrder(items, order, keyOf)).toEqual(insertionSorted(items, order));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('members named like something on Object.prototype', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty'])('%s is a list like any other', (name) => {
    const [old, next] = [{ [name]: ['a', { b: 1 }] }, { [name]: ['c'] }];
    expect(createGuardedJsonPatch(old, next, { uid: 'u1' }).slice(1)).toEqual([
      { op: 'replace', path: `/status/${name}`, value: ['c'] },
    ]);
    expect(createStrategicMergePatch(old, next, podStatusSchema)).toEqual({ [name]: ['c'] });
    expect(applyStrategicMergePatch(old, next, podStatusSchema)).toEqual(next);
  });
});
