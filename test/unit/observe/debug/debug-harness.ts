import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { DebugChanges, DebugPod, DebugSnapshot } from '../../../../src/observe/debug/debug-api.ts';
import { createDebugHandler, type DebugHandler, type DebugHandlerOptions } from '../../../../src/observe/debug/debug-handler.ts';
import type { DebugManager } from '../../../../src/observe/debug/described-pod.ts';
import { type LocalServer, serveLocally } from '../../../support/serve-locally.ts';
import { Harness, type HarnessOptions } from '../../status/status-harness.ts';

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type StreamEvent =
  | { readonly event: 'snapshot'; readonly data: DebugSnapshot }
  | { readonly event: 'changes'; readonly data: DebugChanges };

/** A stream of server-sent events that is being read. */
export class EventReader {
  readonly response: IncomingMessage;
  readonly #events: AsyncIterator<StreamEvent>;

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#events = eventsOf(response);
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<StreamEvent | undefined> {
    const { value, done } = await this.#events.next();
    return done ? undefined : value;
  }

  async snapshot(): Promise<DebugSnapshot> {
    const event = await this.next();
    if (event?.event !== 'snapshot') throw new Error(`expected a snapshot, got ${event?.event}`);
    return event.data;
  }

  async changes(): Promise<DebugChanges> {
    const event = await this.next();
    if (event?.event !== 'changes') throw new Error(`expected changes, got ${event?.event}`);
    return event.data;
  }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<StreamEvent> {
  let text = '';
  for await (const part of response) {
    text += part;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, event, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      yield { event, data: JSON.parse(data) } as StreamEvent;
    }
  }
}

/** `manager: undefined`: the handler shows no manager. */
interface StartOptions extends Partial<Omit<DebugHandlerOptions, 'manager'>> {
  readonly manager?: DebugManager | undefined;
  readonly harness?: HarnessOptions;
}

/** A debug handler over a manager with fakes, behind a real HTTP server on the loopback address. */
export class DebugHarness {
  readonly h: Harness;
  readonly handler: DebugHandler;
  readonly #server: LocalServer;

  private constructor(h: Harness, handler: DebugHandler, server: LocalServer) {
    this.h = h;
    this.handler = handler;
    this.#server = server;
  }

  static async start(options: StartOptions = {}): Promise<DebugHarness> {
    const { harness, ...rest } = options;
    const h = new Harness(harness);
    const { manager, ...given } = { manager: h.manager, clock: h.clock, logger: null, ...rest };
    const handler = createDebugHandler(manager === undefined ? given : { ...given, manager });
    return new DebugHarness(h, handler, await serveLocally(handler));
  }

  async ask(path: string, { method = 'GET', headers = {} }: AskOptions = {}): Promise<Answer> {
    const response = await this.#respond(path, method, headers);
    let body = '';
    for await (const part of response) body += part;
    return { status: response.statusCode, headers: response.headers, body };
  }

  async snapshot(): Promise<DebugSnapshot> {
    return JSON.parse((await this.ask('/api/snapshot')).body);
  }

  async pod(podUID: string): Promise<DebugPod> {
    return JSON.parse((await this.ask(`/api/pods/${podUID}`)).body);
  }

  async stream(): Promise<EventReader> {
    return new EventReader(await this.#respond('/api/changes', 'GET', {}));
  }

  async stop(): Promise<void> {
    this.handler.close();
    await this.#server[Symbol.asyncDispose]();
    this.h.client.release();
    await this.h.manager.stop({ drainTimeoutMs: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #respond(path: string, method: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    const sent = request({ host: '127.0.0.1', port: new URL(this.#server.url).port, path, method, headers, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.setEncoding('utf8');
    return response;
  }
}

/** What a browser accepts. */
export const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } as const;
