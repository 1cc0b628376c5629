import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { errorText } from '../../base/errors.ts';
import { grpcCodeNames } from '../../base/grpc-codes.ts';

// The wire format is that of grpc/doc/PROTOCOL-HTTP2.md and grpc/doc/http-grpc-status-mapping.md.

/** The name of a status code, as Go writes it. */
export type CodeName = (typeof grpcCodeNames)[number];

/** Makes the error of one call from its code and what is wrong. */
export type MakeCallError = (code: CodeName, description: string, options?: ErrorOptions) => Error;

export interface GrpcCallOptions {
  readonly stream: ClientHttp2Stream;
  /** False once the connection of the stream has ended. */
  readonly isConnected: () => boolean;
  readonly maxMessageBytes: number;
  readonly makeError: MakeCallError;
}

/** One call whose request is sent. It is read by `answer` or by `answers`, and only once. */
export class GrpcCall {
  /** Resolves once nothing of the call goes on any more. */
  readonly closed: Promise<void>;
  readonly #stream: ClientHttp2Stream;
  readonly #options: GrpcCallOptions;
  readonly #messages: MessageReader;
  #headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  #trailers: IncomingHttpHeaders | undefined;
  #streamError: Error | undefined;
  /** Why the call counts as over before its stream has ended. */
  #cut: { readonly reason: unknown } | undefined;
  #onCut = (): void => {};

  constructor(options: GrpcCallOptions) {
    this.#options = options;
    this.#stream = options.stream;
    this.#messages = new MessageReader(options.maxMessageBytes, options.makeError);
    this.#stream.on('response', (headers) => {
      this.#headers = headers;
    });
    this.#stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    this.#stream.on('error', (error) => {
      this.#streamError ??= error;
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#stream.on('close', resolve);
  }

  /** The bytes of the only answer. Rejects with what `makeError` makes, and with the reason of `cancel`. */
  answer(): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    let answer: Buffer | undefined;
    this.#onCut = () => reject(this.#cut?.reason);
    this.#stream.on('data', (chunk: Buffer) => {
      try {
        for (const message of this.#messages.add(chunk)) {
          if (answer !== undefined) throw this.#options.makeError('Internal', 'there is more than one answer');
          answer = message;
        }
      } catch (error) {
        this.cancel(error);
      }
    });
    this.#stream.on('close', () => {
      const failure = this.#failure();
      if (failure !== undefined) reject(failure);
      else if (answer === undefined) reject(this.#options.makeError('Internal', 'the answer is missing'));
      else resolve(answer);
    });
    return promise;
  }

  /** The bytes of each answer. Ends when the server ends the call well, and throws as {@link answer} rejects. What is not read waits. */
  async *answers(): AsyncGenerator<Buffer, void> {
    try {
      for await (const chunk of this.#stream.iterator({ destroyOnReturn: false })) yield* this.#messages.add(chunk);
    } catch (error) {
      // where the stream itself has failed, it says below why
      this.cancel(error);
    } finally {
      if (!this.#stream.readableEnded) this.cancel(undefined);
    }
    await this.closed;
    const failure = this.#failure();
    if (failure !== undefined) throw failure;
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
    const { makeError, isConnected } = this.#options;
    const status = this.#trailers?.['grpc-status'] ?? this.#headers['grpc-status'];
    if (status !== undefined) {
      const code = codeOf(status);
      return code === 'OK' ? undefined : makeError(code, messageOf(this.#trailers ?? this.#headers));
    }
    const cause = this.#streamError;
    const httpStatus = this.#headers[':status'];
    if (httpStatus !== undefined && httpStatus !== 200) {
      return makeError(codesOfHttp[httpStatus] ?? 'Unknown', `the server has answered with HTTP status ${httpStatus}`);
    }
    if (!isConnected()) return makeError('Unavailable', connectionText(cause), { cause });
    const resetCode = this.#stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
    return makeError(codesOfResets[resetCode] ?? 'Internal', `the server has ended the call with HTTP/2 code ${resetCode}`, {
      cause,
    });
  }
}

/** The longest text of a server that is kept. */
const longestMessage = 16_384;

function messageOf(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? '').slice(0, longestMessage);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function codeOf(status: string | string[]): CodeName {
  const name = typeof status === 'string' && /^\d{1,2}$/.test(status) ? grpcCodeNames[Number(status)] : undefined;
  return name ?? 'Unknown';
}

function connectionText(cause: Error | undefined): string {
  return cause === undefined ? 'the connection has ended' : `no connection: ${errorText(cause)}`;
}

const codesOfHttp: Readonly<Record<number, CodeName>> = {
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

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
