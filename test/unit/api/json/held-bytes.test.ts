import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { HeldBytes } from '../../../../src/api/json/bytes.ts';

/** The memory behind what is joined at the end: each buffer once, with an object for each piece of it. */
function memoryOf(fill: (held: HeldBytes) => void): { bytes: Buffer; memory: number } {
  const concat = vi.spyOn(Buffer, 'concat');
  const held = new HeldBytes();
  fill(held);
  const bytes = held.take();
  const parts = concat.mock.calls.at(-1)?.[0] ?? [bytes];
  concat.mockRestore();
  const buffers = new Set(parts.map(({ buffer }) => buffer));
  const memory = parts.length * 200 + Array.from(buffers).reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { bytes, memory };
}

describe('HeldBytes', () => {
  it('gives back what was added, however it was cut, and can be filled again', () => {
    const chunk = fc.tuple(fc.nat(20_000), fc.constantFrom('own', 'piece')).map(([size, kind], index = 0) => {
      const bytes = Buffer.alloc(size, (size + index) % 251);
      return kind === 'own' ? bytes : Buffer.concat([bytes, bytes, bytes]).subarray(size, size * 2);
    });
    fc.assert(
      fc.property(fc.array(fc.array(chunk, { maxLength: 20 }), { maxLength: 3 }), (rounds) => {
        const held = new HeldBytes();
        for (const chunks of rounds) {
          for (const one of chunks) held.add(one);
          const expected = Buffer.concat(chunks);
          expect(held.length).toBe(expected.length);
          expect(held.take().equals(expected)).toBe(true);
          expect(held.length).toBe(0);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['one byte at a time', 1, 0],
    ['small pieces of large buffers', 16, 65_536],
    ['pieces of middling size', 5000, 65_536],
    ['a small and a large one in turn', 4096, 0],
  ])('holds about twice the bytes at most: %s', (_, size, around) => {
    const total = 200_000;
    const { bytes, memory } = memoryOf((held) => {
      while (held.length < total) {
        const chunk = around === 0 ? Buffer.allocUnsafeSlow(size) : Buffer.allocUnsafeSlow(around).subarray(0, size);
        held.add(chunk);
        if (size === 4096) held.add(Buffer.from('x'));
      }
    });
    expect(bytes.length).toBeGreaterThanOrEqual(total);
    expect(memory).toBeLessThan(bytes.length * 2.2);
  });

  it('sets little aside for little, and gives a large chunk back as it came', () => {
    expect(memoryOf((held) => held.add(Buffer.from('x'))).memory).toBeLessThan(10_000);
    const large = Buffer.allocUnsafeSlow(5000);
    const held = new HeldBytes();
    held.add(large);
    expect(held.take()).toBe(large);
  });

  it('gives back the only chunk as it came where its buffer is as small', () => {
    for (const size of [1, 700, 3000]) {
      const chunk = Buffer.allocUnsafeSlow(size);
      const held = new HeldBytes();
      held.add(Buffer.alloc(0));
      held.add(chunk);
      expect(held.take()).toBe(chunk);
    }
  });

  it.each([
    ['a piece of a larger buffer', Buffer.allocUnsafeSlow(8192).subarray(0, 3000)],
    ['a little of a small one', Buffer.allocUnsafeSlow(1025).subarray(0, 400)],
  ])('holds no buffer that is much larger than its bytes: %s', (_, chunk) => {
    const held = new HeldBytes();
    held.add(chunk);
    expect(held.take().buffer.byteLength).toBe(chunk.length);
  });

  it('copies a small chunk that comes after another one, and keeps none that is empty', () => {
    const { memory } = memoryOf((held) => {
      for (let i = 0; i < 1000; i++) held.add(Buffer.alloc(0));
      for (let i = 0; i < 10_000; i++) held.add(Buffer.allocUnsafeSlow(1));
    });
    expect(memory).toBeLessThan(25_000);
  });
});
