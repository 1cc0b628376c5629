import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LinkedAbort, onAbort, settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { withoutErrors } from './stream-flows.ts';
import type { UpgradeLimits, UpgradeRequest } from './upgrade-request.ts';

/** Once a session ends, nothing may stand still for longer than this, in milliseconds. */
const endingMs = 10_000;
/** In milliseconds: so long a client may take to close its side, once all has been said. */
const closingMs = 5_000;

/** From the switch of protocols to the end of the connection, whatever is spoken over it. */
export class ConnectionLife {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #linked: LinkedAbort;
  readonly #closed = Promise.withResolvers<void>();
  #idleTimeoutMs: number;
  #moved = 0;
  #cancel: CancelTimer = () => {};
  #ended: Promise<void> | undefined;

  constructor({ request, signal }: UpgradeRequest, { clock, idleTimeoutMs }: UpgradeLimits) {
    const { socket } = request;
    this.#socket = withoutErrors(socket);
    this.#clock = clock;
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#linked = new LinkedAbort(signal);
    socket.setNoDelay(true).setKeepAlive(true, 30_000);
    socket.once('close', () => {
      this.#closed.resolve();
      this.leave('the client is gone');
    });
    onAbort(this.signal, () => this.#onAbort());
    if (socket.destroyed) this.leave('the client is gone');
    if (!this.signal.aborted) this.#look();
  }

  /** Aborts when the client is gone, when nothing has moved for too long, when the server closes, and at the end. */
  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** Closes the connection at once. A second call does nothing. */
  leave(why: string): void {
    this.#linked.abort(new Error(why));
  }

  /** Ends it in peace: `steps` say what is to be said. Never rejects; a second call waits for the first. */
  end(steps: () => Promise<void>): Promise<void> {
    this.#ended ??= this.#end(steps);
    return this.#ended;
  }

  async #end(steps: () => Promise<void>): Promise<void> {
    const { signal } = this;
    if (signal.aborted) return;
    this.#idleTimeoutMs = Math.min(this.#idleTimeoutMs, endingMs);
    this.#cancel();
    this.#look();
    try {
      await untilAborted(steps(), signal);
    } catch {
      // the client is gone, or takes nothing: there is nobody to tell
    }
    await settlesWithin(this.#closed.promise, { clock: this.#clock, timeoutMs: closingMs, signal });
    this.leave('the session has ended');
  }

  #look(): void {
    const { bytesRead, bytesWritten } = this.#socket;
    this.#moved = bytesRead + bytesWritten;
    this.#cancel = this.#clock.setTimer(() => {
      if (this.#moved === this.#socket.bytesRead + this.#socket.bytesWritten) this.leave('nothing has moved for too long');
      else this.#look();
    }, this.#idleTimeoutMs);
  }

  #onAbort(): void {
    this.#cancel();
    this.#linked.release();
    this.#socket.destroy();
  }
}
