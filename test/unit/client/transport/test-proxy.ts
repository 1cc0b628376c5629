import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface SeenByProxy {
  /** `CONNECT`, or the method of a request to forward. */
  readonly method: string;
  /** Host and port, or the whole URL of a request to forward. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** The common name of the client certificate it was shown. */
  readonly client: string | undefined;
  /** Everything it was sent, for what must not be in it. */
  readonly text: string;
}

export interface TestProxy extends AsyncDisposable {
  readonly url: string;
  readonly seen: SeenByProxy[];
  /** The sockets of its clients. */
  readonly open: Set<Socket>;
  /** Answers a CONNECT that was held. */
  release(): void;
}

export interface TestProxyOptions {
  /** Makes it an https proxy. */
  readonly tls?: ServerOptions;
  /** What becomes of the CONNECT of this number, counted from 1: a tunnel, no answer, or these bytes. Default: a tunnel. */
  readonly onConnect?: (number: number) => 'tunnel' | 'hold' | string;
}

/** A proxy on 127.0.0.1 that tunnels, and forwards plain http. */
export async function testProxy({ tls, onConnect = () => 'tunnel' }: TestProxyOptions = {}): Promise<TestProxy> {
  const seen: SeenByProxy[] = [];
  const open = new Set<Socket>();
  const held: (() => void)[] = [];
  const note = ({ method = '', url = '', headers, socket }: IncomingMessage): void => {
    const name = socket instanceof TLSSocket ? socket.getPeerCertificate()?.subject?.CN : undefined;
    const client = name === undefined ? undefined : String(name);
    const text = `${method} ${url} ${JSON.stringify(headers)}`;
    const authorization = headers['proxy-authorization'];
    seen.push({ method, target: url, authorization, client, text });
  };
  const proxy = tls === undefined ? createServer() : createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  proxy.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  proxy.on('tlsClientError', () => {});
  proxy.on('connect', (message: IncomingMessage, socket: Socket) => {
    note(message);
    socket.on('error', () => {});
    // an http server leaves a socket half open
    socket.on('end', () => socket.end());
    const answer = onConnect(seen.length);
    if (answer === 'tunnel') tunnel(message.url ?? '', socket);
    else if (answer === 'hold') held.push(() => tunnel(message.url ?? '', socket));
    else socket.end(answer);
    socket.resume();
  });
  proxy.on('request', (message: IncomingMessage, response) => {
    note(message);
    const { method, headers, url = '' } = message;
    const onward = request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    message.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    seen,
    open,
    release: () => held.shift()?.(),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

function tunnel(authority: string, socket: Socket): void {
  const { hostname, port } = new URL(`http://${authority}`);
  const target = connect(Number(port), hostname.replace(/^\[|\]$/g, ''), () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  target.on('error', () => socket.destroy());
  socket.on('close', () => target.destroy());
  socket.pipe(target).pipe(socket);
}
