import type { IncomingMessage } from 'node:http';
import type { AskedStreams } from '../streams/accept-streams.ts';
import { KubeletApiRefusal } from './exchange.ts';

/** Which streams a request asks for, as CRI's streaming server reads it. Throws a refusal where it asks for none. */
export function readStreamQuery(query: URLSearchParams): AskedStreams {
  const asks = (name: string): boolean => query.get(name) === '1';
  const tty = asks('tty');
  // a terminal has one output
  const stream = { tty, stdin: asks('input'), stdout: asks('output'), stderr: asks('error') && !tty };
  if (stream.stdin || stream.stdout || stream.stderr) return stream;
  throw new KubeletApiRefusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
}

/** The ports that a WebSocket request names; a SPDY request names them later. Throws a refusal for what is no port. */
export function readPorts({ headers }: IncomingMessage, query: URLSearchParams): readonly number[] {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return [];
  const ports = namedPorts(query);
  if (ports.length === 0) throw new KubeletApiRefusal(400, 'query parameter "port" is required');
  return ports;
}

/** The ports that a request names, whatever its protocol is. Throws a refusal for what is no port. */
export function namedPorts(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('port').flatMap((text) => text.split(','));
  return texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (port < 1 || port > 65_535) throw new KubeletApiRefusal(400, `unable to parse ${JSON.stringify(text)} as a port`);
    return port;
  });
}
