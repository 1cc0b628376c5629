import type { ServerResponse } from 'node:http';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Board } from './board.ts';
import type { DebugChanges, DebugSummary } from './debug-api.ts';

const batchMs = 250;
/** A quiet stream tells at least so often that it is alive, and how old the oldest unsent change is. */
const heartbeatMs = 15_000;
const ageMs = 1_000;
/** A reader that has read nothing for so long, though something waits for it, is given up. */
const deafAfterMs = 60_000;
const clientsAtMost = 64;
/** While so much waits for all readers together, in bytes, no other one is taken. */
const unreadTogetherAtMost = 67_108_864;

export interface ChangeStreamOptions {
  readonly board: Board;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** The readers of the stream of changes, and the one timer that serves them all. Without a reader there is no timer. */
export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  readonly #clients = new Set<StreamClient>();
  #cancelTick: CancelTimer | undefined;
  #toldAt = 0;
  /** The last summary that was told, without what changes with time alone. */
  #toldSummary = '';

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    if (this.#clients.size >= clientsAtMost) return true;
    let waiting = 0;
    for (const client of this.#clients) waiting += client.waitingBytes;
    return waiting >= unreadTogetherAtMost;
  }

  /** Begins with a snapshot. The head of the response was written. A response that is closed already is left alone. */
  open(response: ServerResponse): void {
    const client = new StreamClient(response);
    // it left while a check before the handler was at work: no event will tell of it
    if (client.isGone) return;
    client.writeSnapshot(this.#snapshot());
    // the changes begin after the snapshot
    if (this.#clients.size === 0) this.#options.board.follow();
    this.#clients.add(client);
    response.once('close', () => this.#drop(client));
    this.#arm();
  }

  /** Ends every stream, and cuts off who has not read everything; nothing is left. */
  close(): void {
    for (const client of this.#clients) {
      // the end would wait behind what a slow reader does not read, perhaps for ever
      if (client.isDrained) client.end();
      else client.destroy();
    }
    this.#clients.clear();
    this.#rest();
  }

  #drop(client: StreamClient): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.#rest();
  }

  #rest(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#options.board.unfollow();
  }

  #arm(): void {
    this.#cancelTick ??= this.#options.clock.setTimer(() => {
      this.#cancelTick = undefined;
      callGuarded(
        () => this.#tick(),
        (err) => this.#options.logger.error({ err }, 'changes could not be told; the next batch tells them'),
      );
      if (this.#clients.size > 0) this.#arm();
    }, batchMs);
  }

  #tick(): void {
    for (const client of [...this.#clients]) if (client.isGone) this.#drop(client);
    if (this.#clients.size === 0) return;
    const { board, clock } = this.#options;
    const now = clock.elapsed();
    const changes = board.changes();
    const message = this.#isWorthTelling(changes, now) ? eventOf('changes', changes) : undefined;
    let snapshot: Buffer | undefined;
    for (const client of [...this.#clients]) {
      if (client.deafMs(now) > deafAfterMs) {
        client.destroy();
        continue;
      }
      if (message !== undefined) client.writeChanges(message);
      if (!client.isBehind || !client.isDrained) continue;
      snapshot ??= this.#snapshot();
      client.writeSnapshot(snapshot);
    }
  }

  #isWorthTelling(changes: DebugChanges, now: number): boolean {
    const { oldestUnsentMs } = changes.summary;
    const said = JSON.stringify([lasting(changes.summary), changes.traffic]);
    const quietMs = now - this.#toldAt;
    const isNews = changes.changed.length > 0 || changes.removed.length > 0 || said !== this.#toldSummary;
    if (!isNews && quietMs < (oldestUnsentMs === undefined ? heartbeatMs : ageMs)) return false;
    this.#toldSummary = said;
    this.#toldAt = now;
    return true;
  }

  #snapshot(): Buffer {
    return eventOf('snapshot', this.#options.board.snapshot());
  }
}

/** The summary without what changes with time alone: the words of a part count down to its next try. */
function lasting({ at: _, oldestUnsentMs: __, node, scheduler, ...summary }: DebugSummary): object {
  return { ...summary, node: node && { ...node, notes: [] }, scheduler: scheduler && { ...scheduler, notes: [] } };
}

/** One event as text. JSON has no line breaks of its own. */
function eventOf(name: 'snapshot' | 'changes', data: object): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Text that may wait for the client to read it, beside a snapshot, in bytes. */
const unreadAtMost = 1_048_576;

/** A response is given so much at a time, in bytes: of a longer write nobody could see how much of it was read. */
const pieceBytes = 262_144;

/** A response of HTTP/2 does not say itself that it is closed: its stream does. */
type MaybeHttp2 = ServerResponse & { readonly stream?: { readonly destroyed: boolean } };

/** One reader of the stream of changes. What it has not read is bounded: a slow reader is given a new snapshot instead. */
class StreamClient {
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
