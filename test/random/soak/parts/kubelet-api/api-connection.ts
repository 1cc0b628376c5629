import { once } from 'node:events';
import { connect as connectPlainly, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { KeyedCertificate } from '../../../../support/certificate-authority.ts';

/** Where the API listens, and who has signed its certificate. */
export interface ApiAddress {
  readonly port: number;
  readonly ca: string;
}

const host = '127.0.0.1';
const statusLine = /HTTP\/1\.1 (\d{3}) /g;

/** Opens connections to the API, as one client. */
export class ApiClient {
  readonly #port: number;
  readonly #secureContext: SecureContext;

  constructor({ port, ca }: ApiAddress, certificate?: KeyedCertificate) {
    this.#port = port;
    this.#secureContext = createSecureContext({ ca, ...certificate });
  }

  /** A connection whose handshake is over. */
  async connect(): Promise<ApiConnection> {
    const options = { host, port: this.#port, secureContext: this.#secureContext, allowHalfOpen: true };
    const socket = connect(options as typeof options & Parameters<typeof connect>[0]);
    await once(socket, 'secureConnect');
    return new ApiConnection(socket);
  }

  /** A connection without a handshake. */
  async connectPlainly(): Promise<Socket> {
    const socket = connectPlainly({ host, port: this.#port }).on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }
}

/** Sends what it is told, and sees what comes back. */
export class ApiConnection {
  readonly socket: TLSSocket;
  #text = '';
  #isOver = false;
  #look: (() => void) | undefined;

  constructor(socket: TLSSocket) {
    this.socket = socket;
    const over = (): void => {
      this.#isOver = true;
      this.#look?.();
    };
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#look?.();
    });
    socket
      .on('error', () => {})
      .once('end', over)
      .once('close', over);
  }

  /** True once the server has ended the connection. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What has come since the last requests were sent. */
  get text(): string {
    return this.#text;
  }

  /** Sends the requests at once. Resolves with the status of each, in order, or fewer where the server ends the connection. */
  async ask(...requests: readonly string[]): Promise<number[]> {
    this.send(requests.join(''));
    await this.until(() => this.#statuses().length >= requests.length || this.#isOver);
    return this.#statuses();
  }

  send(text: string): void {
    this.#text = '';
    this.socket.write(text);
  }

  /** Rejects when the connection ends before. */
  async until(isSo: (text: string) => boolean): Promise<void> {
    while (!isSo(this.#text)) {
      if (this.#isOver) throw new Error(`a connection has ended after ${JSON.stringify(this.#text.slice(-300))}`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#look = resolve;
      await promise;
    }
    this.#look = undefined;
  }

  /** All that comes until the server ends the connection. */
  async rest(): Promise<string> {
    await this.until(() => this.#isOver);
    this.leave();
    return this.#text;
  }

  leave(): void {
    this.socket.destroy();
  }

  #statuses(): number[] {
    return [...this.#text.matchAll(statusLine)].map(([, status]) => Number(status));
  }
}

/** The head of a request. */
export function headOf(target: string, more: { readonly method?: string; readonly headers?: readonly string[] } = {}): string {
  const { method = 'GET', headers = [] } = more;
  return `${[`${method} ${target} HTTP/1.1`, 'host: node', ...headers].join('\r\n')}\r\n\r\n`;
}
