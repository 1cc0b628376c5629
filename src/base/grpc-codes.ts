/** Status codes of gRPC, by number, as Go writes them. */
export const grpcCodeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

const codesOfHttp: Readonly<Record<number, (typeof grpcCodeNames)[number]>> = {
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

/** The code of an answer without one, by its HTTP status: grpc/doc/http-grpc-status-mapping.md. */
export function grpcCodeOfHttp(status: number): (typeof grpcCodeNames)[number] {
  return codesOfHttp[status] ?? 'Unknown';
}
