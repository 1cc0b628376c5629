import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { GrpcProbeTarget, HttpProbeTarget, ProbeSubject, TcpProbeTarget } from '../../../../src/node/probes/prober.ts';
import { until } from '../../../support/until.ts';

const subject: ProbeSubject = {
  podUID: 'u1',
  podName: 'p',
  namespace: 'd',
  containerName: 'a',
  containerID: 'containerd://a0',
  timeoutSeconds: 1,
};

export function httpTarget(url: string, changes: Partial<HttpProbeTarget> = {}): HttpProbeTarget {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { ...subject, scheme: protocol.slice(0, -1), host, port: Number(port), path: pathname, headers: [], ...changes };
}

export function tcpTarget(port: number, host = '127.0.0.1'): TcpProbeTarget {
  return { ...subject, host, port };
}

export function grpcTarget(port: number, service = ''): GrpcProbeTarget {
  return { ...subject, host: '127.0.0.1', port, service };
}

export const noSignal: AbortSignal = new AbortController().signal;

/** Aborts as the probe manager does when the time of a probe is over. */
export class TimeLimit {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    this.#controller.abort(new DOMException('The time of the probe is over', 'TimeoutError'));
  }
}

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly sockets: Socket[];
  /** Resolves when every connection is closed. */
  closed(): Promise<void>;
}

/** A server of bytes on a loopback address. */
export async function rawServer(serve: (socket: Socket) => void, port = 0): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    serve(socket);
    // a socket that nobody reads does not notice its end
    socket.resume();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    closed: async () => {
      await until(() => sockets.every(({ destroyed }) => destroyed));
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A port that nobody listens at. */
export async function closedPort(): Promise<number> {
  await using server = await rawServer(() => {});
  return server.port;
}
