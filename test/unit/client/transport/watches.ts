import type { KubeStream, KubeTransport } from '../../../../src/client/transport/kube-transport.ts';

/** Streams of one transport. */
export class Watches {
  /** What all streams have said, in the order in which it came. */
  text = '';
  failed = 0;
  readonly #transport: KubeTransport;

  constructor(transport: KubeTransport) {
    this.#transport = transport;
  }

  /** Its failure is counted. */
  open(path: string, options: Partial<KubeStream> = {}): void {
    void this.result(path, options).catch(() => {});
  }

  /** Opens a stream, and settles as it does. Its failure is counted. */
  result(path: string, options: Partial<KubeStream> = {}): Promise<void> {
    const onChunk = (chunk: Buffer): void => {
      this.text += chunk.toString();
    };
    const stream = this.#transport.stream({ method: 'GET', path, idleTimeoutMs: 600_000, onChunk, ...options });
    stream.catch(() => {
      this.failed += 1;
    });
    return stream;
  }
}
