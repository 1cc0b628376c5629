import {
  createDebugHandler,
  type DebugHandlerOptions,
  type DebugPod,
  type DebugPodRow,
  type DebugSnapshot,
} from '../../../src/debug.ts';
import { type LocalServer, serveLocally } from '../../support/serve-locally.ts';

/** A debug handler behind an HTTP server on the loopback address. */
export class ServedDebug implements AsyncDisposable {
  readonly url: string;
  readonly #server: LocalServer;
  readonly #close: () => void;

  private constructor(server: LocalServer, close: () => void) {
    this.#server = server;
    this.#close = close;
    this.url = server.url;
  }

  static async start(options: DebugHandlerOptions): Promise<ServedDebug> {
    const handler = createDebugHandler(options);
    return new ServedDebug(await serveLocally(handler), handler.close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#server[Symbol.asyncDispose]();
  }

  async text(path = ''): Promise<string> {
    return (await fetch(this.url + path)).text();
  }

  async snapshot(): Promise<DebugSnapshot> {
    return JSON.parse(await this.text('api/snapshot'));
  }

  async pod(podUID: string): Promise<DebugPod> {
    return JSON.parse(await this.text(`api/pods/${podUID}`));
  }

  /** Every row of the stream of changes; undefined for a pod that was removed. Ends with the stream. */
  async *rows(): AsyncGenerator<{ readonly podUID: string; readonly row: DebugPodRow | undefined }> {
    const { body } = await fetch(`${this.url}api/changes`);
    let text = '';
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const { pods, changed = pods, removed = [] } = JSON.parse(message.split('data: ')[1] ?? '');
        for (const row of changed as DebugPodRow[]) yield { podUID: row.podUID, row };
        for (const podUID of removed as string[]) yield { podUID, row: undefined };
      }
    }
  }
}
