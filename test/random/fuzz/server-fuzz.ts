import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as connectSecure } from 'node:tls';
import { Semaphore } from '../../../src/base/concurrency/semaphore.ts';
import type { Logger } from '../../../src/index.ts';
import { Prng } from '../chaos/prng.ts';
import { write } from './answer.ts';
import { type AskedServers, askedServers } from './asked-servers.ts';
import type { FuzzResult } from './fuzz-run.ts';
import { type Request, requestOf } from './requests.ts';

/** Megabytes of buffers and heap, those of the clients included: 40 requests at once, each with a head of at most 1 MiB in several copies; and 192 for all else. */
const mostMegabytes = 192 + 40 * 6;
const atOnce = 40;
/** How long a client waits for an answer that may never come, for one that has to, and how long after that an exchange has to be over. */
const shortMs = 250;
const longMs = 30_000;
const graceMs = 20_000;
/** So much of an answer is looked at. */
const lookedAt = 100_000;

interface Heard {
  readonly text: string;
  readonly error: Error | undefined;
}

/** Runs so many exchanges of hostile clients with the servers of this library; the same seed gives the same requests. */
export class ServerFuzz {
  readonly #seed: number;
  readonly #faults: string[] = [];
  readonly #large = new Semaphore(1);
  readonly #never = new AbortController().signal;
  #answered = 0;
  #unanswered = 0;
  #most = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  async run(exchanges: number, first = 0): Promise<FuzzResult> {
    const note = (what: string) => (error: unknown) =>
      void this.#faults.push(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
    const noteUnhandled = note('nobody has heard of');
    const noteWarning = note('the process warns');
    process.on('unhandledRejection', noteUnhandled).on('uncaughtException', noteUnhandled).on('warning', noteWarning);
    const quiet = (): void => {};
    const logged = ({ err }: { err?: unknown }, message: string): void => note(`the server logs "${message}"`)(err);
    const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: logged as Logger['error'] };
    {
      const servers = await askedServers(new Prng(this.#seed).fork('servers'), logger);
      let next = first;
      const lane = async (): Promise<void> => {
        while (next < first + exchanges) await this.#one(next++, servers);
      };
      const looks = setInterval(() => {
        servers.change();
        const { heapUsed, external } = process.memoryUsage();
        this.#most = Math.max(this.#most, Math.round((heapUsed + external) / 1_048_576));
      }, 10);
      await Promise.all(Array.from({ length: atOnce }, lane));
      clearInterval(looks);
      const ended = servers[Symbol.asyncDispose]().then(() => 'ended' as const);
      if ((await Promise.race([ended, setTimeout(graceMs, 'late' as const, { ref: false })])) === 'late')
        this.#faults.push('the servers did not end');
      for (let turn = 0; turn < 100 && openSockets() > 0; turn += 1) await setTimeout(20);
      if (openSockets() > 0) this.#faults.push(`${openSockets()} sockets are open after the end`);
    }
    process.off('unhandledRejection', noteUnhandled).off('uncaughtException', noteUnhandled).off('warning', noteWarning);
    if (this.#most > mostMegabytes) this.#faults.push(`${this.#most} MB were held, ${mostMegabytes} are allowed`);
    const [answered, failed] = [this.#answered, this.#unanswered];
    return { exchanges, answered, failed, mostMegabytes: this.#most, faults: this.#faults };
  }

  async #one(number: number, servers: AskedServers): Promise<void> {
    const request = requestOf(new Prng(this.#seed, number));
    const ask = (): Promise<void> => this.#judged(number, request, servers);
    await (request.isLarge ? this.#large.run(ask, this.#never) : ask());
  }

  async #judged(number: number, request: Request, servers: AskedServers): Promise<void> {
    const fault = (what: string): void =>
      void this.#faults.push(`exchange ${number} (${request.asked}: ${request.name}): ${what}`);
    const over = new AbortController();
    const late = setTimeout(longMs + graceMs, undefined, { signal: over.signal }).catch(() => undefined);
    const heard = await Promise.race([exchange(request, servers), late]);
    over.abort();
    if (heard === undefined) return fault('is not over');
    const status = Number(/^(?:HTTP\/1\.1 100 [\s\S]*?\r\n\r\n)*HTTP\/1\.1 (\d{3}) /.exec(heard.text)?.[1]);
    if (heard.text === '') this.#unanswered += 1;
    else this.#answered += 1;
    for (const what of faultsOf(request, heard, status)) fault(what);
  }
}

/** What is wrong with an answer. */
function* faultsOf({ statuses, mustBeRefused, isPlain }: Request, { text, error }: Heard, status: number): Iterable<string> {
  if (statuses !== undefined && !statuses.includes(status)) {
    yield `${statuses.join(' or ')} was due, got ${JSON.stringify(text.slice(0, 300))}${error === undefined ? '' : `, ${error.message}`}`;
  }
  if (text === '') return;
  if (mustBeRefused && /^HTTP\/1\.1 (?:101|2\d\d)/m.test(text)) yield `a stranger got ${JSON.stringify(text.slice(0, 300))}`;
  // a server of TLS says in TLS what it does not understand
  if (!isPlain && Number.isNaN(status)) yield `is no answer: ${JSON.stringify(text.slice(0, 300))}`;
  if (/\n\s+at .{1,200}:\d+:\d+\)?\n/.test(text)) yield `shows the server's code: ${JSON.stringify(text.slice(0, 600))}`;
}

/** Sends a request, and listens until the server ends the connection or nothing more is to be expected. */
async function exchange(request: Request, { ports }: AskedServers): Promise<Heard> {
  const { promise, resolve } = Promise.withResolvers<Heard>();
  const isSecure = request.asked !== 'debug' && !request.isPlain;
  const address = { host: '127.0.0.1', port: ports[request.asked] };
  const socket: Socket = isSecure ? connectSecure({ ...address, rejectUnauthorized: false }) : connectPlain(address);
  let text = '';
  let error: Error | undefined;
  socket.on('error', (thrown) => {
    error = thrown;
  });
  socket.once('close', () => resolve({ text, error }));
  if (request.isRead) {
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      if (text.length < lookedAt) text += chunk.slice(0, lookedAt);
      // a stream of changes has begun, and does not end
      if (request.ending === 'stay' && request.statuses !== undefined) socket.destroy();
    });
  }
  socket.once(isSecure ? 'secureConnect' : 'connect', () => void write(request, socket));
  await Promise.race([promise, setTimeout(request.statuses === undefined ? shortMs : longMs, undefined, { ref: false })]);
  socket.destroy();
  return promise;
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /TCPSocket|TLS/.test(name)).length;
}
