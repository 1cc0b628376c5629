import { Agent, type Dispatcher, request } from 'undici';
import type { InMemoryApiServer } from '../../../../src/testing/apiserver/in-memory-apiserver.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on the shape; a type here would only repeat what it checks.
type AnyJson = any;

const strategic = 'application/strategic-merge-patch+json';
export const pods = '/api/v1/namespaces/default/pods';

export interface SendOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends raw requests to one server; returns answers of any status. */
export class TestClient {
  readonly #url: string;
  readonly #agent = new Agent({ connections: 8 });

  constructor(server: InMemoryApiServer) {
    this.#url = server.url;
  }

  async send(method: Dispatcher.HttpMethod, path: string, { body, headers = {} }: SendOptions = {}) {
    const payload = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': method === 'PATCH' ? strategic : 'application/json' };
    const answer = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { ...type, ...headers },
      ...payload,
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: (): AnyJson => JSON.parse(text) };
  }

  /** The HTTP status of the answer, or the error's code when no whole answer came. */
  async outcome(method: Dispatcher.HttpMethod, path: string, options: SendOptions = {}): Promise<number | string> {
    try {
      return (await this.send(method, path, options)).status;
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : String(error);
    }
  }

  /** Opens a watch; resolves when the server has sent the head of its answer. */
  async watch(query = '', headers: Readonly<Record<string, string>> = {}, path = pods): Promise<Watch> {
    const answer = await request(`${this.#url}${path}?watch=true${query}`, { dispatcher: this.#agent, headers });
    return new Watch(answer.statusCode, answer.body);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** What a watch has received so far. */
export class Watch {
  readonly status: number;
  readonly events: AnyJson[] = [];
  /** `end`, or the code of the error that ended it; undefined while it is open. */
  ended: string | undefined;
  #rest = '';

  constructor(status: number, body: NodeJS.ReadableStream) {
    this.status = status;
    body.on('data', (chunk) => {
      const lines = `${this.#rest}${chunk}`.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line));
    });
    body.on('end', () => {
      this.ended ??= 'end';
    });
    body.on('error', (error) => {
      this.ended ??= 'code' in error ? String(error.code) : error.message;
    });
  }

  /** Events as `TYPE name`. */
  get names(): string[] {
    return this.events.map(({ type, object }) =>
      object.metadata?.name === undefined ? type : `${type} ${object.metadata.name}`,
    );
  }
}
