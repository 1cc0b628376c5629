import { optionOfType, requireKnownOptions, requireMethods } from '../../base/options.ts';
import type { JsonMembers } from './api-answer.ts';
import { ApiError } from './api-error.ts';
import type { KubeRequest, KubeStream, KubeTransport } from './kube-transport.ts';
import { askGuard, type RequestGuard } from './request-guard.ts';

/** What a {@link GuardedTransport} holds writes to. */
export interface GuardedTransportOptions {
  /**
   * How long a write may take from now on, in milliseconds: asked at the start of each. A write that brings a shorter limit keeps
   * it, and one that brings none has at most 10 000. Below 1, a write is refused with the reason `NotOwner`. Default: no limit.
   */
  readonly writeLimitMs?: (() => number) | undefined;
}

/** A transport's own limit, for requests that bring none. */
const defaultLimitMs = 10_000;

/**
 * A transport whose writes ask a guard at the moment of sending: every request but GET gets it as `guard`, beside the guard that
 * it brings itself. What the guard throws is what the write rejects with, and nothing of it is sent. Give it an `ApiError` of the
 * reason `NotOwner` to throw: parts then try again later, and say why they wait.
 *
 * @example
 * ```ts with-server
 * import { ApiError, GuardedTransport, KubeTransport } from 'pod-status-manager';
 * import { ResourceClient, resources } from 'pod-status-manager/reflector';
 *
 * const transport = new KubeTransport(kubeConfig);
 * let isOwner = true;
 * const guarded = new GuardedTransport(transport, () => {
 *   if (!isOwner) throw new ApiError({ reason: 'NotOwner', message: 'another process owns this' });
 * });
 * const configMaps = new ResourceClient(guarded, resources.configMaps);
 * await configMaps.create({ metadata: { name: 'one', namespace: 'default' } });
 * isOwner = false;
 * const refused = await configMaps.create({ metadata: { name: 'two', namespace: 'default' } }).catch(({ reason }) => reason);
 * console.log(refused, (await configMaps.list({ namespace: 'default' })).items.length); // NotOwner 1
 * await transport.close();
 * ```
 */
export class GuardedTransport implements Pick<KubeTransport, 'request' | 'stream'> {
  readonly #transport: Pick<KubeTransport, 'request' | 'stream'>;
  readonly #guard: RequestGuard;
  readonly #writeLimitMs: (() => number) | undefined;

  /** Closing the transport within is left to its owner. Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(transport: Pick<KubeTransport, 'request' | 'stream'>, guard: RequestGuard, options: GuardedTransportOptions = {}) {
    requireMethods('transport', transport, ['request', 'stream']);
    requireKnownOptions('options', options, ['writeLimitMs']);
    if (options.writeLimitMs !== undefined) optionOfType('writeLimitMs', options.writeLimitMs, 'function');
    this.#transport = transport;
    this.#guard = optionOfType('guard', guard, 'function');
    this.#writeLimitMs = options.writeLimitMs;
  }

  /** As the transport's. */
  async request(request: KubeRequest): Promise<JsonMembers> {
    if (request.method === 'GET') return this.#transport.request(request);
    return this.#transport.request({ ...request, guard: this.#guardOf(request), ...this.#limitOf(request) });
  }

  /** As the transport's. */
  async stream(stream: KubeStream): Promise<void> {
    if (stream.method === 'GET') return this.#transport.stream(stream);
    return this.#transport.stream({ ...stream, guard: this.#guardOf(stream) });
  }

  #guardOf({ guard }: Pick<KubeRequest, 'guard'>): RequestGuard {
    return () => {
      askGuard(this.#guard);
      askGuard(guard);
    };
  }

  /** Throws what the guard throws where no time is left. */
  #limitOf({ method, path, timeoutMs = defaultLimitMs }: KubeRequest): Pick<KubeRequest, 'timeoutMs'> {
    if (this.#writeLimitMs === undefined) return {};
    const limitMs = this.#writeLimitMs();
    if (limitMs >= 1) return { timeoutMs: Math.min(timeoutMs, limitMs) };
    askGuard(this.#guard);
    throw new ApiError({ reason: 'NotOwner', message: `${method} ${path}: no time is left for a write of this process` });
  }
}
