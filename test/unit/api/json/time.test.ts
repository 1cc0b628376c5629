import { describe, expect, it } from 'vitest';
import { toWireJson } from '../../../../src/api/json/json.ts';
import { canonicalTime } from '../../../../src/api/json/time.ts';

describe('canonicalTime', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
    ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00Z'],
    ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z'],
    ['2026-01-02T00:30:00+01:00', '2026-01-01T23:30:00Z'],
    ['2024-02-29T23:30:00.5-01:00', '2024-03-01T00:30:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    [new Date('2026-01-02T03:04:05.678Z'), '2026-01-02T03:04:05Z'],
    [new Date('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59Z'],
  ])('cuts %s to whole seconds in UTC', (value, expected) => {
    expect(canonicalTime(value, 'time')).toBe(expected);
  });

  it.each([
    [undefined],
    [null],
    ['0001-01-01T00:00:00Z'],
    ['0001-01-01T00:00:00.000Z'],
    ['0001-01-01T01:00:00+01:00'],
    [new Date('0001-01-01T00:00:00Z')],
  ])('takes %s for no time', (value) => {
    expect(canonicalTime(value, 'time')).toBeUndefined();
  });

  it.each([
    ['2023-02-30T00:00:00Z'],
    ['2023-02-29T00:00:00Z'],
    ['1900-02-29T00:00:00Z'],
    ['2023-04-31T00:00:00Z'],
    ['2023-02-30T00:00:00.5Z'],
    ['2023-06-31T00:00:00+02:00'],
    ['2023-13-01T00:00:00Z'],
    ['2023-00-01T00:00:00Z'],
    ['2023-01-00T00:00:00Z'],
    ['2023-01-01T24:00:00Z'],
    ['2023-01-01T00:00:60Z'],
    ['9999-12-31T23:30:00-01:00'],
    ['0000-01-01T00:30:00+01:00'],
    ['10000-01-01T00:00:00Z'],
    ['2023-01-01'],
    [new Date('+010000-01-01T00:00:00Z')],
    [new Date(8.64e15)],
    [new Date('-000001-12-31T00:00:00Z')],
    [new Date(Number.NaN)],
    [5],
  ])('refuses %s', (value) => {
    const refused = { code: 'ERR_INVALID_ARGUMENT', message: expect.stringContaining('Expected `time` to be an RFC 3339 time') };
    expect(() => canonicalTime(value, 'time')).toThrow(expect.objectContaining(refused));
  });

  it('knows the days of every month, in leap years and others', () => {
    for (const year of [1900, 2000, 2023, 2024]) {
      for (let month = 1; month <= 12; month += 1) {
        const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
        const isTime = (day: number): boolean => {
          const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}T00:00:00Z`;
          try {
            return canonicalTime(text, 'time') === text;
          } catch {
            return false;
          }
        };
        const accepted = Array.from({ length: 32 }, (_, day) => day).filter(isTime);
        expect(accepted).toEqual(Array.from({ length: days }, (_, index) => index + 1));
      }
    }
  });
});

describe('toWireJson', () => {
  it.each([
    new Date(8.64e15),
    new Date('-000001-12-31T00:00:00Z'),
  ])('refuses the Date %s, which no RFC 3339 time can say', (at) => {
    expect(() => toWireJson({ at })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }));
  });
});
