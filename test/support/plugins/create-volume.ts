import { Client, credentials } from '@grpc/grpc-js';

/** A field of protobuf: bytes, or a number that is written as it is. */
type Field = readonly [number: number, value: Buffer | number];

/** Asks the controller service of a driver for a volume, as external-provisioner does. The library speaks with no controller service. */
export async function createVolume(socketPath: string, name: string, bytes: number, isBlock: boolean): Promise<string> {
  const capability = message([isBlock ? 1 : 2, Buffer.alloc(0)], [3, message([1, 1])]);
  const request = message([1, Buffer.from(name)], [2, message([1, bytes])], [3, capability]);
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  try {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const asItIs = (buffer: Buffer): Buffer => buffer;
    client.makeUnaryRequest('/csi.v1.Controller/CreateVolume', asItIs, asItIs, request, (error, answer) => {
      if (error) reject(error);
      else resolve(answer ?? Buffer.alloc(0));
    });
    const volume = fieldOf(await promise, 1);
    return fieldOf(volume, 2).toString();
  } finally {
    client.close();
  }
}

function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) =>
      typeof value === 'number' ? [varint(number << 3), varint(value)] : [varint((number << 3) | 2), varint(value.length), value],
    ),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

/** The bytes of the first field of this number. */
function fieldOf(bytes: Buffer, wanted: number): Buffer {
  for (let at = 0; at < bytes.length; ) {
    const [tag, afterTag] = readVarint(bytes, at);
    const [value, afterValue] = readVarint(bytes, afterTag);
    const isBytes = (tag & 7) === 2;
    if (isBytes && tag >> 3 === wanted) return bytes.subarray(afterValue, afterValue + value);
    at = isBytes ? afterValue + value : afterValue;
  }
  throw new Error(`the answer has no field ${wanted}`);
}

function readVarint(bytes: Buffer, from: number): [value: number, end: number] {
  let [value, shift, at] = [0n, 0n, from];
  for (; ; at++, shift += 7n) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [Number(value), at + 1];
  }
}
