import { afterEach, describe, expect, it, vi } from 'vitest';
import { LinePieces } from '../../../../src/kubelet/logs/log-lines.ts';

afterEach(() => void vi.restoreAllMocks());

/** The pieces of the text, which comes in chunks of so many bytes. */
function piecesOf(text: string, chunkBytes: number, longest: number): string[] {
  const bytes = Buffer.from(text);
  const lines = new LinePieces(longest);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const piece of lines.take(bytes.subarray(at, at + chunkBytes))) pieces.push(String(piece.bytes));
  }
  const rest = lines.end();
  return rest === undefined ? pieces : [...pieces, String(rest.bytes)];
}

describe('LinePieces', () => {
  it.each([1, 2, 3, 7, 100])('are the same lines in chunks of %i bytes', (chunkBytes) => {
    expect(piecesOf('one\n\ntwo\nthree', chunkBytes, 10)).toEqual(['one\n', '\n', 'two\n', 'three']);
  });

  it('copy each byte a few times, however few come at once', () => {
    const size = 20_000;
    const joined = vi.spyOn(Buffer, 'concat');
    expect(piecesOf('x'.repeat(size), 1, size)).toEqual(['x'.repeat(size)]);
    const copied = joined.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(copied).toBeLessThan(4 * size);
  });
});
