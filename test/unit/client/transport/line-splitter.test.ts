import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../../src/client/transport/http-exchange.ts';

const texts = (lines: readonly Buffer[]): string[] => lines.map(String);

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const splitter = new LineSplitter({ maxLineBytes: 1_000_000 });
        const found: string[] = [];
        let start = 0;
        for (const size of [...sizes, bytes.length]) {
          found.push(...texts(splitter.push(bytes.subarray(start, start + size))));
          start += size;
        }
        expect(found).toEqual(lines);
      }),
    );
  });

  it('holds back an unfinished line', () => {
    const splitter = new LineSplitter({ maxLineBytes: 100 });
    expect(texts(splitter.push(Buffer.from('one\ntw')))).toEqual(['one']);
    expect(texts(splitter.push(Buffer.from('o\n')))).toEqual(['two']);
  });

  it('refuses a line that does not end', () => {
    const splitter = new LineSplitter({ maxLineBytes: 10 });
    splitter.push(Buffer.from('12345'));
    expect(() => splitter.push(Buffer.from('678901'))).toThrow(expect.objectContaining({ reason: 'BrokenAnswer' }));
  });

  it('refuses a whole line that is too long', () => {
    const splitter = new LineSplitter({ maxLineBytes: 10 });
    expect(texts(splitter.push(Buffer.from('1234567890\n')))).toEqual(['1234567890']);
    expect(() => splitter.push(Buffer.from('12345678901\n'))).toThrow(expect.objectContaining({ reason: 'BrokenAnswer' }));
  });

  it('keeps nothing of a chunk but the bytes of the unfinished line', () => {
    const splitter = new LineSplitter({ maxLineBytes: 10 });
    for (const byte of 'one') {
      const read = Buffer.from(`${byte}${'.'.repeat(60_000)}`);
      splitter.push(read.subarray(0, 1));
      // the next read would go elsewhere: what shows in the line would be held
      read.fill('!');
    }
    expect(texts(splitter.push(Buffer.from('\n')))).toEqual(['one']);
  });
});
