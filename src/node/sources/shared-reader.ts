import { isOlderVersion } from '../../api/json/resource-version.ts';
import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { isLastingRefusal } from '../../client/reflector/failures.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../client/transport/kube-transport.ts';

/** What a reader needs of the watch that it shares. */
export interface ReadWatch {
  readonly version: string | undefined;
  /** Why the watch is down; undefined while it works. */
  failure(): unknown;
  ready(signal: AbortSignal | undefined): Promise<void>;
  add(key: string, reader: SharedReader): void;
  remove(key: string, reader: SharedReader): void;
  /** So many bytes more are held for readers, or fewer. The watch may make the reader that holds most of them forget its own. */
  holds(bytes: number): void;
}

export interface SharedReaderOptions {
  readonly watch: ReadWatch;
  readonly key: string;
  readonly transport: ResourceTransport;
  readonly clock: SteadyClock;
}

interface HeldEvent {
  readonly version: string;
  readonly line: Buffer;
}

interface LiveWatch {
  readonly take: (chunk: Buffer) => void;
  /** Ends the watch: with an error where one is given. */
  readonly end: (error: unknown) => void;
}

/** Events are held for a watch that may come, for so long: between a list and its watch, and between two watches. */
const heldForMs = 120_000;
/**
 * A reader that comes while the watch is down waits for it so long: more than an open watch takes until it counts as working, and less
 * than a reflector takes to call a watch accepted.
 */
const patienceMs = 4000;
/** More than the pods of a node change in that time. What comes beyond it costs the reader another list. */
const mostHeldBytes = 4 * 1024 * 1024;
const mostHeldEvents = 10_000;

const newline = Buffer.from('\n');

/**
 * The transport of one reader of a shared watch. To its reflector it is the server: a list is asked of the real one, and a watch from the
 * version of that list, or from a version that a watch has brought, gets the events after it. Where some may be missing it
 * refuses the watch with 410, as a server does which has forgotten the version; then the reflector lists again.
 */
export class SharedReader implements ResourceTransport {
  readonly #options: SharedReaderOptions;
  /** Every event after this version is held, or was handed on; undefined while none is. */
  #since: string | undefined;
  #held: HeldEvent[] = [];
  #heldBytes = 0;
  #live: LiveWatch | undefined;
  #cancelTimer: CancelTimer = () => {};

  constructor(options: SharedReaderOptions) {
    this.#options = options;
  }

  /** The bytes that it holds for its next watch. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** A read. Events are held before its first page is asked for: what happens after the version of the list is among them. */
  async request(request: KubeRequest): Promise<JsonMembers> {
    const { watch, transport } = this.#options;
    if (request.query?.has('continue')) return transport.request(request);
    await watch.ready(request.signal);
    this.#hold(watch.version);
    try {
      return await transport.request(request);
    } catch (error) {
      this.#leave();
      throw error;
    } finally {
      this.#limitHolding();
    }
  }

  /**
   * A watch. The shared one is silent for no longer than its own limit, and `idleTimeoutMs` is not counted. Where the shared one is down,
   * and stays so, it rejects with what the server says against that.
   */
  stream({ query, signal, path, onChunk }: KubeStream): Promise<void> {
    const from = query?.get('resourceVersion') ?? '';
    if (this.#since === undefined || from === '' || isOlderVersion(from, this.#since)) {
      this.#leave();
      const failure = this.#options.watch.failure();
      if (isLastingRefusal(failure)) return Promise.reject(failure);
      return Promise.reject(new ApiError({ status: 410, reason: 'Expired', message: `GET ${path}: ${forgotten}` }));
    }
    const givenUp = (): ApiError => new ApiError({ reason: 'Aborted', message: `GET ${path} was given up` });
    if (signal?.aborted) return Promise.reject(givenUp());
    this.#cancelTimer();
    this.#live?.end(givenUp());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stopListening = onAbort(signal, () => {
      this.#leave();
      end(givenUp());
    });
    let stopWaiting: CancelTimer = () => {};
    const end = (error: unknown): void => {
      if (this.#live === live) this.#live = undefined;
      stopListening();
      stopWaiting();
      if (error === undefined) resolve();
      else reject(error);
    };
    const live = { take: onChunk, end };
    this.#live = live;
    const held = this.#held;
    this.#hold(from);
    for (const { version, line } of held) this.take(version, line);
    if (this.#live === live) stopWaiting = this.#waitForWatch();
    return promise;
  }

  /** Ends the reader's watch where the shared one is down, and still is after a while. */
  #waitForWatch(): CancelTimer {
    const { watch, clock } = this.#options;
    if (watch.failure() === undefined) return () => {};
    return clock.setTimer(() => {
      const failure = watch.failure();
      if (failure !== undefined) this.broken(failure);
    }, patienceMs);
  }

  /** An event of the reader's own objects. One that its list shows already is passed over: the watch may lag behind lists. */
  take(version: string, line: Buffer): void {
    if (this.#since === undefined || isUpTo(version, this.#since)) return;
    if (this.#live === undefined || !this.#handOn(version, line)) this.#keep(version, line);
  }

  /** Nothing of the reader's own has happened up to this version. */
  bookmark(version: string, line: Buffer): void {
    if (this.#live === undefined || this.#since === undefined || isUpTo(version, this.#since)) return;
    this.#handOn(version, line);
  }

  /** The watch has failed, and goes on from where it is. */
  broken(error: unknown): void {
    this.#live?.end(error);
    this.#limitHolding();
  }

  /** Events may be missing. `error` says why, where the server was not to blame. */
  lost(error: unknown): void {
    const live = this.#live;
    this.#leave();
    live?.end(error ?? new ApiError({ status: 410, reason: 'Expired', message: forgotten }));
  }

  /** False for an event that its reader has not taken: it will ask for it again. */
  #handOn(version: string, line: Buffer): boolean {
    const live = this.#live as LiveWatch;
    try {
      live.take(Buffer.concat([line, newline]));
      // who takes it may have ended the watch
      if (this.#since !== undefined) this.#since = version;
      return true;
    } catch (error) {
      live.end(error);
      this.#limitHolding();
      return false;
    }
  }

  #hold(since: string | undefined): void {
    this.#since = since;
    this.#forgetHeld();
    this.#options.watch.add(this.#options.key, this);
  }

  #keep(version: string, line: Buffer): void {
    if (this.#heldBytes + line.length > mostHeldBytes || this.#held.length >= mostHeldEvents) {
      this.#leave();
      return;
    }
    this.#heldBytes += line.length;
    // the line is a piece of what came with others
    this.#held.push({ version, line: Buffer.from(line) });
    this.#options.watch.holds(line.length);
  }

  #forgetHeld(): void {
    const bytes = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    if (bytes > 0) this.#options.watch.holds(-bytes);
  }

  #limitHolding(): void {
    this.#cancelTimer();
    if (this.#since === undefined || this.#live !== undefined) return;
    this.#cancelTimer = this.#options.clock.setTimer(() => this.#leave(), heldForMs);
  }

  #leave(): void {
    this.#cancelTimer();
    this.#since = undefined;
    this.#forgetHeld();
    this.#options.watch.remove(this.#options.key, this);
  }
}

const forgotten = 'the shared watch has not held the events after this version';

/** True where the version is certainly no newer one. */
function isUpTo(version: string, known: string): boolean {
  return version === known || isOlderVersion(version, known);
}
