/** What a machine says of its shutdown. */
export interface MachineShutdown {
  /** How long the machine waits at most for those who delay its shutdown, in milliseconds. */
  readonly longestDelayMs: number;
  /** True once the machine is about to shut down, and until that is called off. */
  readonly isShuttingDown: boolean;
}

/** Something that goes on until it ends by itself, or is ended. */
export interface ShutdownHandle {
  /** Settles once it has ended, however it did. */
  readonly ended: Promise<unknown>;
  /** Ends it. A second call does nothing. */
  end(): void;
}

/**
 * How an agent hears of the shutdown of its machine, and delays it. Each call may take 10 seconds; its `signal` aborts when nobody
 * waits for it any more. What a call throws or rejects with is told, and all of them are made again.
 */
export interface ShutdownSignals {
  /** Asks the machine. */
  read(signal: AbortSignal): Promise<MachineShutdown>;
  /** Lets the machine wait so long for those who delay its shutdown. `read` says when it does. */
  allowDelay(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Delays every shutdown until the handle is ended, or this process ends. Resolves once that is so. */
  delay(signal: AbortSignal): Promise<ShutdownHandle>;
  /** Calls `tell(true)` when a shutdown begins, and `tell(false)` when it is called off. Resolves once it listens. */
  listen(tell: (isShuttingDown: boolean) => void, signal: AbortSignal): Promise<ShutdownHandle>;
}
