import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A runtime's server of streams. */
export interface StreamServer {
  /** How a stream behaves is in its path: `echo`, `bye`, `refuse`, `silent` or `reset`. */
  readonly url: string;
  close(): Promise<void>;
}

const switched = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n';

/** `opened` gets every socket of it. */
export async function startStreamServer(opened: (socket: Socket) => void): Promise<StreamServer> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    opened(socket);
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
    socket.once('data', (head) => answer(socket, /^[A-Z]+ \/(\w+) /.exec(head.toString('latin1'))?.[1]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

function answer(socket: Socket, kind: string | undefined): void {
  switch (kind) {
    case 'refuse':
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
      return;
    case 'silent':
      socket.on('end', () => socket.end()).resume();
      return;
    case 'bye':
      socket.end(`${switched}bye`);
      return;
    case 'reset':
      socket.write(switched);
      socket.once('data', () => socket.resetAndDestroy());
      return;
    default:
      socket.write(switched);
      socket.pipe(socket);
  }
}
