// Behaviour of pkg/kubelet/config/http.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { longestManifest } from '../../api/manifest/read-manifest.ts';
import { decodeStaticPods } from '../../api/manifest/static-pods.ts';
import { type Clock, type SteadyClock, safeClock, sleep, systemClock } from '../../base/clock.ts';
import { type LastFailure, RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { errorText, invalidOption } from '../../base/errors.ts';
import { FailureRun } from '../../base/failure-run.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { nodeNameOption } from '../../base/names.ts';
import { integerOption, longestTimerMs, numberOption, requireKnownOptions, requireMethods } from '../../base/options.ts';
import { problemFields } from '../../base/problem.ts';
import { failureInWords } from '../../client/resources/api-problem.ts';
import { DocumentClient, requestLabel } from '../../client/resources/document-client.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';
import type { HttpAnswer } from '../../client/transport/http-exchange.ts';
import { manifestText, type PodSource, type SendPods } from './pod-source.ts';

/** Failures in a row that are logged as warnings; further ones are logged for debugging alone. */
const loudFailures = 4;

/** An answer that was read, with what it has led to. */
interface ReadAnswer {
  readonly text: string;
  readonly failure: unknown;
}

/**
 * The static pods of a URL: one pod, or a list of pods, in YAML or JSON. Asked for again and again; an answer with an ETag is
 * asked for only if it has changed. The pods of the last good answer count until another one comes: a request that fails, an
 * answer with another status than 200, and one that breaks a rule change nothing. An empty answer says that there are no pods.
 *
 * Up to ten redirects are followed, as in the kubelet, to whatever host the server names, one of the node's own network too
 * (such as the address of a cloud's metadata): whoever answers for the URL also says which pods run. Another origin gets no
 * header but `accept`, https never leads to http, and what is no manifest is neither shown nor kept.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { HttpSource } from 'pod-status-manager/node';
 *
 * const spec = { containers: [{ name: 'app', image: 'app:1' }] };
 * const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec });
 * const web = createServer((_, response) => response.end(manifest));
 * await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
 * const { port } = web.address() as AddressInfo;
 *
 * const source = new HttpSource({ url: `http://127.0.0.1:${port}/pods`, nodeName: 'node-1' });
 * const names = await new Promise((resolve) => source.start((pods) => resolve(pods.map(({ metadata }) => metadata?.name))));
 * console.log(names); // [ 'web-node-1' ]
 * await source.stop();
 * web.close();
 * ```
 */
export class HttpSource implements PodSource {
  readonly #options: CheckedHttpSourceOptions;
  /** As it was given: the uids of the pods are made from it. */
  readonly #source: string;
  readonly #client: DocumentClient;
  readonly #runState = new RunState('pod source');
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  /** Of the last good answer. */
  #etag: string | undefined;
  #last: ReadAnswer | undefined;
  readonly #failures: FailureRun;
  #lastObservedAt: number | undefined;
  #lastFailure: LastFailure | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option and the rule. */
  constructor(options: HttpSourceOptions) {
    this.#options = checkedHttpSourceOptions(options);
    this.#source = options.url;
    const { url, clock, logger } = this.#options;
    this.#failures = new FailureRun(clock, (ended) =>
      logger.info({ url: requestLabel(url), ...ended }, 'the pods of the URL can be read again'),
    );
    this.#client = new DocumentClient(this.#options.clock);
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Throws ERR_ALREADY_STARTED, ERR_STOPPED. */
  start(send: SendPods): void {
    this.#runState.start();
    const { logger } = this.#options;
    this.#loop = this.#run(send).catch((error) => logger.error({ err: error }, 'the http source has ended: its clock failed'));
  }

  /** Ends the request under way. When it resolves, there is no timer and no socket left, and nothing is sent any more. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#stopping.abort();
      await this.#client.close();
      await this.#loop;
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** When the server last gave a good answer, or said that nothing has changed, in milliseconds since the epoch. */
  lastObservedAt(): number | undefined {
    return this.#lastObservedAt;
  }

  /** Why the last request or its answer was no good; undefined once one was, and before any failure. */
  lastFailure(): LastFailure | undefined {
    return this.#lastFailure;
  }

  async #run(send: SendPods): Promise<void> {
    const { clock, checkPeriodMs } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#check(send, signal);
      await sleep(clock, checkPeriodMs, signal);
    }
  }

  async #check(send: SendPods, signal: AbortSignal): Promise<void> {
    const { url, headers, timeoutMs, maxBytes, clock, logger } = this.#options;
    try {
      const condition = this.#etag === undefined ? {} : { 'if-none-match': this.#etag };
      const answer = await this.#client.get({ url, headers: { ...headers, ...condition }, timeoutMs, maxBytes, signal });
      if (signal.aborted) return;
      const pods = this.#podsOf(answer);
      this.#lastObservedAt = clock.now();
      logger.debug({ url: requestLabel(url), status: answer.status, pods: pods?.length }, 'the pods of the URL were asked for');
      if (pods !== undefined) send(pods);
      if (answer.status === 200 && answer.body.length === 0)
        throw new Error('the answer is empty: it says that there are no pods');
      this.#failures.succeeded();
      this.#lastFailure = undefined;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    }
  }

  /** The pods of the answer; undefined where it says what the last one said. Throws for an answer that does not count. */
  #podsOf({ status, headers, body }: HttpAnswer): readonly Pod[] | undefined {
    if (status === 304 && this.#etag !== undefined) return undefined;
    if (status !== 200) throw new Error(`the server has answered with status ${status}`);
    if (body.length === 0) {
      this.#last = undefined;
      this.#etag = undefined;
      return [];
    }
    const text = manifestText(body);
    if (text === this.#last?.text) {
      if (this.#last.failure !== undefined) throw this.#last.failure;
      return undefined;
    }
    const { nodeName } = this.#options;
    try {
      const pods = decodeStaticPods(text, { source: this.#source, isFile: false, nodeName });
      this.#last = { text, failure: undefined };
      this.#etag = headers.etag;
      return pods;
    } catch (error) {
      const message = errorText(error);
      // the URL may hold a password
      const failure = new Error(message.replaceAll(this.#source, requestLabel(this.#options.url)));
      // the ETag stays that of the pods that count
      this.#last = { text, failure };
      throw failure;
    }
  }

  #failed(error: unknown): void {
    const { url, checkPeriodMs, clock, logger } = this.#options;
    const at = clock.now();
    const { since, attempt } = this.#failures.failed(error);
    this.#lastFailure = { error, at, retryAt: at + checkPeriodMs, since, attempt };
    const problem = { ...failureInWords(error), ...this.#lastFailure };
    const fields = { url: requestLabel(url), err: error, errorClass: classifyApiError(error), ...problemFields(problem, at) };
    if (attempt < loudFailures) logger.warn(fields, 'the pods of the URL could not be read');
    else if (attempt === loudFailures) {
      logger.warn(fields, 'the pods of the URL could not be read; further failures are logged for debugging alone');
    } else logger.debug(fields, 'the pods of the URL could not be read');
  }
}

/** Which URL is read, and how often. `url` and `nodeName` are needed. */
export interface HttpSourceOptions {
  /** http or https. A user and a password in it are sent as basic authorization. */
  readonly url: string;
  /** Sent with each request, such as an authorization. A redirect to another origin brings none of them but `accept`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The node that runs the pods. Its name, in lower case, is appended to theirs. */
  readonly nodeName: string;
  /** From one answer to the next request. Default 20 000. */
  readonly checkPeriodMs?: number;
  /** For a request, redirects and all. Default 10 000. */
  readonly timeoutMs?: number;
  /** A longer answer is refused. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

interface CheckedHttpSourceOptions extends Omit<Required<HttpSourceOptions>, 'url' | 'logger' | 'clock'> {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly url: URL;
}

const knownOptions = ['url', 'headers', 'nodeName', 'checkPeriodMs', 'timeoutMs', 'maxBytes', 'clock', 'logger'];
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Throws ERR_INVALID_OPTION, naming the option and the rule; no header and no password of the URL is shown. */
function checkedHttpSourceOptions(options: HttpSourceOptions): CheckedHttpSourceOptions {
  requireKnownOptions('options', options, knownOptions);
  const { headers = {}, checkPeriodMs = 20_000, timeoutMs = 10_000, maxBytes = longestManifest } = options;
  const { clock = systemClock, logger } = options;
  requireMethods('clock', clock, ['now', 'setTimer']);
  return {
    url: urlOption(options.url),
    headers: headersOption(headers),
    nodeName: nodeNameOption(options.nodeName),
    checkPeriodMs: numberOption('checkPeriodMs', checkPeriodMs, 1, longestTimerMs),
    timeoutMs: numberOption('timeoutMs', timeoutMs, 1, longestTimerMs),
    maxBytes: integerOption('maxBytes', maxBytes, 1),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}

function urlOption(value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalidOption('url', 'an http or https URL', url?.protocol.replace(':', '') ?? 'no URL');
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw invalidOption('url', 'a URL whose user and password are percent-encoded', undefined);
  }
  return url;
}

function headersOption(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== 'object' || headers === null) throw invalidOption('headers', 'an object', headers);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) throw invalidOption('headers', 'an object whose keys are names of headers', name);
    if (typeof value !== 'string' || !headerValue.test(value)) {
      throw invalidOption(`headers.${name}`, 'the value of a header', typeof value === 'string' ? undefined : value);
    }
  }
  return { ...(headers as Record<string, string>) };
}
