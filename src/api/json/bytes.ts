/** In bytes. */
export const mebibyte = 1024 * 1024;

/** A chunk of at least this many bytes may be kept as it came. */
const worthKeeping = 4096;
const largestSlab = 65_536;
const smallestSlab = 1024;

/**
 * Bytes that come in chunks, joined. It holds at most about twice the bytes that were added, however they were cut: a small chunk
 * is copied to those before it, for an object of its own, and the buffer that it is a piece of, can take a thousand times as much.
 */
export class HeldBytes {
  readonly #parts: Buffer[] = [];
  /** What small chunks are copied into, and how much of it is used. */
  #slab = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  /** How many bytes were added since the last `take`. */
  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    const isKept = this.#isWorthKeeping(chunk);
    this.#length += chunk.length;
    if (isKept) {
      this.#endPart();
      this.#parts.push(chunk);
      return;
    }
    for (let start = 0; start < chunk.length; ) {
      if (this.#used === this.#slab.length) this.#nextSlab();
      const copied = chunk.copy(this.#slab, this.#used, start);
      this.#used += copied;
      start += copied;
    }
  }

  /** All bytes so far, and holds none of them any more. */
  take(): Buffer {
    this.#endPart();
    const parts = this.#parts.splice(0);
    const [only] = parts;
    this.#length = 0;
    this.#slab = Buffer.alloc(0);
    return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
  }

  /** Most answers come in one small chunk: the first one stays as it is where its buffer takes no more than a copy would. */
  #isWorthKeeping(chunk: Buffer): boolean {
    const around = chunk.buffer.byteLength;
    if (this.#length === 0 && chunk.length > 0) return around <= Math.max(smallestSlab, chunk.length * 2);
    return chunk.length >= worthKeeping && around <= chunk.length * 2;
  }

  #nextSlab(): void {
    if (this.#used > 0) this.#parts.push(this.#slab);
    // as large as what there is already, so that little is set aside for little
    this.#slab = Buffer.allocUnsafeSlow(Math.min(largestSlab, Math.max(smallestSlab, this.#length)));
    this.#used = 0;
  }

  /** What the slab has becomes a part of its own size. The rest of the slab is used again. */
  #endPart(): void {
    if (this.#used === 0) return;
    // not from the pool, of which a small piece would keep all
    const part = Buffer.allocUnsafeSlow(this.#used);
    this.#slab.copy(part);
    this.#parts.push(part);
    this.#used = 0;
  }
}

/** What a member and a value cost beside their text: measured of objects as V8 keeps them. */
export const memberBytes = 48;
const wide = /[^\0-\xff]/;

/** About how many bytes of memory a JSON value takes: text by its length, and a share for each member. */
export function objectBytes(value: unknown): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, inner) => sum + memberBytes + objectBytes(inner), 0);
  let bytes = 0;
  for (const [key, inner] of Object.entries(value)) bytes += memberBytes + textBytes(key) + objectBytes(inner);
  return bytes;
}

function textBytes(text: string): number {
  return text.length * (wide.test(text) ? 2 : 1);
}
