import type { DescMessage, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import type { Logger } from '../../base/logging/logger.ts';
import type { RuntimeCall } from '../runtime/container-runtime.ts';
import { isRuntimeError } from '../runtime/runtime-error.ts';
import type { CriConnection, MakeRequest } from './connection/cri-connection.ts';
import { rpcError } from './connection/rpc-error.ts';

/** The longest time of a call that is not the default one; null: no limit. */
export interface CallOptions extends RuntimeCall {
  readonly timeoutMs?: number | null;
}

/** Calls of one connection, each with its limit. A call that fails is logged. */
export class CriCalls {
  readonly #connection: CriConnection;
  readonly #timeoutMs: number;
  readonly #logger: Logger;

  constructor(connection: CriConnection, timeoutMs: number, logger: Logger) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
    this.#logger = logger;
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    { signal, timeoutMs = this.#timeoutMs }: CallOptions = {},
  ): Promise<MessageShape<O>> {
    try {
      return await this.#connection.unary(method, makeRequest, { signal, timeoutMs: timeoutMs ?? undefined });
    } catch (error) {
      this.#logger.debug({ call: method.name, err: error }, 'a call to the container runtime has failed');
      throw error;
    }
  }

  /** The same for a call that ends something: what is not there has ended. */
  async end<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    makeRequest: MakeRequest<I>,
    options?: CallOptions,
  ): Promise<void> {
    try {
      await this.unary(method, makeRequest, options);
    } catch (error) {
      if (!isRuntimeError(error, 'not-found')) throw error;
    }
  }
}

/** What an answer has to hold. Without it the call has failed. */
export function answered<T>(value: T | undefined, call: string, field: string): T {
  if (value !== undefined && value !== '') return value;
  throw rpcError('Internal', call, `the answer has no ${field}`);
}
