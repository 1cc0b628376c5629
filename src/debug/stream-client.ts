import type { ServerResponse } from 'node:http';

/** Text that may wait for the client to read it, beside a snapshot, in bytes. */
const waitingAtMost = 1_048_576;

/** A response of HTTP/2 does not say itself that it is closed: its stream does. */
type MaybeHttp2 = ServerResponse & { readonly stream?: { readonly destroyed: boolean } };

/** One reader of the stream of changes. What it has not read is bounded: a slow reader is given a new snapshot instead. */
export class StreamClient {
  readonly #response: ServerResponse;
  /** How long the last snapshot was: so much may wait until it is read. */
  #snapshotBytes = 0;
  /** Since when it is behind, in milliseconds since the epoch; undefined while it keeps up. */
  #behindSince: number | undefined = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** True when nobody can read it any more. */
  get isGone(): boolean {
    const { destroyed, closed, stream }: MaybeHttp2 = this.#response;
    return destroyed || closed === true || stream?.destroyed === true;
  }

  get behindSince(): number | undefined {
    return this.#behindSince;
  }

  /** True when everything written was handed to the network. */
  get isDrained(): boolean {
    return this.#response.writableLength === 0;
  }

  /** Everything told before does not matter any more. */
  writeSnapshot(message: Buffer): void {
    this.#snapshotBytes = message.length;
    this.#behindSince = undefined;
    this.#response.write(message);
  }

  /** A reader that is behind is told nothing: it gets a snapshot once it has caught up. */
  writeChanges(message: Buffer, now: number): void {
    if (this.#behindSince !== undefined) return;
    if (this.#response.writableLength + message.length > this.#snapshotBytes + waitingAtMost) this.#behindSince = now;
    else this.#response.write(message);
  }

  end(): void {
    this.#response.end();
  }

  /** For a reader that does not read what waits for it. */
  destroy(): void {
    this.#response.destroy();
  }
}
