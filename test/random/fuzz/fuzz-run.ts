import { setTimeout } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { Semaphore } from '../../../src/base/concurrency/semaphore.ts';
import { isStatusManagerError, KubeTransport } from '../../../src/index.ts';
import { Reflector, ResourceClient, resources } from '../../../src/reflector.ts';
import { Prng } from '../chaos/prng.ts';
import { type Answer, type Question, secret } from './answer.ts';
import { bodyOf, reflected, samePage, watchOf } from './bodies.ts';
import { http1Answer, plainAnswer } from './http1-answers.ts';
import { type Http2Answer, http2Answer } from './http2-answers.ts';
import { http1Server, http2Server } from './raw-servers.ts';

/** Megabytes of buffers and heap: one answer at its limit of 64 MiB, at most twice as it comes, once as one, once as text; and 192 for all else. */
const mostMegabytes = 4 * 64 + 192;
const atOnce = 40;
/** How long the client waits for an answer that may never come, for a good one, and how long after that an exchange has to be over. */
const shortMs = 300;
const longMs = 30_000;
const graceMs = 20_000;
/** So many requests a reflector may make while it is tried: a list has an end, and pauses follow. */
const mostRequests = 250;
/** The same of a server that answers each of them with the same page. */
const mostOfOnePage = 15;

export interface FuzzResult {
  readonly exchanges: number;
  readonly answered: number;
  readonly failed: number;
  readonly mostMegabytes: number;
  /** What was wrong with the client. */
  readonly faults: readonly string[];
}

interface Exchange {
  readonly number: number;
  readonly kind: 'http1' | 'http2';
  readonly question: Question;
  answer: Answer | undefined;
  requests: number;
  /** True: a reflector gets one page for ever. */
  isLedRound: boolean;
  readonly prng: Prng;
}

function kubeConfigOf(server: string, tlsServerName?: string): KubeConfig {
  const kubeConfig = new KubeConfig();
  const cluster = { name: 'fuzz', server, skipTLSVerify: true, ...(tlsServerName !== undefined && { tlsServerName }) };
  kubeConfig.loadFromClusterAndUser(cluster, { name: 'agent', token: 'a-token' });
  return kubeConfig;
}

interface Wires {
  readonly transport: KubeTransport;
  /** For answers that have to be taken: no other exchange breaks its connections. */
  readonly calm: KubeTransport;
  readonly secureUrl: string;
}

/** What is wrong with an error: it has to be one of ours, to say which request failed and why, and to show nothing of the answer. */
function faultOf(error: unknown): string | undefined {
  if (!isStatusManagerError(error, 'ERR_API')) return `is no ApiError: ${error instanceof Error ? error.stack : String(error)}`;
  const { message, cause } = error;
  if (!/^(GET (https?:\/\/127\.0\.0\.1:\d+)?\/\S+: .|A list of pods .|A watch event .|The server ended )/.test(message))
    return `does not say what failed: ${message}`;
  if (message.length > 1200) return `has ${message.length} characters`;
  const shown = `${message} ${cause instanceof Error ? cause.message : ''}`;
  return shown.includes(secret) ? `shows what the server sent: ${message}` : undefined;
}

/** Runs so many exchanges with answers that the seed gives; the same seed gives the same answers. */
export class FuzzRun {
  readonly #seed: number;
  readonly #exchanges = new Map<number, Exchange>();
  readonly #faults: string[] = [];
  readonly #large = new Semaphore(1);
  readonly #never = new AbortController().signal;
  #answered = 0;
  #failed = 0;
  #most = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  async run(exchanges: number, first = 0): Promise<FuzzResult> {
    const noteUnhandled = (error: unknown): void => void this.#faults.push(`nobody has heard of: ${String(error)}`);
    process.on('unhandledRejection', noteUnhandled).on('uncaughtException', noteUnhandled);
    {
      await using plain = await http1Server((line) => this.#next(line));
      await using secure = await http2Server((name) => this.#next(name) as Http2Answer | undefined);
      const transport = new KubeTransport(kubeConfigOf(plain.url), {
        logger: null,
        requestTimeoutMs: longMs,
        connections: 2 * atOnce,
      });
      const calm = new KubeTransport(kubeConfigOf(plain.url), {
        logger: null,
        requestTimeoutMs: longMs,
        connections: 2 * atOnce,
      });
      let next = first;
      const lane = async (): Promise<void> => {
        while (next < first + exchanges) await this.#one(next++, { transport, calm, secureUrl: secure.url });
      };
      const looks = setInterval(this.#look, 10);
      await Promise.all(Array.from({ length: atOnce }, lane));
      clearInterval(looks);
      await Promise.all([transport.close(), calm.close()]);
      for (let turn = 0; turn < 100 && plain.open.size + secure.open.size > 0; turn += 1) await setTimeout(20);
      const left = plain.open.size + secure.open.size;
      if (left > 0) this.#faults.push(`${left} connections are open after the end`);
    }
    process.off('unhandledRejection', noteUnhandled).off('uncaughtException', noteUnhandled);
    if (this.#most > mostMegabytes) this.#faults.push(`${this.#most} MB were held, ${mostMegabytes} are allowed`);
    const [answered, failed] = [this.#answered, this.#failed];
    return { exchanges, answered, failed, mostMegabytes: this.#most, faults: this.#faults };
  }

  async #one(number: number, wires: Wires): Promise<void> {
    const prng = new Prng(this.#seed, number);
    const question = prng.weighted({ get: 4, list: 3, watch: 4, reflect: 1 });
    const kind = (question === 'get' || question === 'watch') && prng.chance(0.35) ? 'http2' : 'http1';
    const exchange: Exchange = { number, kind, question, answer: undefined, requests: 0, isLedRound: false, prng };
    this.#exchanges.set(number, exchange);
    if (question !== 'reflect') {
      exchange.answer = kind === 'http2' ? http2Answer(prng, question as 'get' | 'watch') : http1Answer(prng, question);
    }
    exchange.isLedRound = question === 'reflect' && prng.chance(0.3);
    const ask = (): Promise<void> => this.#judged(exchange, wires);
    await (exchange.answer?.isLarge ? this.#large.run(ask, this.#never) : ask());
    this.#exchanges.delete(number);
  }

  readonly #look = (): void => {
    const { heapUsed, external } = process.memoryUsage();
    this.#most = Math.max(this.#most, Math.round((heapUsed + external) / 1_048_576));
  };

  /** The answer to a request; `text` has the exchange's number in it, after an x. */
  #next(text: string): Answer | undefined {
    const exchange = this.#exchanges.get(Number(/\bx(\d+)\b/.exec(text)?.[1]));
    if (exchange === undefined) return undefined;
    exchange.requests += 1;
    if (exchange.question !== 'reflect') return exchange.answer;
    if (exchange.isLedRound) return plainAnswer(samePage(), 'list');
    const { prng } = exchange;
    const isWatch = text.includes('watch=');
    const body = prng.chance(0.7) ? reflected(prng, text, exchange.requests) : isWatch ? watchOf(prng) : bodyOf(prng, 'list');
    return http1Answer(prng, isWatch ? 'watch' : 'list', body);
  }

  async #judged(exchange: Exchange, wires: Wires): Promise<void> {
    const over = new AbortController();
    const late = setTimeout(longMs + graceMs, 'late' as const, { signal: over.signal }).catch(() => 'over' as const);
    const outcome = await Promise.race([this.#ask(exchange, wires), late]);
    over.abort();
    if (outcome === 'late') this.#fault(exchange, 'is not over');
  }

  async #ask(exchange: Exchange, { transport: wild, calm, secureUrl }: Wires): Promise<void> {
    const shared = exchange.answer?.isGood ? calm : wild;
    const name = `x${exchange.number}`;
    if (exchange.question === 'reflect') return this.#reflect(exchange, shared, name);
    // one that has to be taken, and one whose connection ends, is over by itself
    const mayHang = exchange.answer?.ending === 'stay' && !exchange.answer.isGood;
    const timeoutMs = mayHang ? shortMs : longMs;
    const options = { logger: null, requestTimeoutMs: timeoutMs };
    const transport = exchange.kind === 'http2' ? new KubeTransport(kubeConfigOf(secureUrl, `${name}.fuzz`), options) : shared;
    const pods = new ResourceClient(transport, resources.pods);
    try {
      const wrong = await this.#question(exchange.question, pods, name, timeoutMs);
      this.#answered += 1;
      if (wrong !== undefined) this.#fault(exchange, wrong);
    } catch (error) {
      this.#failed += 1;
      const fault = exchange.answer?.isGood ? `a good answer failed: ${String(error)}` : faultOf(error);
      if (fault !== undefined) this.#fault(exchange, fault);
    } finally {
      if (transport !== shared) await transport.close();
    }
  }

  /** What is wrong with what the client took for an answer. */
  async #question(question: Question, pods: ResourceClient, namespace: string, timeoutMs: number): Promise<string | undefined> {
    const isObject = (object: unknown): boolean =>
      typeof (object as { metadata?: { resourceVersion?: unknown } }).metadata?.resourceVersion === 'string';
    if (question === 'get') {
      const object = await pods.get({ namespace, name: 'a' }, { besideStreams: true, timeoutMs });
      return isObject(object) ? undefined : 'an object without a version was given';
    }
    if (question === 'list') {
      const { items } = await pods.list({ namespace, timeoutMs });
      return items.every(isObject) ? undefined : 'a list with something that is no object was given';
    }
    let wrong: string | undefined;
    const onEvent = ({ type, object }: { type: string; object: unknown }): void => {
      if (!['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'].includes(type) || !isObject(object))
        wrong = `an event was told that is none: ${type}`;
    };
    await pods.watch({ namespace, idleTimeoutMs: timeoutMs, onEvent });
    return wrong;
  }

  async #reflect(exchange: Exchange, transport: KubeTransport, namespace: string): Promise<void> {
    const interrupted = (error: unknown): void => {
      this.#failed += 1;
      const fault = faultOf(error);
      if (fault !== undefined) this.#fault(exchange, fault);
    };
    const options = {
      idleTimeoutMs: 1000,
      random: () => 0.5,
      streamLists: exchange.prng.chance(0.3),
      listFrom: exchange.prng.chance(0.5) ? 'cache' : 'latest',
    } as const;
    const reflector = new Reflector({
      ...options,
      transport,
      resource: resources.pods,
      namespace,
      logger: null,
      handlers: { interrupted },
    });
    await reflector.start({ timeoutMs: exchange.isLedRound ? 1500 : 300 }).catch(() => {});
    const wrong = reflector.store.list().filter(({ metadata }) => typeof metadata?.name !== 'string' || metadata.name === '');
    await reflector.stop();
    if (wrong.length > 0) this.#fault(exchange, 'the store has an object without a name');
    const most = exchange.isLedRound ? mostOfOnePage : mostRequests;
    if (exchange.requests > most) this.#fault(exchange, `${exchange.requests} requests where few were due`);
  }

  #fault({ number, question, answer }: Exchange, what: string): void {
    this.#faults.push(`exchange ${number} (${question}${answer === undefined ? '' : `; ${answer.name}`}): ${what}`);
  }
}
