import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** What the client asks for: one object, a page of a list, a watch, or all that a reflector asks for. */
export type Question = 'get' | 'list' | 'watch' | 'reflect';

/** How the connection goes on after the last byte. */
export type Ending = 'end' | 'reset' | 'stay';

/** One answer of a broken or hostile server. */
export interface Answer {
  /** What it is made of, in words, so that a failure can be understood. */
  readonly name: string;
  readonly question: Question;
  /** True: nothing is wrong with it, and the client has to take it. */
  readonly isGood: boolean;
  /** True: it goes up to the limits of the transport, so that few run at once. */
  readonly isLarge: boolean;
  readonly bytes: () => Iterable<Buffer>;
  readonly ending: Ending;
}

/** No error may show it: it stands for a secret in what a server sends. */
export const secret = 'c2VjcmV0LW9mLXRoZS1jbHVzdGVy';

/** Writes the answer as fast as the client takes it. Ends with the connection. */
export async function write({ bytes, ending }: Pick<Answer, 'bytes' | 'ending'>, socket: Socket): Promise<void> {
  for (const piece of bytes()) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await drained(socket);
  }
  if (ending === 'end') socket.end();
  else if (ending === 'reset') cut(socket);
}

/** Node.js resets plain sockets only. */
function cut(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** The socket takes more, or is gone. */
function drained(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    socket.off('drain', done).off('close', done);
    resolve();
  };
  socket.on('drain', done).on('close', done);
  return promise;
}

/** The same text again and again, up to so many bytes, in pieces of about 64 KB. */
export function* repeated(text: string, total: number): Iterable<Buffer> {
  const piece = Buffer.from(text.repeat(Math.max(1, Math.ceil(65_536 / text.length))));
  for (let sent = 0; sent < total; sent += piece.length) yield piece.subarray(0, Math.min(piece.length, total - sent));
}
