import { HeldBytes } from '../../api/json/bytes.ts';

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

/** Cuts what is read from a file into lines. It holds at most about twice `longest` bytes: a longer line comes in pieces. */
export class LinePieces {
  readonly #longest: number;
  readonly #rest = new HeldBytes();
  #continues = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** The lines that are whole with this chunk. */
  *take(chunk: Buffer): Generator<LinePiece> {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      yield this.#piece(this.#lineOf(chunk.subarray(start, end + 1)), false);
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.add(chunk.subarray(start));
    if (this.#rest.length >= this.#longest) yield this.#piece(this.#rest.take(), true);
  }

  #lineOf(end: Buffer): Buffer {
    if (this.#rest.length === 0) return end;
    this.#rest.add(end);
    return this.#rest.take();
  }

  /** What stands after the last line feed; undefined for nothing. */
  end(): LinePiece | undefined {
    return this.#rest.length === 0 ? undefined : this.#piece(this.#rest.take(), false);
  }

  #piece(bytes: Buffer, goesOn: boolean): LinePiece {
    const continues = this.#continues;
    this.#continues = goesOn;
    return { bytes, continues, ends: !goesOn };
  }
}
