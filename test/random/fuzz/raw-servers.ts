import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { selfSigned } from '../../unit/client/transport/self-signed.ts';
import { type Answer, write } from './answer.ts';
import { frame, type Http2Answer } from './http2-answers.ts';

export interface RawServer extends AsyncDisposable {
  readonly url: string;
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
}

async function serve(server: Server, event: string, scheme: string, onSocket: (socket: Socket) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.on(event, (socket: Socket) => {
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Reads requests over HTTP/1.1, one after another on each connection, and answers what `answerTo` says to the first line. */
export function http1Server(answerTo: (line: string) => Answer | undefined): Promise<RawServer> {
  return serve(createServer(), 'connection', 'http', (socket) => {
    let text = '';
    let answered = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const answer = answerTo(text.slice(0, text.indexOf('\r\n')));
        text = text.slice(end + 4);
        if (answer === undefined) socket.destroy();
        else answered = answered.then(() => write(answer, socket)).catch(() => {});
      }
    });
  });
}

const preface = 24;
const headersType = 1;

/** Speaks HTTP/2 as far as it needs to: its answer to the first request comes once that is there. The client's name for the server says which answer. */
export function http2Server(answerTo: (name: string) => Http2Answer | undefined): Promise<RawServer> {
  const tls = { ...selfSigned({ commonName: 'fuzz' }), ALPNProtocols: ['h2'] };
  return serve(createTlsServer(tls), 'secureConnection', 'https', (socket) => {
    const { servername } = socket as TLSSocket;
    const answer = typeof servername === 'string' ? answerTo(servername) : undefined;
    if (answer === undefined) return void socket.destroy();
    let bytes = Buffer.alloc(0);
    let isAnswered = false;
    socket.write(answer.greeting);
    socket.on('data', (chunk: Buffer) => {
      if (isAnswered) return;
      bytes = Buffer.concat([bytes, chunk]);
      for (let at = preface; at + 9 <= bytes.length && !isAnswered; at += 9 + bytes.readUIntBE(at, 3)) {
        if (bytes[at + 3] !== headersType) continue;
        isAnswered = true;
        // the settings of the client are acknowledged first
        socket.write(frame(4, 1, 0, Buffer.alloc(0)));
        void write(answer, socket).catch(() => {});
      }
    });
  });
}
