import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { errorText } from '../../base/errors.ts';
import { grpcCodeNames, grpcCodeOfHttp } from '../../base/grpc-codes.ts';
import { callGuarded } from '../../base/guard.ts';

// The wire format is that of grpc/doc/PROTOCOL-HTTP2.md and grpc/doc/http-grpc-status-mapping.md.

/** The name of a status code, as Go writes it. */
export type CodeName = (typeof grpcCodeNames)[number];

/** Makes the error of one call from its code and what is wrong. */
export type MakeCallError = (code: CodeName, description: string, options?: ErrorOptions) => Error;

/** The stream of a call whose request is sent. */
export interface OpenedCall {
  readonly stream: ClientHttp2Stream;
  /** False once the connection of the stream has ended. */
  readonly isConnected: () => boolean;
}

export interface GrpcCallOptions {
  /** Sends the request. Called once more where the server has certainly not processed it. May throw. */
  readonly open: () => OpenedCall;
  readonly maxMessageBytes: number;
  readonly makeError: MakeCallError;
}

/**
 * One call whose request is sent. It is read by `answer` or by `answers`, and only once. A call that the server says it has not
 * processed is made once more: a connection may be on its end while the call begins.
 */
export class GrpcCall {
  /** Resolves once nothing of the call goes on any more. */
  readonly closed: Promise<void>;
  readonly #options: GrpcCallOptions;
  readonly #messages: MessageReader;
  readonly #resolveClosed: () => void;
  #stream: ClientHttp2Stream;
  #isAgain = false;
  #headers: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined;
  #trailers: IncomingHttpHeaders | undefined;
  #streamError: Error | undefined;
  #wasConnected = true;
  /** Why the call counts as over before its stream has ended. */
  #cut: { readonly reason: unknown } | undefined;
  #onCut = (): void => {};
  #onData: ((chunk: Buffer) => void) | undefined;

  constructor(options: GrpcCallOptions) {
    this.#options = options;
    this.#messages = new MessageReader(options.maxMessageBytes, options.makeError);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#stream = this.#attached(options.open());
  }

  #attached({ stream, isConnected }: OpenedCall): ClientHttp2Stream {
    stream.on('response', (headers) => {
      this.#headers = headers;
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    stream.on('error', (error) => {
      this.#streamError ??= error;
    });
    if (this.#onData !== undefined) stream.on('data', this.#onData);
    stream.on('close', () => {
      this.#wasConnected = isConnected();
      if (!this.#openAgain()) this.#resolveClosed();
    });
    return stream;
  }

  #openAgain(): boolean {
    if (this.#isAgain || this.#cut !== undefined || this.#headers !== undefined || !this.#isUnprocessed()) return false;
    this.#isAgain = true;
    const formerError = this.#streamError;
    this.#streamError = undefined;
    return (
      callGuarded(
        () => {
          this.#stream = this.#attached(this.#options.open());
          return true;
        },
        () => {
          this.#streamError = formerError;
        },
      ) ?? false
    );
  }

  #isUnprocessed(): boolean {
    if (isErrorOf(this.#streamError, 'ERR_HTTP2_OUT_OF_STREAMS')) return true;
    const isReset = this.#streamError === undefined || isErrorOf(this.#streamError, 'ERR_HTTP2_STREAM_ERROR');
    return isReset && this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  }

  /** The bytes of the only answer. Rejects with what `makeError` makes, and with the reason of `cancel`. */
  answer(): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    let answer: Buffer | undefined;
    this.#onCut = () => reject(this.#cut?.reason);
    this.#onData = (chunk) => {
      try {
        for (const message of this.#messages.add(chunk)) {
          if (answer !== undefined) throw this.#options.makeError('Internal', 'there is more than one answer');
          answer = message;
        }
      } catch (error) {
        this.cancel(error);
      }
    };
    this.#stream.on('data', this.#onData);
    void this.closed.then(() => {
      const failure = this.#failure();
      if (failure !== undefined) reject(failure);
      else if (answer === undefined) reject(this.#options.makeError('Internal', 'the answer is missing'));
      else resolve(answer);
    });
    return promise;
  }

  /** The bytes of each answer. Ends when the server ends the call well, and throws as {@link answer} rejects. What is not read waits. */
  async *answers(): AsyncGenerator<Buffer, void> {
    for (let stream: ClientHttp2Stream | undefined; stream !== this.#stream; ) {
      stream = this.#stream;
      yield* this.#answersOf(stream);
      await endOf(stream);
    }
    await this.closed;
    const failure = this.#failure();
    if (failure !== undefined) throw failure;
  }

  async *#answersOf(stream: ClientHttp2Stream): AsyncGenerator<Buffer, void> {
    let hasFailed = false;
    try {
      for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield* this.#messages.add(chunk);
    } catch (error) {
      hasFailed = true;
      // where the stream itself has failed, it says why; another one may have taken its place
      if (stream === this.#stream) this.cancel(error);
    } finally {
      if (!hasFailed && !stream.readableEnded) this.cancel(undefined);
    }
  }

  /** Takes the call back. It counts as over at once, with this reason, unless it is over already. */
  cancel(reason: unknown): void {
    if (this.#stream.closed || this.#stream.destroyed) return;
    this.#cut ??= { reason };
    if (this.#stream.pending) this.#stream.destroy();
    else this.#stream.close(constants.NGHTTP2_CANCEL);
    this.#onCut();
  }

  /** Why the call has failed, once its stream is closed; undefined: it has not. */
  #failure(): unknown {
    if (this.#cut !== undefined) return this.#cut.reason;
    const { makeError } = this.#options;
    const headers = this.#headers ?? {};
    const status = this.#trailers?.['grpc-status'] ?? headers['grpc-status'];
    if (status !== undefined) {
      const code = codeOf(status);
      return code === 'OK' ? undefined : makeError(code, messageOf(this.#trailers ?? headers));
    }
    const cause = this.#streamError;
    const httpStatus = headers[':status'];
    if (httpStatus !== undefined && httpStatus !== 200) {
      return makeError(grpcCodeOfHttp(httpStatus), `the server has answered with HTTP status ${httpStatus}`);
    }
    // the connection stood, and the server said what cannot be read: to ask again does not help
    if (isErrorOf(cause, 'ERR_HTTP2_ERROR')) return makeError('Internal', errorText(cause), { cause });
    const isReset = cause === undefined ? this.#wasConnected : isErrorOf(cause, 'ERR_HTTP2_STREAM_ERROR');
    if (!isReset) return makeError('Unavailable', connectionText(cause), { cause });
    const resetCode = this.#stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
    return makeError(codesOfResets[resetCode] ?? 'Internal', `the server has ended the call with HTTP/2 code ${resetCode}`, {
      cause,
    });
  }
}

/** Resolves once the stream is closed. */
function endOf(stream: ClientHttp2Stream): Promise<void> {
  if (stream.destroyed && stream.closed) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => stream.once('close', resolve));
}

/** True for an error of Node.js with this code. */
export function isErrorOf(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** The longest text of a server that is kept. */
const longestMessage = 16_384;

/** Text that is damaged, or cut, is told as far as it can be read. */
function messageOf(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? '').slice(0, longestMessage);
  return text.replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}

function codeOf(status: string | string[]): CodeName {
  const name = typeof status === 'string' && /^\d{1,2}$/.test(status) ? grpcCodeNames[Number(status)] : undefined;
  return name ?? 'Unknown';
}

function connectionText(cause: Error | undefined): string {
  return cause === undefined ? 'the connection has ended' : `no connection: ${errorText(cause)}`;
}

const codesOfResets: Readonly<Record<number, CodeName>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'Unavailable',
  [constants.NGHTTP2_CANCEL]: 'Canceled',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'ResourceExhausted',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'PermissionDenied',
};

/** A flag that says whether the message is compressed, and its length. */
const prefixBytes = 5;

/** A message as it goes over the connection. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(prefixBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, prefixBytes);
  return frame;
}

/** Puts messages together. Of one that is too long it keeps no more than has come with its length. */
class MessageReader {
  readonly #maxBytes: number;
  readonly #makeError: MakeCallError;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  /** The length of the message that comes; undefined until it is known. */
  #size: number | undefined;

  constructor(maxBytes: number, makeError: MakeCallError) {
    this.#maxBytes = maxBytes;
    this.#makeError = makeError;
  }

  /** The messages that are whole with this chunk. Throws where one is too long, or compressed, which nobody has asked for. */
  add(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    const whole: Buffer[] = [];
    while (this.#heldBytes >= prefixBytes + (this.#size ?? 0)) {
      const held = this.#held();
      this.#size ??= this.#sizeIn(held);
      const end = prefixBytes + this.#size;
      if (held.length < end) break;
      whole.push(held.subarray(prefixBytes, end));
      this.#chunks = held.length === end ? [] : [held.subarray(end)];
      this.#heldBytes = held.length - end;
      this.#size = undefined;
    }
    return whole;
  }

  #held(): Buffer {
    const [only] = this.#chunks;
    const held = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.#chunks = [held];
    return held;
  }

  #sizeIn(held: Buffer): number {
    if (held[0] !== 0) throw this.#makeError('Internal', 'the answer is compressed, which was not asked for');
    const size = held.readUInt32BE(1);
    if (size <= this.#maxBytes) return size;
    throw this.#makeError('ResourceExhausted', `received message larger than max (${size} vs. ${this.#maxBytes})`);
  }
}
