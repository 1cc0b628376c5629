import { HeldBytes } from '../../api/json/bytes.ts';
import { ApiError } from './api-error.ts';

const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines. Whoever decodes one has all of it, so a character split over two chunks is whole. An unfinished
 * last line is never given out.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #pending = new HeldBytes();

  constructor({ maxLineBytes }: { maxLineBytes: number }) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines this chunk completes. Throws a `BrokenAnswer` once a line is too long to be kept. */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      lines.push(this.#line(chunk, start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The line that ends here. One that lies whole in the chunk is a piece of it. */
  #line(chunk: Buffer, start: number, end: number): Buffer {
    if (this.#pending.length === 0 && end - start <= this.#maxLineBytes) return chunk.subarray(start, end);
    this.#keep(chunk.subarray(start, end));
    return this.#pending.take();
  }

  #keep(part: Buffer): void {
    if (this.#pending.length + part.length > this.#maxLineBytes) {
      throw new ApiError({ reason: 'BrokenAnswer', message: `A watch event is longer than ${this.#maxLineBytes} bytes` });
    }
    this.#pending.add(part);
  }
}
