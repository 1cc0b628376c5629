import { numberOption, requireKnownOptions } from '../../checks/options.ts';
import type { ResourceTransport } from '../../client/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import type { KubeRequest, KubeStream } from '../../client/transport/kube-transport.ts';
import { RateLimiter, type RateLimiterOptions } from '../../concurrency/rate-limiter.ts';
import type { Clock } from '../../seams/clock.ts';

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
export function checkedRequestLimit(limit: RateLimiterOptions | undefined): RateLimiterOptions | undefined {
  if (limit === undefined) return undefined;
  requireKnownOptions('requestLimit', limit, ['qps', 'burst']);
  numberOption('requestLimit.qps', limit.qps, 0.001, 1e6);
  numberOption('requestLimit.burst', limit.burst, 1, 1e6);
  return limit;
}

/** A transport whose requests wait for their turn. Streams do not. */
export class RequestLimit implements ResourceTransport {
  readonly #transport: ResourceTransport;
  readonly #limiter: RateLimiter;

  constructor(transport: ResourceTransport, limit: RateLimiterOptions, clock: Clock) {
    this.#transport = transport;
    this.#limiter = new RateLimiter(limit, clock, () => {});
  }

  async request(request: KubeRequest): Promise<JsonMembers> {
    await this.#limiter.take();
    request.signal?.throwIfAborted();
    return this.#transport.request(request);
  }

  stream(stream: KubeStream): Promise<void> {
    return this.#transport.stream(stream);
  }

  /** Ends every wait. */
  close(): void {
    this.#limiter.release();
  }
}
