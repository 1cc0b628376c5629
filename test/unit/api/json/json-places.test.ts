import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectBytes } from '../../../../src/api/json/bytes.ts';
import { type JsonPlace, jsonPlaces, parseWithout } from '../../../../src/api/json/json-places.ts';

/** Also what a scanner may stumble over: quotes, backslashes, brackets, escapes, wide characters, halves of pairs. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[{}[\]:,"\\ \né€🙂u0]*$/u));
/** V8 takes a name with an escape for one with a backslash that it has read at that place before, and JSON.parse is the judge here. */
const name = text.filter((each) => !each.includes('\\'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constant(null), fc.boolean(), fc.double(), text, tie('array'), tie('object')),
  array: fc.array(tie('value'), { maxLength: 5 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}));
const object = fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: true });
const space = fc.constantFrom(undefined, 1, '\t', ' \n');

/** As Go writes it: with escapes in place of some characters. */
function escaped(json: string): string {
  return json.replaceAll('<', '\\u003c').replaceAll('é', '\\u00e9').replaceAll('€', '\\u20AC');
}

function valueAt(bytes: Buffer, { start, end }: JsonPlace): unknown {
  return JSON.parse(bytes.toString('utf8', start, end));
}

function own(members: Record<string, unknown>): [string, unknown][] {
  return Object.entries(members);
}

describe('jsonPlaces', () => {
  it('finds each member to the depth, and weighs it as the value that it stands for', () => {
    const check = (given: object, bytes: Buffer, place: JsonPlace, depth: number): void => {
      const parsed = JSON.parse(JSON.stringify(given));
      expect(place.bytes).toBe(objectBytes(parsed));
      expect(valueAt(bytes, place)).toEqual(parsed);
      const isIndexed = depth > 0 && typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
      expect([...place.members.keys()].sort()).toEqual(isIndexed ? Object.keys(parsed).sort() : []);
      if (!isIndexed) return;
      for (const [name, inner] of own(parsed)) check(inner as object, bytes, place.members.get(name) as JsonPlace, depth - 1);
    };
    fc.assert(
      fc.property(object, space, fc.integer({ min: 0, max: 4 }), (given, indent, depth) => {
        const bytes = Buffer.from(escaped(JSON.stringify(given, undefined, indent)));
        check(given, bytes, jsonPlaces(bytes, depth) as JsonPlace, depth);
      }),
      { numRuns: 500 },
    );
  });

  it('finds members whose names have backslashes and escapes', () => {
    const place = jsonPlaces(Buffer.from(String.raw`{"\\":1,"a\\u0000b":2,"\u0000":3,"a\u005cb":4}`), 1);
    expect([...(place?.members.keys() ?? [])]).toEqual(['\\', 'a\\u0000b', '\0', 'a\\b']);
  });

  it.each([
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":"b',
    '{"a":"\\',
    '{"a":[}',
    '{"a":{"b":[1,2}',
    '{}{}',
    '{"a" 1}',
    '{a:1}',
  ])('knows no places of %j', (broken) => {
    expect(jsonPlaces(Buffer.from(broken), 3)).toBeUndefined();
  });

  it('reads what is broken at any place without an end', () => {
    fc.assert(
      fc.property(object, fc.nat(), fc.nat(255), (given, at, byte) => {
        const bytes = Buffer.from(JSON.stringify(given));
        bytes[at % bytes.length] = byte;
        const place = jsonPlaces(bytes, 2);
        expect(place === undefined || place.end <= bytes.length).toBe(true);
      }),
    );
  });

  it('looks at each byte at most a few times, however deep the brackets lie', () => {
    let looks = 0;
    const counting = (bytes: Buffer): Uint8Array =>
      new Proxy(bytes, {
        get: (target, name) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) looks++;
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    for (const part of [
      '['.repeat(20_000) + ']'.repeat(20_000),
      JSON.stringify(Array(20_000).fill({ a: 'b' })),
      `"${'\\"'.repeat(20_000)}"`,
    ]) {
      looks = 0;
      const bytes = Buffer.from(`{"a":{"b":${part}}}`);
      expect(jsonPlaces(counting(bytes), 3)?.end).toBe(bytes.length);
      expect(looks).toBeLessThan(8 * bytes.length);
    }
  });
});

describe('parseWithout', () => {
  it('has null at the places, and all else', () => {
    const bytes = Buffer.from('{"a":{"b":[1,2],"c":"ü"},"d":"end"}');
    const places = jsonPlaces(bytes, 2)?.members.get('a')?.members as ReadonlyMap<string, JsonPlace>;
    expect(parseWithout(bytes, [places.get('c') as JsonPlace, places.get('b') as JsonPlace])).toEqual({
      a: { b: null, c: null },
      d: 'end',
    });
    expect(parseWithout(bytes, [])).toEqual({ a: { b: [1, 2], c: 'ü' }, d: 'end' });
  });
});
