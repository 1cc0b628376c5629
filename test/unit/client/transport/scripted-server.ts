import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Connections ever made, and those open now. */
  readonly connections: { total: number; readonly open: Set<Socket> };
}

export type Script = (request: SeenRequest, response: ServerResponse) => void;

/** A server on a loopback address that notes each request and lets the script answer it. */
export async function scriptedServer(script: Script, tls?: ServerOptions, host = '127.0.0.1'): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const listener: RequestListener = (message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url = '', headers, socket } = message;
      const request = { method, url, headers, socket, body: Buffer.concat(chunks).toString() };
      seen.push(request);
      script(request, response);
    });
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const connections = { total: 0, open: new Set<Socket>() };
  server.on('connection', (socket: Socket) => {
    connections.total += 1;
    connections.open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => connections.open.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    seen,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections.open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export function kubeConfigFor(server: string, user: Partial<User> = {}, cluster: Partial<Cluster> = {}): KubeConfig {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: false, ...cluster }, { name: 'agent', ...user });
  return kubeConfig;
}

export function sendJson(response: ServerResponse, value: unknown, { status = 200, headers = {} } = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** What the promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const answer = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in answer) return answer.error;
  throw new Error(`expected a rejection, got ${JSON.stringify(answer.value)}`);
}
