import { type Clock, sleep } from '../../base/clock.ts';
import { untilAborted } from '../../base/concurrency/aborts.ts';
import { RateLimiter, type RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { numberOption, requireKnownOptions } from '../../base/options.ts';
import { readApiFailure } from '../../client/resources/error-class.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../client/transport/kube-transport.ts';

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedRequestLimit(limit: RateLimiterOptions | undefined): RateLimiterOptions | undefined {
  if (limit === undefined) return undefined;
  requireKnownOptions('requestLimit', limit, ['qps', 'burst']);
  numberOption('requestLimit.qps', limit.qps, 0.001, 1e6);
  numberOption('requestLimit.burst', limit.burst, 1, 1e6);
  return limit;
}

export interface WriteTransportOptions {
  readonly transport: ResourceTransport;
  /** Default: none. */
  readonly limit?: RateLimiterOptions | undefined;
  /** False: this process may write nothing. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
}

/** How often a request is sent that the server has no room for, as client-go does. */
const refusedTries = 10;
/** What the server asks for is kept within these bounds, in milliseconds. */
const [shortestWaitMs, longestWaitMs] = [1000, 300_000];

/**
 * Carries what the scheduler writes. A request waits for its turn where their number is limited. Whether this process may write is
 * asked when all waits are over, right before the request leaves. A server that says when to come again is not asked before.
 */
export class WriteTransport implements ResourceTransport {
  readonly #options: WriteTransportOptions;
  readonly #limiter: RateLimiter | undefined;
  readonly #closing = new AbortController();

  constructor(options: WriteTransportOptions) {
    this.#options = options;
    this.#limiter = options.limit && new RateLimiter(options.limit, options.clock, () => {});
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    const { transport, mayWrite, clock } = this.#options;
    const { signal = this.#closing.signal } = request;
    for (let attempt = 1; ; attempt++) {
      await this.#turn(signal);
      if (request.method !== 'GET' && !mayWrite()) {
        throw new ApiError({ reason: 'Aborted', message: 'this process is not the leader' });
      }
      try {
        return await transport.request(request);
      } catch (error) {
        const waitMs = askedWaitMs(error, clock.now());
        if (waitMs === undefined || attempt === refusedTries) throw error;
        await sleep(clock, waitMs, signal);
      }
    }
  }

  stream(stream: KubeStream): Promise<void> {
    return this.#options.transport.stream(stream);
  }

  /** Ends every wait. */
  close(): void {
    this.#closing.abort(new ApiError({ reason: 'Aborted', message: 'the scheduler was stopped' }));
    this.#limiter?.release();
  }

  /** Rejects with the signal's reason, also where it aborts meanwhile. */
  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const limiter = this.#limiter;
    if (limiter === undefined) return;
    const turn = limiter.take();
    try {
      await untilAborted(turn, signal);
    } catch (error) {
      // nobody uses it
      turn.then(() => limiter.putBack()).catch(ignoreFailure);
      throw error;
    }
  }
}

/** How long a server that has no room wants to be left alone; undefined for any other failure, and where it does not say. */
function askedWaitMs(error: unknown, now: number): number | undefined {
  const { status = 0, retryAfterMs } = readApiFailure(error, now);
  if (retryAfterMs === undefined || (status !== 429 && status < 500)) return undefined;
  return Math.min(Math.max(retryAfterMs, shortestWaitMs), longestWaitMs);
}
