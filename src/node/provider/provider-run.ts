import { Writable } from 'node:stream';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { type ApiExchange, answerText, KubeletApiRefusal } from '../server/exchange.ts';
import type { ContainerTarget } from '../server/routes.ts';
import type { ContainerStreams } from '../streams/container-streams.ts';
import { type ClientCalls, clientError } from './client-calls.ts';

/** So much a command may write. */
const longestOutput = 1024 * 1024;

/** Runs a command and answers what it has written. Rejects with a refusal: 500 for an exit code that is not 0, and for too much output. */
export async function answerProviderRun(
  exchange: ApiExchange,
  target: ContainerTarget,
  query: URLSearchParams,
  calls: ClientCalls,
): Promise<void> {
  calls.require('runInContainer');
  const pod = calls.podWith(target);
  const command = (query.get('cmd') ?? '').split(' ');
  const stopping = new LinkedAbort(exchange.signal);
  const { signal } = stopping;
  const words = `command '${command.join(' ')}'`;
  const output = new CommandOutput(() => {
    stopping.abort(new KubeletApiRefusal(500, `${words} wrote more than ${longestOutput} bytes`));
  });
  try {
    const run = () => calls.provider.runInContainer?.(pod, target.container, command, output.streams, { signal });
    const exitCode = (await calls.answer('runInContainer', pod, run, signal)) ?? 0;
    if (exitCode !== 0) throw new KubeletApiRefusal(500, `${words} exited with ${String(exitCode)}: ${output.text}`);
  } catch (error) {
    throw clientError(error);
  } finally {
    stopping.release();
  }
  answerText(exchange, 200, output.text, { 'content-type': 'application/json' });
}

/** What a command writes to both of its outputs, in the order in which it comes. */
class CommandOutput {
  readonly streams: ContainerStreams;
  readonly #pieces: Buffer[] = [];
  readonly #onTooLong: () => void;
  #length = 0;

  constructor(onTooLong: () => void) {
    this.#onTooLong = onTooLong;
    const onResize = (): void => {};
    this.streams = { tty: false, stdin: undefined, stdout: this.#output(), stderr: this.#output(), onResize };
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  #output(): Writable {
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => {
        this.#length += chunk.length;
        if (this.#length > longestOutput) this.#onTooLong();
        else this.#pieces.push(chunk);
        done();
      },
    });
    // nobody waits for its end
    return stream.on('error', () => {});
  }
}
