// Behaviour of pkg/probe/grpc, v1.36.3.

import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { type Clock, sleep } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import { errorText } from '../../base/errors.ts';
import { grpcCodeNames, grpcCodeOfHttp } from '../../base/grpc-codes.ts';
import { type GrpcProbeTarget, goSeconds, isTimeout, joinHostPort, type ProbeOutcome } from './prober.ts';

/** The answer to a health check has a few bytes. */
const longestAnswer = 64 * 1024;
/** How long to wait before the next attempt to connect; it grows as gRPC's does. */
const connectAgain = { firstMs: 1000, factor: 1.6 };

interface Reply {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A success when the server says that it serves. The connection is not encrypted; it is tried until the time is over. */
export async function grpcProbe(target: GrpcProbeTarget, signal: AbortSignal, clock: Clock): Promise<ProbeOutcome> {
  const { host, port, timeoutSeconds } = target;
  const address = joinHostPort(host, port);
  const time = goSeconds(timeoutSeconds);
  const session = await openUntil(`http://${address}`, signal, clock);
  if (session === undefined) {
    const output = `timeout: failed to connect service ${JSON.stringify(address)} within ${time}: context deadline exceeded`;
    return { result: 'failure', output };
  }
  try {
    return judge(await check(session, target, signal));
  } catch (error) {
    if (isTimeout(signal)) return { result: 'failure', output: `timeout: health rpc did not complete within ${time}` };
    return failure('Unavailable', errorText(error));
  } finally {
    session.destroy();
  }
}

/** Undefined when the signal aborts first. Never rejects. */
async function openUntil(authority: string, signal: AbortSignal, clock: Clock): Promise<ClientHttp2Session | undefined> {
  for (let tries = 1; !signal.aborted; tries += 1) {
    const session = await open(authority, signal);
    if (session !== undefined) return session;
    await sleep(clock, nthDelayMs(tries, connectAgain), signal);
  }
  return undefined;
}

/** A session whose server speaks HTTP/2; undefined where there is none. */
function open(authority: string, signal: AbortSignal): Promise<ClientHttp2Session | undefined> {
  return new Promise((resolve) => {
    const session = connect(authority, { settings: { enablePush: false } });
    let leave = (): void => {};
    const end = (opened: ClientHttp2Session | undefined): void => {
      leave();
      if (opened === undefined) session.destroy();
      resolve(opened);
    };
    const giveUp = (): void => end(undefined);
    session.on('error', giveUp);
    session.once('close', giveUp);
    session.once('remoteSettings', () => end(session));
    leave = onAbort(signal, giveUp);
  });
}

function check(session: ClientHttp2Session, target: GrpcProbeTarget, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      'user-agent': 'kube-probe/1.36',
      te: 'trailers',
      'grpc-timeout': `${Math.ceil(target.timeoutSeconds * 1000)}m`,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const leave = onAbort(signal, () => reject(signal.reason));
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestAnswer) reject(new Error(`received message larger than max (${length} vs. ${longestAnswer})`));
    });
    stream.on('error', reject);
    stream.on('close', () => {
      leave();
      resolve({ headers, trailers, body: Buffer.concat(chunks) });
    });
    stream.end(healthRequest(target.service));
  });
}

function judge({ headers, trailers, body }: Reply): ProbeOutcome {
  const status = Number(headers[':status']);
  const end = trailers['grpc-status'] === undefined ? headers : trailers;
  const grpcStatus = end['grpc-status'];
  if (typeof grpcStatus !== 'string') {
    if (!(status > 0)) return failure('Unavailable', 'the server has ended the call without an answer');
    if (status === 200) return failure('Internal', 'server closed the stream without sending trailers');
    const type = headers['content-type'];
    const more =
      type === undefined
        ? 'malformed header: missing HTTP content-type'
        : `transport: received unexpected content-type "${type}"`;
    const says = `unexpected HTTP status code received from server: ${status} (${STATUS_CODES[status] ?? ''}); ${more}`;
    return failure(grpcCodeOfHttp(status), says);
  }
  if (grpcStatus !== '0') return failure(codeName(grpcStatus), grpcMessage(String(end['grpc-message'] ?? '')));
  let says: string;
  try {
    says = servingStatus(body);
  } catch (error) {
    return failure('Internal', `grpc: failed to unmarshal the received message: ${(error as Error).message}`);
  }
  if (says === 'SERVING') return { result: 'success', output: 'service healthy' };
  return { result: 'failure', output: `service unhealthy (responded with ${JSON.stringify(says)})` };
}

function failure(code: string, description: string): ProbeOutcome {
  const output =
    code === 'Unimplemented'
      ? `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${description}`
      : `error: health rpc probe failed: rpc error: code = ${code} desc = ${description}`;
  return { result: 'failure', output };
}

// The messages of grpc.health.v1.Health/Check, and how gRPC says that a call has failed.

/** Names by number. */
const servingStatuses: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

function codeName(grpcStatus: string): string {
  return grpcCodeNames[Number(grpcStatus)] ?? `Code(${grpcStatus})`;
}

function grpcMessage(header: string): string {
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
