// The messages of grpc.health.v1.Health/Check, and how gRPC says that a call has failed.
import { grpcCodeNames } from '../../base/grpc-codes.ts';

/** Names by number. */
const servingStatuses: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const codesOfHttp: Readonly<Record<number, string>> = {
  400: 'Internal',
  401: 'Unauthenticated',
  403: 'PermissionDenied',
  404: 'Unimplemented',
  429: 'Unavailable',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

export function codeName(grpcStatus: string): string {
  return grpcCodeNames[Number(grpcStatus)] ?? `Code(${grpcStatus})`;
}

export function codeNameOfHttp(status: number): string {
  return codesOfHttp[status] ?? 'Unknown';
}

/** The text of a `grpc-message` header. */
export function grpcMessage(header: string): string {
  return Buffer.from(
    header.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}

/** A request that asks for one service, as it goes over the wire. */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** The name of the status that an answer holds. Throws for anything but one whole message that is not compressed. */
export function servingStatus(frame: Buffer): string {
  if (frame.length < 5 || frame[0] !== 0 || frame.readUInt32BE(1) !== frame.length - 5) throw new Error('no whole message');
  let status = 0;
  let at = 5;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = frame[at++];
      if (byte === undefined || factor > 2 ** 63) throw new Error('a number that does not end');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const skip = (bytes: number): void => {
    at += bytes;
  };
  while (at < frame.length) {
    const tag = number();
    const wireType = tag % 8;
    if (tag === 8) status = number();
    else if (wireType === 0) number();
    else if (wireType === 1) skip(8);
    else if (wireType === 2) skip(number());
    else if (wireType === 5) skip(4);
    else throw new Error('a field of an unknown sort');
  }
  if (at !== frame.length) throw new Error('a field that does not end');
  return servingStatuses[status] ?? String(status);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
