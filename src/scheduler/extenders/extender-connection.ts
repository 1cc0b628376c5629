import type { SteadyClock } from '../../base/clock.ts';
import { errorText, invalidOption } from '../../base/errors.ts';
import { readCredentialFile } from '../../client/kubeconfig/bounded-file.ts';
import { ConnectionPool } from '../../client/transport/connection-pool.ts';
import { HttpExchange } from '../../client/transport/http-exchange.ts';
import { type Endpoint, isSameEndpoint, shownAddress } from '../../client/transport/kube-cluster.ts';
import type { RequestGuard } from '../../client/transport/request-guard.ts';
import type { CheckedExtender, ExtenderTlsConfig } from './extender-options.ts';

/** As many pods may be bound at once as there are sockets; more of them wait for one. */
const connections = 32;

const mebibyte = 1024 * 1024;
/** An extender answers with a part of what it was asked, and reasons: it may take four times as much, and so much more. */
const answerBytesBeside = 4 * mebibyte;
const mostAnswerBytes = 64 * mebibyte;

/** One request to an extender. */
interface ExtenderRequest {
  readonly verb: string;
  readonly body: string;
  readonly signal: AbortSignal;
  /** Asked right before the request is written; what it throws is what the request rejects with. */
  readonly guard?: RequestGuard | undefined;
}

/** The wire to one extender. A request is bounded in time, and its answer in size. */
export class ExtenderConnection {
  /** The address of the extender as people see it: without a query, a user or a password. */
  readonly shownAddress: string;
  readonly #options: CheckedExtender;
  readonly #clock: SteadyClock;
  readonly #authorization: string | undefined;
  #pool: ConnectionPool | undefined;
  readonly #retiring = new Set<ConnectionPool>();
  #underWay = 0;

  /** Throws ERR_INVALID_OPTION for a TLS file that cannot be read. */
  constructor(options: CheckedExtender, clock: SteadyClock) {
    this.#options = options;
    this.#clock = clock;
    this.shownAddress = shownAddress(options.urlPrefix, '');
    const { username, password } = new URL(options.urlPrefix);
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.#authorization = user === ':' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`;
    for (const name of ['certFile', 'keyFile', 'caFile'] as const) requireReadable(options, name);
  }

  /** The body of the answer with status 200. Rejects with an error that has no part of an answer in it. */
  async post({ verb, body, signal, guard }: ExtenderRequest): Promise<string> {
    const bytes = Buffer.from(body);
    const { timeoutMs } = this.#options;
    const { pathname, search } = this.#urlOf(verb);
    const label = `POST ${this.shownAddress}/${verb.split('?', 1)[0]}`;
    const maxAnswerBytes = Math.min(mostAnswerBytes, answerBytesBeside + 4 * bytes.length);
    const exchange = new HttpExchange({ label, clock: this.#clock, signal, timeoutMs, maxAnswerBytes, guard });
    this.#underWay += 1;
    try {
      if (!exchange.isSettled) this.#send(exchange, `${pathname}${search}`, bytes);
      const answer = await exchange.answer;
      if (answer.status !== 200) throw new Error(`${label}: answered with ${answer.status}`);
      return answer.body.toString('utf8');
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Ends every socket. What is under way rejects. */
  async close(): Promise<void> {
    const pools = [...this.#retiring, ...(this.#pool === undefined ? [] : [this.#pool])];
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #send(exchange: HttpExchange, path: string, body: Buffer): void {
    const authorization = this.#authorization;
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'pod-status-manager-scheduler',
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    try {
      exchange.waitsFor('connection');
      this.#currentPool().request({ method: 'POST', path, headers, body }, exchange);
    } catch (error) {
      exchange.fail(error);
    }
  }

  #urlOf(verb: string): URL {
    return new URL(`${this.#options.urlPrefix.replace(/\/+$/, '')}/${verb}`);
  }

  /** Another pool once the files of TLS are others than before; what runs on the old one ends in peace. */
  #currentPool(): ConnectionPool {
    const { urlPrefix, tls, timeoutMs } = this.#options;
    const endpoint: Endpoint = { server: new URL(urlPrefix).origin, proxyUrl: undefined, tls: materialOf(tls) };
    const before = this.#pool;
    if (before !== undefined && isSameEndpoint(before.endpoint, endpoint)) return before;
    const limit = (): number | undefined => (this.#underWay > 0 ? timeoutMs : undefined);
    const pool = new ConnectionPool(endpoint, {
      connections,
      http2: false,
      clock: this.#clock,
      requestLimit: limit,
      streamLimit: limit,
    });
    this.#pool = pool;
    if (before !== undefined) {
      this.#retiring.add(before);
      before.close().then(
        () => this.#retiring.delete(before),
        () => {},
      );
    }
    return pool;
  }
}

function materialOf(tls: ExtenderTlsConfig): Endpoint['tls'] {
  const bytes = (data: string | undefined, file: string | undefined): Buffer | undefined => {
    if (data !== undefined) return Buffer.from(data, 'base64');
    return file === undefined ? undefined : readCredentialFile(file);
  };
  const [ca, cert, key] = [bytes(tls.caData, tls.caFile), bytes(tls.certData, tls.certFile), bytes(tls.keyData, tls.keyFile)];
  return {
    ...{ ca, cert, key, servername: tls.serverName },
    rejectUnauthorized: tls.insecure !== true,
  } as Endpoint['tls'];
}

function requireReadable({ path, tls }: CheckedExtender, name: 'certFile' | 'keyFile' | 'caFile'): void {
  const file = tls[name];
  const data = tls[name.replace('File', 'Data') as 'certData' | 'keyData' | 'caData'];
  if (file === undefined || data !== undefined) return;
  try {
    readCredentialFile(file);
  } catch (error) {
    throw invalidOption(`${path}.tlsConfig.${name}`, `a file that can be read (${errorText(error)})`, file);
  }
}
