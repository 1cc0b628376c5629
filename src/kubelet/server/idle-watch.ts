import type { Socket } from 'node:net';
import type { CancelTimer, Clock } from '../../base/clock.ts';

export interface IdleLimits {
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
}

/** Once one direction has ended, the other may be silent for so long. */
const halfClosedMs = 60_000;

/** Notices that no byte has moved over a pair of sockets for a time. */
export class IdleWatch {
  readonly #limits: IdleLimits;
  readonly #sockets: readonly Socket[];
  #onOver: () => void;
  #isHalfClosed = false;
  #moved: number;
  #cancel: CancelTimer;

  constructor(limits: IdleLimits, sockets: readonly Socket[], onOver: () => void) {
    this.#limits = limits;
    this.#sockets = sockets;
    this.#onOver = onOver;
    this.#moved = this.#bytes();
    this.#cancel = this.#later();
  }

  /** One direction has ended. */
  noteEnd(): void {
    this.#isHalfClosed = true;
    this.#cancel();
    this.#cancel = this.#later();
  }

  /** Calls this in place of what was to be called before. */
  whenOver(onOver: () => void): void {
    this.#onOver = onOver;
    this.noteEnd();
  }

  close(): void {
    this.#cancel();
  }

  #later(): CancelTimer {
    const { clock, idleTimeoutMs } = this.#limits;
    return clock.setTimer(() => this.#look(), this.#isHalfClosed ? Math.min(halfClosedMs, idleTimeoutMs) : idleTimeoutMs);
  }

  #look(): void {
    const moved = this.#bytes();
    if (moved === this.#moved) {
      this.#onOver();
      return;
    }
    this.#moved = moved;
    this.#cancel = this.#later();
  }

  #bytes(): number {
    return this.#sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
  }
}
