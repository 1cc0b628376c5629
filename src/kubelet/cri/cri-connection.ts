import type { SteadyClock } from '../../base/clock.ts';
import type { CodeName } from '../grpc/grpc-call.ts';
import { GrpcConnection } from '../grpc/grpc-connection.ts';
import { RuntimeError, type RuntimeErrorKind } from '../runtime/container-runtime.ts';

/** The longest message that is read, in bytes: the kubelet's. */
const longestMessage = 16 * 1024 * 1024;

/** A channel to a runtime. Calls reject with a RuntimeError, or with the reason of their signal. */
export function criConnection(socketPath: string, clock: SteadyClock, maxMessageBytes = longestMessage): GrpcConnection {
  return new GrpcConnection({ socketPath, clock, maxMessageBytes, rpcError });
}

/** `Canceled` here is the runtime's word, as when it stops: a call that we take back has ended before. */
const kinds: Partial<Record<CodeName, RuntimeErrorKind>> = {
  Canceled: 'unavailable',
  InvalidArgument: 'invalid',
  OutOfRange: 'invalid',
  DeadlineExceeded: 'timeout',
  NotFound: 'not-found',
  AlreadyExists: 'already-exists',
  Unimplemented: 'unimplemented',
  Unavailable: 'unavailable',
};

/** The error of a call, in Go's words: the kubelet shows them so in events. */
export function rpcError(code: CodeName, call: string, description: string, options?: ErrorOptions): RuntimeError {
  return new RuntimeError(kinds[code] ?? 'failed', call, `rpc error: code = ${code} desc = ${description}`, options);
}
