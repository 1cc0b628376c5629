import type { ServerResponse } from 'node:http';

/** Text that may wait for the client to read it, beside a snapshot, in bytes. */
const unreadAtMost = 1_048_576;

/** A response is given so much at a time, in bytes: of a longer write nobody could see how much of it was read. */
const pieceBytes = 262_144;

/** A response of HTTP/2 does not say itself that it is closed: its stream does. */
type MaybeHttp2 = ServerResponse & { readonly stream?: { readonly destroyed: boolean } };

/** One reader of the stream of changes. What it has not read is bounded: a slow reader is given a new snapshot instead. */
export class StreamClient {
  readonly #response: ServerResponse;
  /** What the response was not given yet, oldest first. */
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** The response takes nothing until it says so. */
  #isFull = false;
  /** How long the last snapshot was: so much may wait until it is read. */
  #snapshotBytes = 0;
  #isBehind = false;
  #writtenBytes = 0;
  /** How much the reader had read when it was last seen to read, and when that was. */
  #readThen = 0;
  #progressAt: number | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('drain', () => {
      this.#isFull = false;
      this.#pump();
    });
  }

  /** True when nobody can read it any more. */
  get isGone(): boolean {
    const { destroyed, closed, stream }: MaybeHttp2 = this.#response;
    return destroyed || closed === true || stream?.destroyed === true;
  }

  /** True when it is told nothing until it has read what waits. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** True when everything written was handed to the network. */
  get isDrained(): boolean {
    return this.waitingBytes === 0;
  }

  /** What was written and not handed to the network yet. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#response.writableLength;
  }

  /** Everything told before does not matter any more. */
  writeSnapshot(message: Buffer): void {
    this.#snapshotBytes = message.length;
    this.#isBehind = false;
    this.#write(message);
  }

  /** A reader that is behind is told nothing: it gets a snapshot once it has caught up. */
  writeChanges(message: Buffer): void {
    if (this.#isBehind) return;
    if (this.waitingBytes + message.length <= this.#snapshotBytes + unreadAtMost) this.#write(message);
    else this.#isBehind = true;
  }

  /** How long a reader for which something waits was not seen to read anything, in milliseconds. To be asked again and again. */
  deafMs(now: number): number {
    const read = this.#writtenBytes - this.waitingBytes;
    if (this.#progressAt === undefined || this.isDrained || read > this.#readThen) {
      this.#readThen = read;
      this.#progressAt = now;
    }
    return now - this.#progressAt;
  }

  end(): void {
    this.#response.end();
  }

  /** For a reader that does not read what waits for it. */
  destroy(): void {
    this.#response.destroy();
  }

  #write(message: Buffer): void {
    this.#writtenBytes += message.length;
    this.#queue.push(message);
    this.#queuedBytes += message.length;
    this.#pump();
  }

  #pump(): void {
    while (!this.#isFull) {
      const first = this.#queue.shift();
      if (first === undefined) return;
      const piece = first.subarray(0, pieceBytes);
      if (piece.length < first.length) this.#queue.unshift(first.subarray(pieceBytes));
      this.#queuedBytes -= piece.length;
      this.#isFull = !this.#response.write(piece);
    }
  }
}
