import { describe, expect, it } from 'vitest';
import type { DebugTraffic } from '../../../../../src/observe/debug/debug-api.ts';
import { rowWindow, scrollTo } from '../../../../../tools/page/src/model/row-window.ts';
import { columnsOf, mergeTraffic, shownSeconds } from '../../../../../tools/page/src/model/traffic.ts';
import { age, byteCount, duration, isoTime, timeOfDay } from '../../../../../tools/page/src/text/format.ts';
import { manyLines, oneLine } from '../../../../../tools/page/src/text/json-text.ts';

describe('times, sizes and values as text', () => {
  it.each([
    [0, '0 ms'],
    [0.42, '0.4 ms'],
    [12.4, '12 ms'],
    [999, '999 ms'],
    [3_140, '3.1 s'],
    [42_000, '42 s'],
    [240_000, '4 min'],
    [7_200_000, '2 h'],
    [432_000_000, '5 d'],
  ])('writes %i milliseconds as %s', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [-5_000, 'now'],
    [999, 'now'],
    [1_000, '1 s'],
    [9_999, '9 s'],
    [61_000, '61 s'],
  ])('writes the age of %i milliseconds as %s', (ms, text) => expect(age(0, ms)).toBe(text));

  it('writes bytes', () => expect([412, 1_200, 3_100_000].map(byteCount)).toEqual(['412 B', '1.2 KB', '3.1 MB']));

  it('bears a time that is none', () => expect([timeOfDay(Number.NaN), isoTime(Number.NaN)]).toEqual(['?', '']));

  it('writes values on one line and on many, and reads a body that is JSON', () => {
    expect([oneLine({ a: 1 }), oneLine('x'), oneLine(undefined), oneLine(null)]).toEqual(['{"a":1}', '"x"', 'not there', 'null']);
    expect([manyLines('{"a":1}'), manyLines({ a: 1 }), manyLines('no { JSON')]).toEqual([
      '{\n  "a": 1\n}',
      '{\n  "a": 1\n}',
      'no { JSON',
    ]);
  });
});

describe('rowWindow', () => {
  it.each([
    [0, 340, 10_000, { start: 0, end: 18 }],
    [3_400, 340, 10_000, { start: 92, end: 118 }],
    [339_660, 340, 10_000, { start: 9_982, end: 10_000 }],
    [3_400, 340, 5, { start: 5, end: 5 }],
    [0, 0, 0, { start: 0, end: 0 }],
  ])('at %i of %i pixels and %i rows', (scrollTop, height, rows, window) => {
    expect(rowWindow(scrollTop, height, 34, rows)).toEqual(window);
  });
});

describe('scrollTo', () => {
  it('scrolls no further than needed, and not at all to a row that is seen whole', () => {
    expect(scrollTo(0, 100, 340, 34, 36)).toBe(0);
    expect(scrollTo(5, 0, 340, 34, 36)).toBeUndefined();
    expect(scrollTo(9, 0, 340, 34, 36)).toBe(36);
  });
});

describe('traffic', () => {
  const second = (at: number, patches: number): DebugTraffic => {
    const rest = { gets: 0, deletes: 0, failed: 0, synced: 0, delayP50Ms: undefined, delayP99Ms: 7 };
    return { at: at * 1000, patches, ...rest };
  };

  it('takes the newest word of each second, and drops what is too old', () => {
    expect(mergeTraffic([second(1, 1), second(2, 1)], [second(2, 5), second(3, 1)])).toEqual([
      second(1, 1),
      second(2, 5),
      second(3, 1),
    ]);
    expect(mergeTraffic([second(1, 1), second(2, 1)], [second(301, 3)])).toEqual([second(2, 1), second(301, 3)]);
  });

  it('shows what comes after the clock of the server was set back, and not what was ahead of that', () => {
    const known = [second(9_999, 1), second(10_000, 1)];
    const after = mergeTraffic(known, [second(10_000, 2), second(5_000, 1)]);
    expect(after).toEqual([second(5_000, 1)]);
    expect(mergeTraffic(after, [second(5_000, 3), second(5_001, 1)])).toEqual([second(5_000, 3), second(5_001, 1)]);
  });

  it('has a place for every second that is over, with no requests and no delay where nothing was', () => {
    const columns = columnsOf([second(998, 4)], 1_000_500);
    expect([columns.seconds.length, columns.seconds.at(-1)]).toEqual([shownSeconds, 999]);
    expect([columns.patches.slice(-3), columns.p99.slice(-3), columns.p50.at(-2)]).toEqual([[0, 4, 0], [null, 7, null], null]);
  });
});
