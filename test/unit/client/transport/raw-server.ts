import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server that keeps every byte which comes, and answers when it is told to. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  /** All that has come, over all sockets. */
  readonly text: () => string;
  /** Every socket ever opened. */
  readonly sockets: Socket[];
  /** Answers the request that waits on the socket of this number. */
  answer(socket?: number): void;
}

export async function rawServer(): Promise<RawServer> {
  const sockets: Socket[] = [];
  let text = '';
  const server = createServer((socket) => {
    sockets.push(socket);
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        text += bytes.toString();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    text: () => text,
    sockets,
    answer: (socket = 0) => {
      sockets[socket]?.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
