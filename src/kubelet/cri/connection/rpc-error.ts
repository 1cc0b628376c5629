import { errorText } from '../../../base/errors.ts';
import { grpcCodeNames } from '../../../base/grpc-codes.ts';
import { RuntimeError, type RuntimeErrorKind } from '../../runtime/runtime-error.ts';

/** The name of a status code, as Go writes it. */
export type CodeName = (typeof grpcCodeNames)[number];

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

/** The same for what gRPC reports: `code` is a number, `details` is the server's text. */
export function rpcErrorFrom(error: unknown, call: string): RuntimeError {
  const { code, details } = error as { readonly code?: unknown; readonly details?: unknown };
  const name = typeof code === 'number' ? grpcCodeNames[code] : undefined;
  const text = typeof details === 'string' && details !== '' ? details : errorText(error);
  return rpcError(name ?? 'Unknown', call, text, { cause: error });
}
