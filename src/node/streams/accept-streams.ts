import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { socketLink } from './byte-links.ts';
import { ConnectionLife } from './connection-life.ts';
import type { StreamEnd, StreamSession } from './container-streams.ts';
import { SpdyConnection } from './spdy-connection.ts';
import type { SpdyStream } from './spdy-stream.ts';
import { switchToSpdy } from './spdy-upgrade.ts';
import { endText, statusText } from './stream-status.ts';
import { TerminalSizes } from './terminal-sizes.ts';
import {
  askedUpgrade,
  defaultStreamsTimeoutMs,
  StreamRefusal,
  type UpgradeLimits,
  type UpgradeRequest,
} from './upgrade-request.ts';
import { WebSocketChannels } from './websocket-channels.ts';
import { upgradeToWebSocket } from './websocket-upgrade.ts';

/** The streams that a request asks for. */
export interface AskedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** True: a terminal. Its output is `stdout` alone. */
  readonly tty: boolean;
}

/** The client's end of a session, in whichever protocol. */
interface Client {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  readonly sizes: TerminalSizes;
  /** From now on what the client sends is dropped. */
  discard(): void;
  /** Resolves once it has left. */
  sendStatus(end: StreamEnd): Promise<void>;
  /** Says goodbye. */
  finish(): void;
}

const webSocketProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  '',
];
const spdyProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/**
 * Switches a request for `exec` or `attach` to WebSocket or SPDY/3.1, as it asks, and resolves once all its streams are there. Rejects
 * with a {@link StreamRefusal}: with a status where the request is to be answered, without one where the client is gone or took too
 * long to open its streams.
 */
export async function acceptStreams(asked: UpgradeRequest, streams: AskedStreams, limits: UpgradeLimits): Promise<StreamSession> {
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw new StreamRefusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  const wanted = { ...streams, stderr: streams.stderr && !streams.tty };
  const isWebSocket = askedUpgrade(asked.request) === 'websocket';
  return isWebSocket ? overWebSocket(asked, wanted, limits) : await overSpdy(asked, wanted, limits);
}

function newSession(client: Client, tty: boolean, life: ConnectionLife): StreamSession {
  const { stdin, stdout, stderr, sizes } = client;
  const say = async (end: StreamEnd): Promise<void> => {
    client.discard();
    await Promise.all([flush(stdout), flush(stderr)]);
    await client.sendStatus(end);
    client.finish();
  };
  return {
    streams: { tty, stdin, stdout, stderr, onResize: sizes.onResize },
    signal: life.signal,
    end: (result) => life.end(() => say(result)),
  };
}

/** Resolves once the client has taken everything, or never will. */
async function flush(output: Writable | undefined): Promise<void> {
  if (output === undefined || output.destroyed) return;
  output.end();
  try {
    await finished(output);
  } catch {
    // it takes nothing any more; it may still want to know how it has ended
  }
}

function overWebSocket(asked: UpgradeRequest, { tty, ...streams }: AskedStreams, limits: UpgradeLimits): StreamSession {
  const { socket, protocol } = upgradeToWebSocket(asked, webSocketProtocols);
  const life = new ConnectionLife(asked, limits);
  const link = new WebSocketChannels({
    socket,
    count: 5,
    isBase64: protocol.includes('base64'),
    hasClose: protocol.startsWith('v5.'),
    onGone: (why) => life.leave(why),
  });
  const sizes = new TerminalSizes();
  const client: Client = {
    stdin: streams.stdin ? link.readable(channels.stdin) : undefined,
    stdout: streams.stdout ? link.writable(channels.stdout) : undefined,
    stderr: streams.stderr ? link.writable(channels.stderr) : undefined,
    sizes,
    discard: () => link.discard(),
    async sendStatus(end) {
      const text = /^v[45]/.test(protocol) ? statusText(end) : endText(end);
      const { promise, resolve } = Promise.withResolvers<void>();
      link.send(channels.error, Buffer.from(text), () => resolve());
      await promise;
    },
    finish: () => socket.close(1000),
  };
  if (tty) link.listen(channels.resize, (piece) => sizes.receive(piece));
  link.start();
  // some clients wait for a message before they send any
  link.send(streams.stdout ? channels.stdout : streams.stderr ? channels.stderr : channels.error, Buffer.alloc(0));
  return newSession(client, tty, life);
}

async function overSpdy(asked: UpgradeRequest, streams: AskedStreams, limits: UpgradeLimits): Promise<StreamSession> {
  const protocol = switchToSpdy(asked, spdyProtocols);
  const life = new ConnectionLife(asked, limits);
  const expected = new ExpectedStreams(streams, /^v[34]/.test(protocol));
  const connection = new SpdyConnection({
    link: socketLink(asked.request.socket, asked.head),
    mostStreams: 5,
    offer: (stream) => expected.offer(stream),
    onGone: (why) => life.leave(why),
  });
  const client: Client = {
    get stdin() {
      return expected.stdin;
    },
    get stdout() {
      return expected.stdout;
    },
    get stderr() {
      return expected.stderr;
    },
    sizes: expected.sizes,
    discard: () => connection.discard(),
    async sendStatus(end) {
      const text = protocol.startsWith('v4.') ? statusText(end) : endText(end);
      await expected.sendError(text);
    },
    finish: () => connection.finish(),
  };
  const late = (): void => life.leave('the client did not open its streams in time');
  const cancel = limits.clock.setTimer(late, limits.streamsTimeoutMs ?? defaultStreamsTimeoutMs);
  onAbort(life.signal, () => {
    expected.giveUp(new StreamRefusal(undefined, errorText(life.signal.reason)));
    connection.leave('the session is over');
  });
  connection.start();
  try {
    await expected.complete;
  } finally {
    cancel();
  }
  return newSession(client, streams.tty, life);
}

/** The streams that a client opens over SPDY, each by its type. */
class ExpectedStreams {
  readonly sizes = new TerminalSizes();
  readonly #missing: Set<string>;
  readonly #complete = Promise.withResolvers<void>();
  stdin: Readable | undefined;
  stdout: Writable | undefined;
  stderr: Writable | undefined;
  #error: SpdyStream | undefined;

  constructor({ tty, ...streams }: AskedStreams, hasResize: boolean) {
    const types = (['stdin', 'stdout', 'stderr'] as const).filter((type) => streams[type]);
    this.#missing = new Set(['error', ...types, ...(tty && hasResize ? ['resize'] : [])]);
  }

  /** Resolves once all are there; rejects with the refusal of `giveUp`. */
  get complete(): Promise<void> {
    return this.#complete.promise;
  }

  /** See `SpdyOptions`. Each is accepted once. */
  offer(stream: SpdyStream): (() => void) | undefined {
    const type = stream.headers.get('streamtype') ?? '';
    if (!this.#missing.delete(type)) return undefined;
    return () => {
      if (type === 'stdin') this.stdin = stream.readable();
      else if (type === 'stdout') this.stdout = stream.writable();
      else if (type === 'stderr') this.stderr = stream.writable();
      else if (type === 'error') this.#error = stream;
      else stream.listen((piece) => this.sizes.receive(piece));
      if (this.#missing.size === 0) this.#complete.resolve();
    };
  }

  giveUp(refusal: StreamRefusal): void {
    this.#complete.reject(refusal);
  }

  async sendError(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const error = this.#error;
    if (error === undefined) return;
    if (text !== '') error.send(Buffer.from(text), () => {});
    error.finish(() => resolve());
    await promise;
  }
}
