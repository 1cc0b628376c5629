import { normalize } from 'node:path';
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { SteadyClock } from '../../base/clock.ts';
import { type WatchedLimits, watchLimits } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import type { CodeName, GrpcCall, MakeCallError } from './grpc-call.ts';
import { GrpcChannel } from './grpc-channel.ts';

/** What cuts a call short, beside its own end. */
type GrpcCallLimits = Pick<WatchedLimits, 'timeoutMs' | 'signal'>;

const closedText = 'the client connection is closing';

/** Makes a request. It may throw: the call then rejects with kind `invalid`, and nothing is sent. */
export type MakeRequest<I extends DescMessage> = () => MessageInitShape<I>;

/** Makes the error of a call from its code, the name of the call and what the server said. */
export type MakeRpcError = (code: CodeName, call: string, description: string, options?: ErrorOptions) => Error;

export interface GrpcConnectionOptions {
  readonly socketPath: string;
  readonly clock: SteadyClock;
  /** An answer that says it is longer rejects its call before it is read. */
  readonly maxMessageBytes: number;
  readonly rpcError: MakeRpcError;
}

/** One channel of gRPC to a unix socket. Calls reject with the errors that its owner makes, or with the reason of their signal. */
export class GrpcConnection {
  readonly #clock: SteadyClock;
  readonly #rpcError: MakeRpcError;
  readonly #channel: GrpcChannel;
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor({ socketPath, clock, maxMessageBytes, rpcError }: GrpcConnectionOptions) {
    this.#clock = clock;
    this.#rpcError = rpcError;
    this.#channel = new GrpcChannel({ socketPath: normalize(socketPath), clock, maxMessageBytes });
  }

  /** One request, one answer. */
  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    limits: GrpcCallLimits,
  ): Promise<MessageShape<O>> {
    const call = this.#begin(method, makeRequest, limits);
    const end = this.#watch(method.name, limits, call);
    try {
      return this.#decoded(method, await call.answer());
    } finally {
      end();
    }
  }

  /**
   * One request, many answers. The stream opens at once; what comes before the loop waits for it. The loop ends when the signal
   * aborts, and throws such an error whenever else the stream ends.
   */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    makeRequest: MakeRequest<I>,
    signal: AbortSignal,
  ): AsyncGenerator<MessageShape<O>, void> {
    const limits = { timeoutMs: undefined, signal };
    let call: GrpcCall | undefined;
    let failure: unknown;
    try {
      call = this.#begin(method, makeRequest, limits);
      const end = this.#watch(method.name, limits, call);
      call.closed.then(end, end);
    } catch (error) {
      failure = error;
    }
    return this.#answersOf(method, call ?? { failure }, signal);
  }

  /** Makes the connection, and makes it again whenever it ends. Calls `onChange` whenever it begins to stand, or ceases to. */
  watch(onChange: (isConnected: boolean) => void): void {
    this.#channel.watch(onChange);
  }

  /** Ends the connection. Calls under way reject with kind `unavailable`, later ones too. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#ends]) end();
    this.#channel.close();
  }

  /** Sends the request. Throws what the call fails with where nothing is sent. */
  #begin<I extends DescMessage>(
    method: { readonly name: string; readonly input: I; readonly parent: { readonly typeName: string } },
    makeRequest: MakeRequest<I>,
    { signal }: GrpcCallLimits,
  ): GrpcCall {
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#rpcError('Unavailable', method.name, closedText);
    const makeError: MakeCallError = (code, text, options) => this.#rpcError(code, method.name, text, options);
    const bytes = encoded(method.input, makeRequest, makeError);
    // who makes the request may have given it up
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#rpcError('Unavailable', method.name, closedText);
    try {
      return this.#channel.call(`/${method.parent.typeName}/${method.name}`, bytes, makeError);
    } catch (error) {
      throw makeError('Unavailable', errorText(error), { cause: error });
    }
  }

  async *#answersOf<O extends DescMessage>(
    method: { readonly name: string; readonly output: O },
    call: GrpcCall | { readonly failure: unknown },
    signal: AbortSignal,
  ): AsyncGenerator<MessageShape<O>, void> {
    try {
      if ('failure' in call) throw call.failure;
      for await (const answer of call.answers()) {
        if (signal.aborted) return;
        yield this.#decoded(method, answer);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return;
    }
    if (!signal.aborted) throw this.#rpcError('Unavailable', method.name, 'the server has ended the stream');
  }

  #decoded<O extends DescMessage>(
    { name, output }: { readonly name: string; readonly output: O },
    bytes: Buffer,
  ): MessageShape<O> {
    try {
      return fromBinary(output, bytes);
    } catch (error) {
      throw this.#rpcError('Internal', name, `the answer cannot be read: ${errorText(error)}`, { cause: error });
    }
  }

  /**
   * Cancels the call when a limit or the end of the connection comes before the call's own end, which the caller tells. Throws where
   * the clock does; the call is taken back then, too.
   */
  #watch(name: string, limits: GrpcCallLimits, call: GrpcCall): () => void {
    let unwatch = (): void => {};
    const end = (): void => {
      this.#ends.delete(onClose);
      unwatch();
    };
    const cutWith = (error: unknown): void => {
      end();
      call.cancel(error);
    };
    const onClose = (): void => cutWith(this.#rpcError('Unavailable', name, closedText));
    const watched = { clock: this.#clock, ...limits, keepAlive: true };
    this.#ends.add(onClose);
    try {
      unwatch = watchLimits(watched, {
        onTimeout: () => cutWith(this.#rpcError('DeadlineExceeded', name, 'context deadline exceeded')),
        onAbort: cutWith,
      });
    } catch (error) {
      cutWith(error);
      throw error;
    }
    return end;
  }
}

function encoded<I extends DescMessage>(input: I, makeRequest: MakeRequest<I>, makeError: MakeCallError): Uint8Array {
  try {
    return toBinary(input, create(input, makeRequest()));
  } catch (error) {
    throw makeError('InvalidArgument', errorText(error), { cause: error });
  }
}
