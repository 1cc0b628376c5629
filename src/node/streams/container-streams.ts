import type { Duplex, Readable, Writable } from 'node:stream';

/** How large a terminal is, in characters. */
export interface TerminalSize {
  /** Characters in a line. */
  readonly columns: number;
  /** Lines. */
  readonly rows: number;
}

/** The streams between a client and a command in a container, or the container itself. Those that the client did not ask for are undefined. */
export interface ContainerStreams {
  /** True: the client has a terminal. There is no `stderr` then. */
  readonly tty: boolean;
  /** What the client types. It ends when the client has no more, or is gone. */
  readonly stdin: Readable | undefined;
  /** What is shown to the client. It waits for the client to take it. */
  readonly stdout: Writable | undefined;
  /** The same for errors. */
  readonly stderr: Writable | undefined;
  /** The listener is called with each size of the client's terminal; at once with the one that it has, where that is known. */
  readonly onResize: (listener: (size: TerminalSize) => void) => void;
}

/** How what a client has asked for has ended: with an exit code, or it could not be done, and why. */
export type StreamEnd = { readonly exitCode: number } | { readonly error: string };

/** A client that runs a command or is attached, whichever protocol it speaks. */
export interface StreamSession {
  readonly streams: ContainerStreams;
  /** Aborts when the client is gone, when nothing has moved for too long, or when the server closes. */
  readonly signal: AbortSignal;
  /** Tells the client how it has ended, and ends the connection. Never rejects. */
  end(result: StreamEnd): Promise<void>;
}

/** One connection that a client forwards to a port of a pod. */
export interface ForwardedConnection {
  readonly port: number;
  /** What the client sends, and what it gets. */
  readonly stream: Duplex;
  /** Tells the client why there is no connection, and ends it. */
  readonly fail: (message: string) => void;
}

/** A client that forwards ports of a pod. */
export interface PortForwardSession {
  /** The connections as they come, until the client is gone. */
  readonly connections: AsyncIterable<ForwardedConnection>;
  readonly signal: AbortSignal;
  /** Ends all connections. Never rejects. */
  end(): Promise<void>;
}
