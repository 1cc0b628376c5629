import { onAbort } from '../../base/concurrency/aborts.ts';
import type { RuntimeEvent } from '../../kubelet/runtime/container-runtime.ts';

interface Stream {
  readonly waiting: RuntimeEvent[];
  wake: () => void;
  end: 'none' | 'done' | Error;
}

/** Gives each event to everybody who reads at that time. */
export class EventStreams {
  readonly #streams = new Set<Stream>();

  get size(): number {
    return this.#streams.size;
  }

  send(event: RuntimeEvent): void {
    for (const stream of this.#streams) {
      stream.waiting.push(event);
      stream.wake();
    }
  }

  /** Ends every stream with the error. */
  fail(error: () => Error): void {
    for (const stream of this.#streams) {
      stream.end = error();
      stream.wake();
    }
  }

  /** What is sent from now on, until the signal aborts. */
  open(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    const stream: Stream = { waiting: [], wake: () => {}, end: signal.aborted ? 'done' : 'none' };
    const leave = onAbort(signal, () => {
      if (stream.end === 'none') stream.end = 'done';
      stream.wake();
    });
    this.#streams.add(stream);
    const close = (): void => {
      leave();
      this.#streams.delete(stream);
    };
    return readStream(stream, close);
  }
}

async function* readStream(stream: Stream, close: () => void): AsyncGenerator<RuntimeEvent, void, undefined> {
  try {
    for (;;) {
      if (stream.end === 'done') return;
      const event = stream.waiting.shift();
      if (event !== undefined) {
        yield event;
        continue;
      }
      if (stream.end !== 'none') throw stream.end;
      await new Promise<void>((resolve) => {
        stream.wake = resolve;
      });
    }
  } finally {
    close();
  }
}
