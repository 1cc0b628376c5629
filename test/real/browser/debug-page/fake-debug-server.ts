import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  DebugChanges,
  DebugPart,
  DebugPod,
  DebugPodRow,
  DebugSnapshot,
  DebugSummary,
  DebugTraffic,
} from '../../../../src/observe/debug/debug-api.ts';
import { page, pagePolicy } from '../../../../src/observe/debug/page/page.ts';
import { podDetails, summaryOf } from './sample-pods.ts';

const emptyPart = { state: 'running', problems: [], problemCount: 0, lines: [] } as const;

/**
 * Answers as the debug handler does, with pods that a test makes up, also such as no manager would have. The real handler
 * is tested with the same page beside it.
 */
export class FakeDebugServer {
  readonly #server: Server;
  readonly #streams = new Set<ServerResponse>();
  readonly #rows = new Map<string, DebugPodRow>();
  readonly #details = new Map<string, DebugPod>();
  traffic: readonly DebugTraffic[] = [];
  /** What the next summaries say besides the counts. */
  summary: Partial<DebugSummary> = {};

  /** What the node and the scheduler say of themselves. */
  part: Partial<DebugPart> = {};

  private constructor(port: number) {
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.listen(port, '127.0.0.1');
  }

  /** Serves these pods on a port of loopback, by default any free one. */
  static async start(rows: readonly DebugPodRow[], port = 0): Promise<FakeDebugServer> {
    const server = new FakeDebugServer(port);
    await new Promise<void>((resolve, reject) => server.#server.once('listening', resolve).once('error', reject));
    for (const row of rows) server.#rows.set(row.podUID, row);
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** What is told of a pod that is opened. */
  describe(details: DebugPod): void {
    this.#details.set(details.row.podUID, details);
  }

  /** Changes and removes pods, and tells every page. */
  change(changed: readonly DebugPodRow[], removed: readonly string[] = []): void {
    for (const row of changed) this.#rows.set(row.podUID, row);
    for (const podUID of removed) this.#rows.delete(podUID);
    const changes: DebugChanges = { summary: this.#summary(), traffic: this.traffic, changed, removed };
    for (const stream of this.#streams) send(stream, 'changes', changes);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #summary(): DebugSummary {
    return { ...summaryOf([...this.#rows.values()]), ...this.summary };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (path === '/') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy });
      response.end(page);
    } else if (path === '/api/changes') this.#stream(response);
    else if (/^\/api\/(?:node|scheduler)$/.test(path)) this.#answerPart(path.endsWith('node') ? 'node' : 'scheduler', response);
    else this.#answerPod(path.replace('/api/pods/', ''), response);
  }

  #answerPod(podUID: string, response: ServerResponse): void {
    const row = this.#rows.get(decodeURIComponent(podUID));
    if (row === undefined) response.writeHead(404).end();
    else
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(this.#details.get(row.podUID) ?? podDetails(row)));
  }

  #answerPart(kind: DebugPart['kind'], response: ServerResponse): void {
    const { node } = this.#summary();
    const part: DebugPart = { at: Date.now(), kind, name: node?.name ?? '', ...emptyPart, ...this.part };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(part));
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const snapshot: DebugSnapshot = { summary: this.#summary(), traffic: this.traffic, pods: [...this.#rows.values()] };
    send(response, 'snapshot', snapshot);
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }
}

function send(stream: ServerResponse, event: string, data: unknown): void {
  stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
