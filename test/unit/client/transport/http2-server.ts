import { once } from 'node:events';
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from './self-signed.ts';

export interface Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Which of the server's sessions it came over, counted from 0. */
  readonly session: number;
  /** The code of the reset that the client sent; undefined while there is none. */
  resetCode: number | undefined;
}

export interface Http2Server extends AsyncDisposable {
  readonly url: string;
  /** The server's own certificate, which is its CA. */
  readonly caPem: string;
  readonly seen: Http2Request[];
  /** Every session ever made. */
  readonly sessions: ServerHttp2Session[];
  /** Connections open now, those of other protocols too. */
  readonly open: Set<Socket>;
  /** How many PINGs clients have sent. */
  readonly pings: () => number;
}

export type Http2Script = (request: Http2Request, server: Http2Server) => void;

const certificate = selfSigned({ commonName: 'apiserver', ips: ['127.0.0.1'] });

/** Answers with 200 and the first bytes of a stream that stays open. */
export const beginStream: Http2Script = ({ stream }) => {
  stream.respond({ ':status': 200 });
  stream.write('first');
};

/** A server on loopback that offers HTTP/2, notes each stream and lets the script answer it. */
export async function http2Server(script: Http2Script, options: SecureServerOptions = {}): Promise<Http2Server> {
  const { cert: caPem } = certificate;
  const server = createSecureServer({ ...certificate, ...options });
  const [seen, sessions, open]: [Http2Request[], ServerHttp2Session[], Set<Socket>] = [[], [], new Set()];
  let pings = 0;
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  server.on('session', (session) => {
    sessions.push(session);
    session
      .on('error', () => {})
      .on('ping', () => {
        pings += 1;
      });
  });
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const self: Http2Server = {
    url: `https://127.0.0.1:${port}`,
    caPem,
    seen,
    sessions,
    open,
    pings: () => pings,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('stream', (stream, headers) => {
    const session = sessions.indexOf(stream.session as ServerHttp2Session);
    const request: Http2Request = { stream, headers, session, resetCode: undefined };
    stream
      .on('error', () => {})
      .on('aborted', () => {
        request.resetCode = stream.rstCode;
      });
    seen.push(request);
    script(request, self);
  });
  return self;
}
