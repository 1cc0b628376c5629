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
import { type ChannelOptions, Client, type ClientReadableStream, connectivityState, credentials } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { type WatchedLimits, watchLimits } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { grpcCodeNames } from '../../base/grpc-codes.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';

/** The connection is made again soon: as the kubelet's, after 100 ms at first and every 3 s at the latest. */
const channelOptions: ChannelOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_channelz': 0,
};

/** What cuts a call short, beside its own end. */
type GrpcCallLimits = Pick<WatchedLimits, 'timeoutMs' | 'signal'>;

const closedText = 'the client connection is closing';
const keepBytes = (bytes: Buffer): Buffer => bytes;

/** Makes a request. It may throw: the call then rejects with kind `invalid`, and nothing is sent. */
export type MakeRequest<I extends DescMessage> = () => MessageInitShape<I>;

/** The name of a status code, as Go writes it. */
export type CodeName = (typeof grpcCodeNames)[number];

/** Makes the error of a call from its code, the name of the call and what the server said. */
export type MakeRpcError = (code: CodeName, call: string, description: string, options?: ErrorOptions) => Error;

export interface GrpcConnectionOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  /** An answer that says it is longer rejects its call before it is read. */
  readonly maxMessageBytes: number;
  readonly rpcError: MakeRpcError;
}

/** One channel of gRPC to a unix socket. Calls reject with the errors that its owner makes, or with the reason of their signal. */
export class GrpcConnection {
  readonly #clock: Clock;
  readonly #rpcError: MakeRpcError;
  readonly #client: Client;
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor({ socketPath, clock, maxMessageBytes, rpcError }: GrpcConnectionOptions) {
    this.#clock = clock;
    this.#rpcError = rpcError;
    const options = { ...channelOptions, 'grpc.max_receive_message_length': maxMessageBytes };
    this.#client = new Client(`unix:${normalize(socketPath)}`, credentials.createInsecure(), options);
  }

  /** One request, one answer. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    limits: GrpcCallLimits,
  ): Promise<MessageShape<O>> {
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
    const bytes = this.#encode(method, makeRequest, limits, reject);
    if (bytes === undefined) return promise;
    const decode = (answer: Buffer): MessageShape<O> => fromBinary(method.output, answer);
    const call = this.#client.makeUnaryRequest(pathOf(method), keepBytes, decode, bytes, (error, answer) => {
      end();
      if (error !== null) reject(this.#errorFrom(error, method.name));
      else if (answer === undefined) reject(this.#rpcError('Internal', method.name, 'the answer is missing'));
      else resolve(answer);
    });
    const end = this.#watch(method.name, limits, (error) => {
      reject(error);
      call.cancel();
    });
    return promise;
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
    const ended: StreamEnd = { failure: undefined };
    const fail = (error: unknown): void => {
      ended.failure ??= error;
    };
    const bytes = this.#encode(method, makeRequest, limits, fail);
    if (bytes === undefined) return answersOf<MessageShape<O>>(undefined, ended, signal);
    const decode = (answer: Buffer): MessageShape<O> => fromBinary(method.output, answer);
    const call = this.#client.makeServerStreamRequest(pathOf(method), keepBytes, decode, bytes);
    const end = this.#watch(method.name, limits, (error) => {
      fail(error);
      call.cancel();
    });
    call.on('error', (error) => fail(this.#errorFrom(error, method.name)));
    call.on('status', () => {
      fail(this.#rpcError('Unavailable', method.name, 'the server has ended the stream'));
      end();
    });
    return answersOf(call, ended, signal);
  }

  /** Makes the connection, and makes it again whenever it ends. Calls `onChange` whenever it begins to stand, or ceases to. */
  watch(onChange: (isConnected: boolean) => void): void {
    const channel = this.#client.getChannel();
    let isConnected = false;
    const look = (): void => {
      if (this.#isClosed) return;
      const state = channel.getConnectivityState(true);
      const stands = state === connectivityState.READY;
      const hasChanged = stands !== isConnected;
      isConnected = stands;
      if (hasChanged) callGuarded(() => onChange(stands), ignoreFailure);
      if (!this.#isClosed) channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
    };
    look();
  }

  /** Ends the connection. Calls under way reject with kind `unavailable`, later ones too. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#ends]) end();
    this.#client.close();
  }

  /** The bytes of a request; undefined after `reject` was called, because nothing is to be sent. */
  #encode<I extends DescMessage>(
    method: { readonly name: string; readonly input: I },
    makeRequest: MakeRequest<I>,
    { signal }: GrpcCallLimits,
    reject: (reason: unknown) => void,
  ): Buffer | undefined {
    if (signal?.aborted === true) reject(signal.reason);
    else if (this.#isClosed) reject(this.#rpcError('Unavailable', method.name, closedText));
    else {
      try {
        const { buffer, byteOffset, byteLength } = toBinary(method.input, create(method.input, makeRequest()));
        return Buffer.from(buffer, byteOffset, byteLength);
      } catch (error) {
        reject(this.#rpcError('InvalidArgument', method.name, errorText(error), { cause: error }));
      }
    }
    return undefined;
  }

  /** Calls `cut` once, when a limit or the end of the connection comes before the call's own end, which the caller tells. */
  #watch(name: string, limits: GrpcCallLimits, cut: (error: unknown) => void): () => void {
    const end = (): void => {
      this.#ends.delete(onClose);
      unwatch();
    };
    const cutWith = (error: unknown): void => {
      end();
      cut(error);
    };
    const onClose = (): void => cutWith(this.#rpcError('Unavailable', name, closedText));
    const watched = { clock: this.#clock, ...limits, keepAlive: true };
    const unwatch = watchLimits(watched, {
      onTimeout: () => cutWith(this.#rpcError('DeadlineExceeded', name, 'context deadline exceeded')),
      onAbort: cutWith,
    });
    this.#ends.add(onClose);
    return end;
  }

  /** What gRPC reports: `code` is a number, `details` is the server's text. */
  #errorFrom(error: unknown, call: string): Error {
    const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
    const name = typeof code === 'number' ? grpcCodeNames[code] : undefined;
    const text = typeof details === 'string' && details !== '' ? details : errorText(error);
    return this.#rpcError(name ?? 'Unknown', call, text, { cause: error });
  }
}

/** Why a stream has ended; undefined while it has not. */
interface StreamEnd {
  failure: unknown;
}

async function* answersOf<T>(
  call: ClientReadableStream<T> | undefined,
  ended: StreamEnd,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  try {
    for await (const answer of call ?? []) {
      if (signal.aborted) return;
      yield answer as T;
    }
  } catch (error) {
    ended.failure ??= error;
  } finally {
    call?.cancel();
  }
  if (!signal.aborted) throw ended.failure;
}

function pathOf(method: { readonly name: string; readonly parent: { readonly typeName: string } }): string {
  return `/${method.parent.typeName}/${method.name}`;
}
