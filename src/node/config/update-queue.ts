import type { PodUpdate } from './pod-changes.ts';

type Answer = IteratorResult<PodUpdate, undefined>;

const end: Answer = { done: true, value: undefined };

/** Updates that wait for the one consumer, in order. */
export class UpdateQueue {
  readonly #capacity: number;
  readonly #onTaken: () => void;
  readonly #waiting: PodUpdate[] = [];
  #reader: UpdateReader | undefined;
  #isClosed = false;

  /** `onTaken` is called after the consumer has taken something. */
  constructor(capacity: number, onTaken: () => void) {
    this.#capacity = capacity;
    this.#onTaken = onTaken;
  }

  /** True while there is an open reader. */
  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  hasRoomFor(count: number): boolean {
    return this.#waiting.length + count <= this.#capacity;
  }

  push(updates: readonly PodUpdate[]): void {
    if (this.#isClosed) return;
    this.#waiting.push(...updates);
    this.#reader?.serve();
  }

  /** The reader begins with what waits; what it leaves waits for the next reader. */
  read(): AsyncIterableIterator<PodUpdate, undefined> {
    const reader = new UpdateReader({
      take: () => this.#waiting.shift(),
      onTaken: this.#onTaken,
      onClose: () => {
        this.#reader = undefined;
      },
    });
    if (this.#isClosed) reader.close();
    else this.#reader = reader;
    return reader;
  }

  /** Drops what waits, and ends the reader. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#reader?.close();
  }
}

interface UpdateReaderHost {
  take(): PodUpdate | undefined;
  onTaken(): void;
  onClose(): void;
}

class UpdateReader implements AsyncIterableIterator<PodUpdate, undefined> {
  readonly #host: UpdateReaderHost;
  readonly #waiters: ((answer: Answer) => void)[] = [];
  #isClosed = false;

  constructor(host: UpdateReaderHost) {
    this.#host = host;
  }

  next(): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(end);
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.serve();
    });
  }

  return(): Promise<Answer> {
    this.close();
    return Promise.resolve(end);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  serve(): void {
    let hasTaken = false;
    while (this.#waiters.length > 0) {
      const value = this.#host.take();
      if (value === undefined) break;
      this.#waiters.shift()?.({ done: false, value });
      hasTaken = true;
    }
    // room has come free; what is merged into it may call serve() again, so this comes last
    if (hasTaken) this.#host.onTaken();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const waiter of this.#waiters.splice(0)) waiter(end);
    this.#host.onClose();
  }
}
