/** A line, or a piece of one that is too long to be held. */
export interface LinePiece {
  /** The bytes, with the line feed if it is the line's last piece. */
  readonly bytes: Buffer;
  /** True: it goes on a line that an earlier piece began. */
  readonly continues: boolean;
  /** False: a later piece goes on with the line. */
  readonly ends: boolean;
}

const lineFeed = 0x0a;

/** Cuts what is read from a file into lines. It holds at most `longest` bytes: a longer line comes in pieces. */
export class LinePieces {
  readonly #longest: number;
  #rest: Buffer = Buffer.alloc(0);
  #continues = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that are whole with this chunk. */
  *take(chunk: Buffer): Generator<LinePiece> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
      yield this.#piece(bytes.subarray(start, end + 1), false);
      start = end + 1;
    }
    // a copy: the rest must not keep the chunk
    this.#rest = Buffer.from(bytes.subarray(start));
    if (this.#rest.length >= this.#longest) {
      const rest = this.#rest;
      this.#rest = Buffer.alloc(0);
      yield this.#piece(rest, true);
    }
  }

  /** What stands after the last line feed; undefined for nothing. */
  end(): LinePiece | undefined {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest.length === 0 ? undefined : this.#piece(rest, false);
  }

  #piece(bytes: Buffer, goesOn: boolean): LinePiece {
    const continues = this.#continues;
    this.#continues = goesOn;
    return { bytes, continues, ends: !goesOn };
  }
}
